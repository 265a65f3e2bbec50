"""Tells the hub's objects what becomes of their jobs: an Event for each change of the reason, and their binding."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping

import structlog
from msgspec import Struct, structs

from fairway.domain.fold import caught_up
from fairway.domain.job import Job
from fairway.explain.events import reason
from fairway.gateway.hub.bindings import binding_of, unclaimed
from fairway.gateway.hub.events import Note, note_of, note_on, write
from fairway.gateway.hub.intake import Intake
from fairway.gateway.hub.known_bindings import KnownBindings
from fairway.gateway.hub.objects import HubObject
from fairway.gateway.hub.pending_updates import SOON_MS, STATUS_MS, PendingUpdate, PendingUpdates, Unclaimed, UpdatePace
from fairway.gateway.reader import Reader
from fairway.runtime.cluster_port import Cluster
from fairway.runtime.ports import Source, Unreachable, World
from fairway.runtime.record.senders import message_of
from fairway.runtime.record.working_sets import Past
from fairway.runtime.retry import until_reached
from fairway.runtime.vital_tasks import vital
from fairway.wire import flow
from fairway.wire import jobs as wire

log = structlog.get_logger()
_BATCH = 64
_MOST_WAITING = 10_000
_AT_ONCE = 8
# A write costs the hub and this process some 4 ms of a core: telling takes less than half of one, while jobs move.
_A_SECOND = 100
_BURST = 50
_LATER_MS = 1_000
_LOOK_S = 0.02
_LOOK_IDLE_S = 0.1
# Of so many jobs it is remembered what was told; of an older one something may be told once more.
_REMEMBERED = 100_000


class ToldUpdate(Struct):
    """What was told of an attempt of a job. A reason for waiting that comes back is not told again."""

    attempt: int
    reasons: set[str]
    last: str = ""
    ended: bool = False


class JobUpdates:
    def __init__(self, world: World, hub: Cluster, intake: Intake, updates: PendingUpdates) -> None:
        self._world = world
        self._hub = hub
        self._intake = intake
        self._updates = updates
        self._rows = Reader(world.store)
        self._bindings = KnownBindings(hub, world.clock, intake.present)
        self._gate = asyncio.Semaphore(_AT_ONCE)
        self._pace = UpdatePace(_A_SECOND, _BURST)
        self._told: OrderedDict[str, ToldUpdate] = OrderedDict()
        self._source: Source | None = None
        self._past = Past(world.bus, world.store)

    async def run(self) -> None:
        await self._intake.told.wait()
        async with asyncio.TaskGroup() as group:
            group.create_task(vital("narrator: hear", self._hear()))
            group.create_task(vital("narrator: tell", self._tell()))

    async def _hear(self) -> None:
        bus = self._world.bus
        name = flow.consumer("gateway-narrator")
        source = self._source = await until_reached("gateway", self._world.clock, lambda: bus.consume(*name))
        while True:
            batch = await source.batch(256)
            now = self._world.clock.now()
            sets = await until_reached("gateway", self._world.clock, self._past.sets)
            for one in batch:
                message = message_of(one)
                if message is None or sets.late(message, one.sequence):
                    source.ack([one])  # among the dead letters by now, or nobody acts on it
                else:
                    self._updates.hear(one, message, now)
            while len(self._updates) > _MOST_WAITING:
                await self._world.clock.sleep(_LOOK_S)

    async def _tell(self) -> None:
        while True:
            try:
                if not await self._round():
                    await self._world.clock.sleep(_LOOK_S if len(self._updates) else _LOOK_IDLE_S)
            except Unreachable as error:
                log.warning("waiting", service="gateway", cause=str(error))
                await self._world.clock.sleep(_LATER_MS / 1000)

    async def _round(self) -> bool:
        """Whether there was anything to tell. Nobody but this writes bindings, so that none is written out of order."""
        now = self._world.clock.now()
        if await self._bindings.look():
            for uid in list(self._intake.present):
                self._updates.touch(self._intake.job(uid), now)
            self._intake.still_unclaimed()
        gone = self._updates.take_gone()
        left = self._updates.take_unclaimed(now, _BATCH)
        lines = self._updates.take(now, _BATCH)
        for uid in self._intake.take_shown():
            self._restate(uid, now)
        try:
            jobs = await self._rows.jobs(lines) if lines else {}
        except Unreachable:
            self._put_back(lines, gone, left)
            raise
        removed = (self._drop(one) for one in gone)
        waiting = (self._unclaimed(one) for one in left)
        told = (self._line(name, line, jobs.get(name)) for name, line in lines.items())
        await asyncio.gather(*removed)
        await asyncio.gather(*waiting, *told)
        return bool(gone or left or lines)

    def _put_back(
        self, lines: Mapping[str, PendingUpdate], gone: Iterable[HubObject], left: Iterable[Unclaimed]
    ) -> None:
        for name, line in lines.items():
            self._updates.again(name, line, self._world.clock.now() + _LATER_MS)
        self._updates.gone |= {one.uid: one for one in gone}
        self._updates.unclaimed |= {one.one.uid: one for one in left}

    def _restate(self, uid: str, now: int) -> None:
        """The member's status changed: the last one must be in the binding, those before it need not."""
        told = self._told.get(name := self._intake.job(uid))
        if told is not None:
            self._updates.touch(name, now, SOON_MS if told.ended else STATUS_MS)

    async def _line(self, name: str, line: PendingUpdate, job: Job | None) -> None:
        try:
            async with self._gate:
                await self._say(job, line)
        except Unreachable:
            self._updates.again(name, line, self._world.clock.now() + _LATER_MS)
            return
        if self._source is not None and line.deliveries:
            self._source.ack(line.deliveries)

    async def _say(self, job: Job | None, line: PendingUpdate) -> None:
        words = [*line.ends, *([(line.cause, line.newest)] if line.newest else [])]
        # What was said of it in another tenant's name is among the dead letters.
        own = ((cause, one) for cause, one in words if job is None or one.tenant == job.tenant)
        words = sorted(own, key=lambda word: word[1].rev)
        for _, message in words:
            job = caught_up(job, message)
        uid = job.hub_uid if job else ""
        if job is None or not uid:
            return
        one = self._intake.present.get(uid)
        if one is None:
            # A deletion that came while the job was not known yet was heard by nobody.
            await self._intake.check(job)
            return
        for cause, message in words:
            await self._note(job, message, cause, one)
        told = self._remember(job)
        told.ended = job.ended
        if any(isinstance(message, wire.Rejected) for _, message in words):
            await self._intake.refused(one)
        binding = binding_of(one, job, self._intake.shown.get(one.uid, b""))
        if self._bindings.new(binding):
            await self._paced()
            await self._bindings.write(binding)

    async def _note(self, job: Job, message: wire.JobMessage, cause: str, one: HubObject) -> None:
        told = self._remember(job)
        note = note_on(job, message, cause, not told.reasons.isdisjoint(("Dispatched", "Running")))
        waits = isinstance(message, wire.Blocked | wire.Queue)
        if note is None or note.reason in (told.reasons if waits else (told.last,)):
            return
        # The object itself, while it is there: a rejection does not name its API group.
        await self._announce(structs.replace(note, about=one), message.at)
        told.reasons.add(note.reason)
        told.last = note.reason

    def _remember(self, job: Job) -> ToldUpdate:
        told = self._told.get(job.id)
        if told is None or told.attempt != job.attempt:
            told = self._told[job.id] = ToldUpdate(job.attempt, set())
        self._told.move_to_end(job.id)
        while len(self._told) > _REMEMBERED:
            self._told.popitem(last=False)
        return told

    async def _unclaimed(self, one: Unclaimed) -> None:
        note = note_of(one.one, one.why.code.value, f"Waits: {reason(one.why)}", "")
        try:
            async with self._gate:
                await self._announce(note)
                await self._bindings.write(unclaimed(one.one, self._intake.job(one.one.uid), one.why))
        except Unreachable:
            self._updates.unclaimed.setdefault(one.one.uid, one)

    async def _announce(self, note: Note, at: int = 0) -> None:
        await self._paced()
        await write(self._hub, note, at or self._world.clock.now())

    async def _drop(self, one: HubObject) -> None:
        try:
            async with self._gate:
                await self._bindings.drop(one)
        except Unreachable:
            self._updates.gone.setdefault(one.uid, one)

    async def _paced(self) -> None:
        if wait := self._pace.wait(self._world.clock.now(), len(self._updates)):
            await self._world.clock.sleep(wait / 1000)
