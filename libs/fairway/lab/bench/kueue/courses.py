"""Jobs that arrive at their times: what is heard of each until it has succeeded, and what the record has in the end."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from fairway.domain.text.decoding import decoder
from fairway.lab.bench.kueue.load import Arrival
from fairway.lab.bench.pipeline.fleet import job_of
from fairway.runtime.ports import Bus
from fairway.wire import subjects

# A job's way as it should be, and what should not be said of any.
WAY = ("dequeued", "dispatched", "succeeded")
_TROUBLE = ("failed", "lost", "rejected", "cancelled")
# Who comes back to its queue is let go, and dispatched, once more.
_BACK = "queue"
_AGAIN = WAY[:2]
EVICTED = "evicted"
_CLAIMS = ("claimed", "unclaimed")
_VERBS = tuple(f"fairway.job.{verb}.>" for verb in (*WAY, *_TROUBLE))
# Without a single word for this long nothing more is coming.
_PATIENCE_S = 60.0


class Account(Struct, frozen=True):
    """What the record has of some jobs, when all is over: of their way the `verbs` that were said of each, and what was
    said `besides`, as `job verb`: something a second time (a turn without having come to the queue for it), of a
    stranger, or what should not be said of any. For those that were `evicted` to make room for others: how long each
    attempt had been at its cluster, in ms. `back` are the times (ms) from a claim until its job was dispatched."""

    verbs: Mapping[str, set[str]]
    besides: tuple[str, ...]
    evicted: Mapping[str, list[int]]
    back: tuple[int, ...]

    @property
    def unaccounted(self) -> tuple[str, ...]:
        """The jobs that did not go all of their way."""
        return tuple(job for job, verbs in self.verbs.items() if len(verbs) < len(WAY))


async def account(bus: Bus, arrivals: Sequence[Arrival]) -> Account:
    """Reads the record from its beginning to its end."""
    reading = _Reading({one.id: set() for one in arrivals})
    more = tuple(f"fairway.job.{verb}.>" for verb in (_BACK, EVICTED, *_CLAIMS))
    async for delivery in bus.history(subjects.JOBS, (*_VERBS, *more)):
        reading.take(delivery.subject.split(".")[2], _said(delivery.data))
    return reading.account()


class _Said(Struct):
    job: str
    at: int = 0


_said = decoder(_Said)


class _Reading:
    def __init__(self, found: dict[str, set[str]]) -> None:
        self._found = found
        self._besides: list[str] = []
        self._times: Counter[tuple[str, str]] = Counter()
        self._dispatched: dict[str, int] = {}
        self._evicted: dict[str, list[int]] = {}
        self._claimed: dict[str, int] = {}
        self._back: list[int] = []

    def take(self, verb: str, said: _Said) -> None:
        if said.job not in self._found:
            self._besides.append(f"{said.job} {verb}")
            return
        match verb:
            case "dispatched":
                self._dispatched[said.job] = said.at
                if said.job in self._claimed:
                    self._back.append(said.at - self._claimed.pop(said.job))
            case "claimed":
                self._claimed[said.job] = said.at
            case "unclaimed":
                self._claimed.pop(said.job, None)
            case "evicted":
                # One that was let go and not dispatched yet has done nothing.
                since = self._dispatched.pop(said.job, said.at)
                self._evicted.setdefault(said.job, []).append(said.at - since)
        self._times[said.job, verb] += 1
        if verb in WAY and verb not in self._found[said.job]:
            self._found[said.job].add(verb)
        elif verb not in (_BACK, EVICTED, *_CLAIMS, *_AGAIN):
            self._besides.append(f"{said.job} {verb}")

    def account(self) -> Account:
        again = [
            f"{job} {verb}"
            for job in self._found
            for verb in _AGAIN
            if self._times[job, verb] > self._times[job, _BACK]
        ]
        return Account(self._found, (*self._besides, *again), self._evicted, tuple(self._back))


class Courses:
    """When each job was dequeued, dispatched and succeeded, by id, in seconds of the loop's clock: when it was heard,
    and of one that was evicted the last time, as Kueue's own recorder has it. `begun` is when the first was submitted
    and `sent` the last. The record is read from after message `last`, which goes along."""

    def __init__(self, arrivals: Sequence[Arrival], tick: Callable[[], None], last: int = 0) -> None:
        self.arrivals = arrivals
        self._tick = tick
        self.last = last
        self._known = {one.id for one in arrivals}
        self._heard: dict[str, dict[str, float]] = {verb: {} for verb in WAY}
        self.begun = self.sent = 0.0
        self._done = asyncio.Event()
        self._news = asyncio.Event()

    def __getitem__(self, verb: str) -> Mapping[str, float]:
        return self._heard[verb]

    async def run(self, bus: Bus) -> None:
        """Submits all of them; returns when all have succeeded, or nothing more is coming."""
        async with asyncio.TaskGroup() as group:
            following = group.create_task(self._follow(bus))
            await self._submit(bus)
            await self._end()
            following.cancel()

    async def _submit(self, bus: Bus) -> None:
        loop = asyncio.get_running_loop()
        self.begun = loop.time()
        sent = 0
        while sent < len(self.arrivals):
            passed = loop.time() - self.begun
            due = sent
            while due < len(self.arrivals) and self.arrivals[due].at <= passed:
                due += 1
            if due > sent:
                await bus.publish([one.message for one in self.arrivals[sent:due]])
                sent = due
            else:
                await asyncio.sleep(0.003)
        self.sent = loop.time()

    async def _follow(self, bus: Bus) -> None:
        loop = asyncio.get_running_loop()
        async for delivery in bus.history(subjects.JOBS, _VERBS, start=self.last + 1, live=True):
            if delivery.subject:
                self.last = delivery.sequence
                self.hear(delivery.subject.split(".")[2], job_of(delivery), loop.time())

    def hear(self, verb: str, job: str, now: float) -> None:
        self._news.set()
        heard = self._heard.get(verb)
        if heard is None or job not in self._known or (job in heard and verb not in _AGAIN):
            return  # the account at the end has it
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
                return
