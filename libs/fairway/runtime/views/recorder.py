"""Records what a view was fed, and what was decided on it, beside the work (stream VIEWS; decision 16).

The loop never waits for it. A view that could not be recorded is said in the place where it would stand.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress

import structlog
from msgspec import Struct

from fairway.domain import decision
from fairway.domain.decision import Decision, Heard, Put, Step
from fairway.runtime.ports import Bus, Outgoing, ReadRows, Unreachable
from fairway.runtime.record.publishable import Unsayable
from fairway.runtime.service import LocalMessages
from fairway.runtime.views.clusters import FleetView
from fairway.runtime.views.pending_views import Everything, Fed, One, PendingViews
from fairway.wire import views
from fairway.wire.envelope import JobMessage

log = structlog.get_logger()
# Bytes that wait to be stored; more is given up.
_MOST = 32 << 20
# How long a look waits for others to travel with; a process that is killed takes as much with it (s).
_GATHER_S = 0.1
_AGAIN_S = 0.5
_LAST_S = 1.0
# The whole view is told again when so many times its own size was told since, and before any decision an hour later.
_TIMES = 4
_LEAST = 1 << 20
WHOLE_MS = 3_600_000
# About what a row of the whole view takes, and what anything small does.
_ROW = 512
_SMALL = 128


class _WholeView(Struct):
    """When the whole view was told last, of what size, and whether it is `due` again. It was filled from the working
    set that was `born` then, and has seen the record up to `after`; it counts for `least` when it is smaller."""

    least: int
    due: bool = True
    at: int = 0
    size: int = 0
    born: int = 0
    after: int = 0

    def is_due(self, since: int, now: int) -> bool:
        """So many bytes were told since."""
        return self.due or since > _TIMES * max(self.size, self.least) or now > self.at + WHOLE_MS


class Recorder:
    """Of one process (`instance`) of a service; its view tells it everything. `run` goes beside the service. `most`
    bytes wait to be stored; a whole view counts for `least` when it is smaller."""

    def __init__(self, bus: Bus, service: str, instance: str, most: int = _MOST, least: int = _LEAST) -> None:
        self._bus = bus
        self._backlog = PendingViews(service, instance, most)
        self._whole = _WholeView(least)
        self._stuck = False
        self._since = 0
        self._freed: Mapping[str, int] = {}
        self._places: dict[int, int] = {}
        self._sending: Outgoing | None = None
        self._wake = asyncio.Event()
        self._now = 0

    def begin(self, born: int) -> None:
        """The view has forgotten everything, and will be filled from this working set."""
        self._whole.born = born
        self._whole.due = True

    def fed(self, view: FleetView, found: ReadRows, heard: Sequence[Heard[object]], now: int) -> None:
        """The view was refreshed."""
        if self._backlog.gap is not None and not self._stuck:
            log.warning("views were not recorded", decisions=self._backlog.gap.decisions)
            self._backlog.resume(now)
            self._whole.due = True
        whole = self._whole.is_due(self._since, now)
        if whole:
            self._tell_whole(view, now)
        freed = found.counters.get(decision.FREED, {})
        told = None if freed == self._freed and not whole else freed
        changes = [] if whole else found.changes
        rows = (*found.rows.values(), *(row for *_, row in changes if row))
        self._put(Fed(now, found, changes, told, heard), sum([len(row.data) for row in rows]))
        self._freed = freed
        self._places = {id(one): at for at, one in enumerate(heard)}
        if heard:
            self._whole.after = max(self._whole.after, *(one.sequence for one in heard))

    def _tell_whole(self, view: FleetView, now: int) -> None:
        clusters = [(one.info, [state.node for state in one.states.values()]) for one in view.clusters.values()]
        told = self._whole
        told.size = _ROW * sum(len(nodes) + 1 for _, nodes in clusters)
        told.due = False
        told.at = now
        self._since = 0
        # What it refers to is the view's own: it counts for nothing.
        self._backlog.put(Everything(now, told.born, told.after, [*view.assumed.values()], clusters), 0)

    def decided(self, heard: Heard[object], made: Decision, now: int) -> None:
        messages = (say.message for step in made.steps for say in step.events)
        revs = tuple(one.rev for one in messages if isinstance(one, JobMessage))
        self._put(One(now, views.Decided(self._places[id(heard)], now, revs)), 0)

    def refused(self, step: Step) -> None:
        for write in step.writes:
            if isinstance(write, Put) and write.table == decision.JOBS:
                self._put(One(self._now, views.StepRefused(write.key, write.rev)), 0)

    def torn(self) -> None:
        """The view took only some of what it was to be refreshed with."""
        self._whole.due = True

    def _put(self, one: Fed | One, size: int) -> None:
        self._now = one.now
        self._since += size + _SMALL
        self._backlog.put(one, size + _SMALL)
        self._wake.set()

    async def run(self, inbox: LocalMessages) -> None:
        """Stores what waits; at the end what is left, if the bus takes it at once."""
        try:
            while True:
                await self._wake.wait()
                await inbox.pause(_GATHER_S)
                self._wake.clear()
                await self._store()
                if self._stuck:
                    self._wake.set()
                    await inbox.pause(_AGAIN_S)
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LAST_S):
                    await self._store()

    async def _store(self) -> None:
        while one := self._sending or self._backlog.piece():
            self._sending = one
            try:
                await self._bus.publish([one], tries=1)
            except Unreachable as error:
                if not self._stuck:
                    log.warning("views wait", cause=str(error))
                self._stuck = True
                return
            except Unsayable as error:
                log.error("a view cannot be recorded", cause=str(error))
                self._whole.due = True  # with what was in it, what follows cannot be understood
            self._sending = None
            self._stuck = False
