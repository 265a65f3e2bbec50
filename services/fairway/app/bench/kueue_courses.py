"""Jobs that arrive at their times, and what the record says of each until it has succeeded."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from fairway.adapters.nats_bus import NatsBus
from fairway.app.bench.journeys import Stuck
from fairway.app.bench.kueue_load import Arrival
from fairway.app.bench.scene import job_of
from fairway.wire import subjects

# A job's way as it should be, and what should not be said of any.
_WAY = ("dequeued", "dispatched", "succeeded")
_TROUBLE = ("failed", "lost", "rejected", "cancelled")
# Without a single word for this long something is stuck.
_PATIENCE_S = 60.0


class Courses:
    """When each job was dequeued, dispatched and succeeded, by id: when it was heard, in seconds of the loop's clock.
    `begun` is when the first was submitted and `sent` the last. `not_once` counts what was said a second time, or of a
    job that is none of these. The record is read from after message `last`, which goes along."""

    def __init__(self, arrivals: Sequence[Arrival], tick: Callable[[], None], last: int = 0) -> None:
        self.arrivals, self._tick, self.last = arrivals, tick, last
        self._known = {one.id for one in arrivals}
        self._heard: dict[str, dict[str, float]] = {verb: {} for verb in _WAY}
        self.not_once = self.trouble = 0
        self.begun = self.sent = 0.0
        self._done, self._news = asyncio.Event(), asyncio.Event()

    def __getitem__(self, verb: str) -> Mapping[str, float]:
        return self._heard[verb]

    async def run(self, bus: NatsBus) -> None:
        """Submits all of them; returns when all have succeeded."""
        async with asyncio.TaskGroup() as group:
            following = group.create_task(self._follow(bus))
            await self._submit(bus)
            await self._end()
            following.cancel()

    async def _submit(self, bus: NatsBus) -> None:
        loop = asyncio.get_running_loop()
        self.begun, sent = loop.time(), 0
        while sent < len(self.arrivals):
            passed, due = loop.time() - self.begun, sent
            while due < len(self.arrivals) and self.arrivals[due].at <= passed:
                due += 1
            if due > sent:
                await bus.publish([one.message for one in self.arrivals[sent:due]])
                sent = due
            else:
                await asyncio.sleep(0.003)
        self.sent = loop.time()

    async def _follow(self, bus: NatsBus) -> None:
        loop = asyncio.get_running_loop()
        verbs = tuple(f"fairway.job.{verb}.>" for verb in (*_WAY, *_TROUBLE))
        async for delivery in bus.history(subjects.JOBS, verbs, start=self.last + 1, live=True):
            if delivery.subject:
                self.last = delivery.sequence
                self._hear(delivery.subject.split(".")[2], job_of(delivery), loop.time())

    def _hear(self, verb: str, job: str, now: float) -> None:
        self._news.set()
        heard = self._heard.get(verb)
        if heard is None:
            self.trouble += 1
            return
        if job not in self._known or job in heard:
            self.not_once += 1
            return
        heard[job] = now
        if verb == "succeeded":
            self._tick()
            if len(heard) == len(self.arrivals):
                self._done.set()

    async def _end(self) -> None:
        while not self._done.is_set():
            self._news.clear()
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    await self._news.wait()
            except TimeoutError:
                raise Stuck(self._stuck()) from None

    def _stuck(self) -> str:
        missing = sorted(self._known - self._heard["succeeded"].keys())
        way = ", ".join(f"{len(heard.keys() & missing)} were {verb}" for verb, heard in self._heard.items())
        names = ", ".join(missing[:3])
        return f"{len(missing)} of {len(self._known)} have no end, such as {names} ({way}); see the logs"
