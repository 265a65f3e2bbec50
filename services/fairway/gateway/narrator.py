"""Tells the hub's objects what becomes of their jobs: one Event for each change of the reason, from the record."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

import msgspec
import structlog

from fairway.domain import decision
from fairway.domain.job import Job
from fairway.gateway.hub_events import Note, note_on, write
from fairway.gateway.intake import Intake
from fairway.gateway.reader import Reader, decoded
from fairway.runtime.loop import World
from fairway.runtime.ports import Cluster, Delivery, Source, Unreachable, Wanted
from fairway.wire import jobs as wire
from fairway.wire import subjects

log = structlog.get_logger()
DURABLE = "gateway-narrator"
_VERBS = (
    "rejected", "queue", "blocked", "placed", "dispatched", "running", "failed", "lost", "cancelled", "succeeded",
)  # fmt: skip
SUBJECTS = tuple(f"fairway.job.{verb}.>" for verb in _VERBS)
_decode = msgspec.json.Decoder(wire.Message).decode
_MOST, _AT_ONCE = 256, 16
_LATER_MS = 1_000
# Of so many jobs the last reason is remembered; an older one may be told once more.
_REMEMBERED = 100_000


class Narrator:
    def __init__(self, world: World, hub: Cluster, intake: Intake) -> None:
        self._world, self._hub, self._intake = world, hub, intake
        self._rows = Reader(world.store)
        self._gate = asyncio.Semaphore(_AT_ONCE)
        self._last: OrderedDict[str, str] = OrderedDict()

    async def run(self) -> None:
        source = await self._source()
        while True:
            batch = await source.batch(_MOST)
            try:
                jobs = await self._jobs(batch)
            except Unreachable as error:
                log.warning("waiting", service="gateway", cause=str(error))
                for one in batch:
                    source.later(one, _LATER_MS)
                continue
            await self._tell(source, batch, jobs)

    async def _source(self) -> Source:
        while True:
            try:
                return await self._world.bus.consume(subjects.JOBS, DURABLE, SUBJECTS)
            except (Unreachable, OSError, TimeoutError) as error:
                log.warning("waiting", service="gateway", cause=str(error))
                await self._world.clock.sleep(0.5)

    async def _jobs(self, batch: Sequence[Delivery]) -> dict[str, Job]:
        wanted = Wanted(rows={})
        for message in filter(None, map(_message, batch)):
            wanted.add(decision.JOBS, message.job)
        found = await self._rows.read(wanted)
        return {key: decoded(row.data, Job) for (_, key), row in found.rows.items()}

    async def _tell(self, source: Source, batch: Sequence[Delivery], jobs: dict[str, Job]) -> None:
        """Messages of one job one after another, jobs beside each other."""
        lines: dict[str, list[Delivery]] = {}
        for one in batch:
            message = _message(one)
            lines.setdefault(message.job if message else "", []).append(one)
        await asyncio.gather(*(self._line(source, line, jobs.get(name)) for name, line in lines.items()))

    async def _line(self, source: Source, line: Sequence[Delivery], job: Job | None) -> None:
        for at, one in enumerate(line):
            try:
                async with self._gate:
                    await self._one(one, job)
            except Unreachable:
                for left in line[at:]:
                    source.later(left, _LATER_MS)
                return
            source.ack([one])

    async def _one(self, one: Delivery, job: Job | None) -> None:
        message = _message(one)
        if message is None:
            return
        note = note_on(job, message, one.id)
        if note is None:
            return
        # The object itself, while it is there: a rejection does not name its API group.
        note = msgspec.structs.replace(note, about=self._intake.present.get(note.about.uid, note.about))
        if self._news(message.job, note):
            await write(self._hub, note, message.at or self._world.clock.now())
            self._remember(message.job, note.reason)
        if job is not None and isinstance(message, wire.Queue) and message.why is None:
            # A deletion that came while the job was not known yet was heard by nobody.
            await self._intake.check(job)

    def _news(self, job: str, note: Note) -> bool:
        return self._last.get(job) != note.reason

    def _remember(self, job: str, reason: str) -> None:
        self._last[job] = reason
        self._last.move_to_end(job)
        while len(self._last) > _REMEMBERED:
            self._last.popitem(last=False)


def _message(one: Delivery) -> wire.JobMessage | None:
    try:
        message: wire.JobMessage = _decode(one.data)
    except msgspec.DecodeError:
        return None  # its consumer has put it among the dead letters
    return message
