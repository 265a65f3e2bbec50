"""Records what a memory was given, and what was decided on it, beside the work (stream VIEWS; decisions 16 and 32).

The loop never waits for it. A view that could not be recorded is said in the place where it would stand.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
import structlog
from msgspec import Struct

from fairway.domain.decision import Decision, Heard, Step
from fairway.runtime.ports import Bus, Outgoing, ReadRows, Unreachable
from fairway.runtime.record.publishable import Unsayable
from fairway.runtime.service import LocalMessages, Memory
from fairway.runtime.views.pending_views import PendingViews
from fairway.runtime.views.recorded_entries import Everything, Judged, One, Took, WantsAsked
from fairway.runtime.views.recording_limits import RecordingLimits
from fairway.runtime.views.settings import Catalog
from fairway.wire import views
from fairway.wire.fleet import Configured

_encode = msgspec.json.Encoder().encode
log = structlog.get_logger()
# How long a look waits for others to travel with; a process that is killed takes as much with it (s).
_GATHER_S = 0.5
_AGAIN_S = 0.5
_LAST_S = 1.0
# The whole view is told again when so many times its own size was told since, and before any decision an hour later.
_TIMES = 4
WHOLE_MS = 3_600_000
# About what a row of the whole view takes, and what anything small does.
_ROW = 512
_SMALL = 128
# About what a message in hand, or a job's row, holds in memory.
_HEARD = 2_500
_LIMITS = RecordingLimits()


class _WholeView(Struct):
    """When the whole view was told last, of what size, and whether it is `due` again. It is of the working set that was
    `born` then, and reads these `settings`; it counts for `least` when it is smaller."""

    least: int
    settings: tuple[str, ...] = ()
    due: bool = True
    at: int = 0
    size: int = 0
    born: int = 0

    def is_due(self, now: int, since: int) -> bool:
        """`since` it so many bytes were told."""
        return self.due or since > _TIMES * max(self.size, self.least) or now > self.at + WHOLE_MS


class _Counters:
    """As they were told last, by table."""

    def __init__(self) -> None:
        self._told: dict[str, dict[str, int]] = {}

    def clear(self) -> None:
        self._told.clear()

    def changed(self, found: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int | None]]:
        changes = {}
        for table, now in found.items():
            before = self._told.get(table, {})
            if now != before:
                new: dict[str, int | None] = {key: value for key, value in now.items() if before.get(key) != value}
                changes[table] = new | dict.fromkeys(before.keys() - now.keys())
                self._told[table] = dict(now)  # decisions are applied to what was found
        return changes


class _Batch(Struct):
    """What was decided on the messages in hand since it was put away last, and `before`."""

    now: int = 0
    made: list[tuple[Heard[object], Decision]] = []
    before: list[tuple[Heard[object], Decision]] = []
    refused: list[Step] = []

    def judged(self) -> Judged:
        self.before += self.made
        steps = [step for _, one in self.before for step in one.steps] if self.refused else []
        judged = Judged(self.now, self.made, self.refused, steps)
        self.made = []
        self.refused = []
        return judged


class Recorder:
    """Of one process (`instance`) of a service; `catalog` has the settings that its memory was made with."""

    def __init__(self, service: tuple[str, str], bus: Bus, catalog: Catalog, limits: RecordingLimits = _LIMITS) -> None:
        """`service` by its name and the name of the instance."""
        self._bus = bus
        self._catalog = catalog
        self._share = limits.share
        self._backlog = PendingViews(*service, limits.most)
        self._whole = _WholeView(limits.least)
        self._counters = _Counters()
        self._batch = _Batch()
        self._sending: Outgoing | None = None
        self._stuck = False
        self._wake = asyncio.Event()
        catalog.taken.followers.append(self._setting)

    def begun(self, born: int) -> None:
        self._whole.born = born
        self.torn()

    def asked(self, memory: Memory[Any], heard: Sequence[Heard[Any]], now: int) -> None:
        self.settled()
        self._batch = _Batch(now)
        if self._rests(now):
            return
        if self._whole.is_due(now, self._backlog.told):
            self._tell_whole(memory, now)
        self._put(WantsAsked(now, heard, memory), _HEARD * len(heard))

    def _rests(self, now: int) -> bool:
        """Whether nothing is recorded now, by choice."""
        backlog = self._backlog
        rest = self._share.rest(now)
        if backlog.gap is not None and not self._stuck and not (rest and backlog.rests):
            if not backlog.rests:
                log.warning("views were not recorded", decisions=backlog.gap.decisions)
            backlog.resume(now)
            self._whole.due = True
            self._wake.set()
        if rest and backlog.gap is None:
            backlog.rest(self._share.why, now, rest)
            self._whole.due = True
            self._wake.set()
        return backlog.rests

    def _tell_whole(self, memory: Memory[Any], now: int) -> None:
        told = self._whole
        remembered = [*memory.remembered()]
        settings = self._catalog.taken.of(memory.settings)
        told.settings = memory.settings
        told.size = _ROW * (len(remembered) + len(settings))
        told.due = False
        told.at = now
        self._counters.clear()
        head = views.Whole(now, told.born, tuple(sorted(self._catalog.reserved)))
        # What it refers to is the memory's own: it counts for nothing.
        self._backlog.put(Everything(now, head, settings, remembered), 0)

    def _setting(self, said: Configured) -> None:
        if said.kind in self._whole.settings and not self._whole.due:
            self.settled()
            self._put(One(self._batch.now, views.SettingTaken(_encode(said))), len(said.manifest or b""))

    def took(self, memory: Memory[Any], found: ReadRows, now: int) -> None:
        if self._backlog.rests:
            return
        counters = self._counters.changed(found.counters)
        size = sum([len(row.data) for *_, row in found.changes if row]) + _HEARD * len(found.rows)
        self._put(Took(now, found.rows, found.changes, counters, found.version, memory), size)

    def decided(self, heard: Heard[Any], made: Decision, now: int) -> None:
        batch = self._batch
        batch.now = now
        batch.made.append((heard, made))

    def refused(self, step: Step) -> None:
        self._batch.refused.append(step)

    def settled(self) -> None:
        batch = self._batch
        if batch.made or batch.refused:
            self._put(batch.judged(), 0)

    def torn(self) -> None:
        self.settled()  # of what was decided the store may have taken some, and nobody said so
        self._whole.due = True
        self._batch = _Batch()

    def _put(self, one: WantsAsked | Took | Judged | One, held: int) -> None:
        """It holds so many bytes until it is stored."""
        self._backlog.put(one, held + _SMALL)
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
            if self._backlog.rests:
                self._backlog.resume(self._batch.now)
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
