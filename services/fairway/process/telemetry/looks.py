"""What is looked up at a slow pace, and not at each scrape: how far consumers have come, what stands in the outbox, and
in which states jobs are that do not wait in the queue."""

from collections import Counter
from collections.abc import Iterator

import msgspec
import structlog
from msgspec import Struct

from fairway.adapters.nats.bus import NatsBus
from fairway.domain import decision
from fairway.domain.job import ENDED, State
from fairway.process.telemetry.telling_lease import TellingLease
from fairway.queue.memory import QueueMemory
from fairway.runtime.loop import Loop
from fairway.runtime.metrics.accumulators import Sample
from fairway.runtime.metrics.label_values import SettingsNames
from fairway.runtime.ports import StoreWiped, Unreachable, Wanted
from fairway.runtime.retry import SeldomLog
from fairway.wire.flow import CONSUMERS, consumer

log = structlog.get_logger()
# So often all this is looked up (s); half of that later a figure is not told any more.
_LOOK_S = 10.0
_STALE_MS = 15_000
# Rows are read in pieces with a pause behind each, so that they cost a few thousandths of a core: 250 a second.
_PIECE = 500
_PAUSE_S = 2.0
_ASK_S = 0.5
LIVE = tuple(state for state in State if state not in ENDED and state is not State.QUEUED)


class ServiceLooks:
    """Of one service: its consumers and its outbox."""

    def __init__(self, loop: Loop, bus: NatsBus, lease: TellingLease) -> None:
        self._loop = loop
        self._bus = bus
        self._lease = lease
        self._found: list[Sample] = []
        self._at = 0
        names = {one.durable for one in loop.service.consumers}
        self._consumers = [consumer(one.name) for one in CONSUMERS if one.name in names]

    async def run(self) -> None:
        clock = self._loop.world.clock
        lines = SeldomLog()
        while True:
            if self._lease.tells and self._bus.connected:
                try:
                    self._found = await self._look()
                    self._at = clock.now()
                except (Unreachable, StoreWiped) as error:
                    cause = str(error) or "the store is filled anew"
                    lines.tell(log.info, "waiting", cause, service=self._loop.service.name)
            await clock.sleep(_LOOK_S if self._at else 1.0)

    async def _look(self) -> list[Sample]:
        name = self._loop.service.name
        table = f"outbox/{name}"
        rows = await self._loop.world.store.read(Wanted(whole=(table,)))
        found: list[Sample] = [("fairway_outbox_rows", (name,), len(rows.whole.get(table, {})))]
        now = self._loop.world.clock.now()
        for stream, durable, subjects in self._consumers:
            one = await self._bus.progress((stream, durable), subjects, now)
            age = max(0, now - one.oldest_at) / 1000 if one.oldest_at else 0
            found += [
                ("fairway_consumer_pending_messages", (durable,), one.pending),
                ("fairway_consumer_unacked_messages", (durable,), one.unacked),
                ("fairway_consumer_oldest_age_seconds", (durable,), age),
            ]
        return found

    def samples(self) -> list[Sample]:
        fresh = self._loop.world.clock.now() - self._at <= _STALE_MS
        return self._found if fresh and self._lease.tells else []


class _Row(Struct):
    """The part of a job's row that is counted."""

    state: State
    queue: str = ""


_row = msgspec.json.Decoder(_Row).decode


class JobStates:
    """Live jobs by queue and state, but those that wait: of these the memory of the queue tells at once."""

    def __init__(self, loop: Loop, lease: TellingLease, names: SettingsNames) -> None:
        self._loop = loop
        self._lease = lease
        self._names = names
        self._found: Counter[tuple[str, str]] | None = None

    async def run(self) -> None:
        """The first pass of a process that tells goes without pauses: it tells soon after it begins."""
        clock = self._loop.world.clock
        while True:
            if not self._lease.tells:
                self._found = None
                await clock.sleep(_ASK_S)
                continue
            try:
                self._found = await self._pass(0 if self._found is None else _PAUSE_S)
            except (Unreachable, StoreWiped):
                self._found = None  # what was counted is of another working set
            await clock.sleep(_PAUSE_S)

    async def _pass(self, pause: float) -> Counter[tuple[str, str]]:
        world = self._loop.world
        found: Counter[tuple[str, str]] = Counter()
        after = ""
        while names := await world.store.keys(decision.LIVE, after, _PIECE):
            after = names[-1]
            memory = self._loop.view.memory
            waiting = memory.queued.entries if isinstance(memory, QueueMemory) else {}
            asked = [name for name in names if name not in waiting]
            rows = (await world.store.read(Wanted(rows={decision.JOBS: asked}))).rows if asked else {}
            for row in rows.values():
                job = _row(row.data)
                if job.state in LIVE:
                    found[self._names.queue(job.queue), job.state.value] += 1
            await world.clock.sleep(pause if asked else 0)
        return found

    def samples(self) -> Iterator[Sample]:
        if self._found is None or not self._lease.tells:
            return
        for name in (*sorted(self._names.queues), *{queue for queue, _ in self._found} - self._names.queues):
            for state in LIVE:
                yield "fairway_jobs", (name, state.value), self._found[name, state.value]
