"""The record as it grows: what was said of each job of the demo, in order. Everything is judged from here."""

import asyncio
from collections.abc import Iterable

from fairway.domain import recorded_verdicts
from fairway.domain.fold import fold
from fairway.domain.job import Job
from fairway.domain.text.decoding import decoder
from fairway.lab.demo.scenario import Mark
from fairway.runtime.ports import Bus
from fairway.wire import jobs as wire
from fairway.wire import subjects

_decode = decoder(wire.Message)


class Record:
    """Jobs go by `namespace/name`; `ids` has their ids. `news` hands on every message as it comes."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        self.news: asyncio.Queue[tuple[str, wire.Message]] = asyncio.Queue()
        self._told: dict[str, dict[int, wire.Message]] = {}
        self._changed = asyncio.Condition()

    async def follow(self, bus: Bus) -> None:
        async for one in bus.history(subjects.JOBS, live=True):
            if not one.subject:
                continue
            message = _decode(one.data)
            self._told.setdefault(message.job, {})[one.sequence] = message
            if (title := title_of(message)) and message.job:
                self.ids[title] = message.job
            name = next((name for name, own in self.ids.items() if own == message.job), "")
            async with self._changed:
                self._changed.notify_all()
            if name:
                self.news.put_nowait((name, message))

    def find(self, mark: Mark, after: int = 0) -> int:
        """The place in the stream of the first such thing said after `after`; 0 when there is none."""
        told = self._said_of(mark.job)
        return next((place for place in sorted(told) if place > after and says(told[place], mark)), 0)

    def _said_of(self, name: str) -> dict[int, wire.Message]:
        """By its place in the stream."""
        return self._told.get(self.ids.get(name, ""), {})

    async def wait(self, mark: Mark) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self.find(mark))

    async def ends(self, names: Iterable[str]) -> None:
        """Until all of these jobs have ended."""
        wanted = list(names)
        async with self._changed:
            await self._changed.wait_for(lambda: all((job := self.job(name)) and job.ended for name in wanted))

    def job(self, name: str) -> Job | None:
        """The job as its events make it, by the same fold as everywhere."""
        job: Job | None = None
        events = {one.rev: one for one in self._said_of(name).values() if one.rev}
        for rev in range(1, len(events) + 1):
            if rev not in events:
                break  # said, and not heard yet
            job = fold(job, events[rev])
        return job


def title_of(message: wire.Message) -> str:
    """`namespace/name`, from the messages that say it."""
    if isinstance(message, wire.Admitted):
        return f"{message.spec.workload.namespace}/{message.spec.workload.name}"
    if isinstance(message, wire.Rejected):
        return f"{message.tenant}/{message.name}"
    return ""


def says(message: wire.Message, mark: Mark) -> bool:
    reasons = getattr(message, "reasons", None) or ([why] if (why := getattr(message, "why", None)) else [])
    told = recorded_verdicts.verdicts(message) if isinstance(message, wire.Placed | wire.Queue) else ()
    verdicts = {one.cluster: one.code.value for one in told}
    return (
        message.verb == mark.says
        and mark.why in ("", *(one.code.value for one in reasons))
        and mark.cluster in ("", getattr(message, "cluster", ""))
        and mark.attempt in (0, message.attempt)
        and all(verdicts.get(cluster) == code for cluster, code in mark.verdicts.items())
    )
