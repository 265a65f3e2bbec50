"""The record (JOBS) as a replay needs it: messages by their place, rows of jobs at a revision, and what was said."""

from collections import defaultdict, deque
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from fairway.domain.events import message_id, row_of
from fairway.domain.fold import fold
from fairway.domain.job import IllegalMove, Job
from fairway.domain.text.decoding import decoder
from fairway.runtime.ports import Bus, Delivery
from fairway.runtime.record.found_reader import FoundReader
from fairway.runtime.record.missing_events import over_gap
from fairway.runtime.record.senders import in_place, message_of
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.envelope import JobMessage
from fairway.wire.flow import filters
from fairway.wire.reasons import Code, Reason

# Events are stored soon after they were decided: so far the record is read ahead of the views. What a row needs may
# come later, of a process that crashed in between: for it so far.
_AHEAD_MS = 10_000
_LATE_MS = 600_000
# Messages of so many bytes are kept; of what was heard long after it was said, the record is asked again.
_KEPT_BYTES = 256 << 20
# Of a job that ended so long ago no row is looked at any more.
_OVER_MS = 3_600_000
_message = decoder(wire.Message)
_encode = msgspec.json.Encoder().encode


class Said(Struct, frozen=True):
    """An event as the record has it; as a `whole` it is with what was stored apart from it."""

    name: str
    sequence: int
    event: JobMessage
    whole: JobMessage

    def is_of(self, service: str) -> bool:
        one = self.event
        return f"{message_id(service, one.cause, one.job, one.rev)}-{one.epoch}" == self.name


class Messages:
    """The newest of JOBS by their places. Several may have one: they were stored together. `found` reads what was
    stored apart from them."""

    def __init__(self, bus: Bus) -> None:
        self.found = FoundReader(bus)
        self._bus = bus
        self._kept: dict[int, list[Delivery]] = {}
        self._order: deque[int] = deque()
        self._bytes = 0
        self._removed: dict[int, tuple[int, str]] | None = None

    def put(self, one: Delivery) -> None:
        if one.sequence not in self._kept:
            self._order.append(one.sequence)
        self._kept.setdefault(one.sequence, []).append(one)
        self._bytes += len(one.data)
        while self._bytes > _KEPT_BYTES and len(self._order) > 1:
            self._bytes -= sum(len(old.data) for old in self._kept.pop(self._order.popleft()))

    async def get(self, sequence: int, behind: int) -> Delivery | None:
        found = self._kept.get(sequence)
        if found is None:
            found = []
            async for one in self._bus.history(subjects.JOBS, start=sequence):
                if one.sequence != sequence:
                    break
                found.append(one)
        return next((one for one in found if one.behind == behind), None)

    async def removed(self, sequence: int) -> Reason | None:
        """Why a message is not there any more, if its manifest was removed."""
        if self._removed is None:
            self._removed = {}
            async for one in self._bus.history(subjects.JOBS, filters(wire.ManifestsRemoved)):
                if isinstance(word := message_of(one), wire.ManifestsRemoved):
                    self._removed |= {gone.sequence: (word.at, gone.sha256) for gone in word.removed}
        if sequence not in self._removed:
            return None
        at, digest = self._removed[sequence]
        day = datetime.fromtimestamp(at / 1000, UTC).date().isoformat()
        text = f"a manifest that was decided on then was removed from the record on {day}; its sha256 is {digest}"
        remedy = "let FAIRWAY_MANIFESTS_KEPT be no less than FAIRWAY_VIEWS_DAYS"
        return Reason(Code.VIEW_NOT_KEPT, f"{text} (FAIRWAY_MANIFESTS_KEPT)", remedy=remedy)


class _Folded(Struct, frozen=True):
    """A job as of one event. Between the events of the working set that was born at `gap`, one or more are not in the
    record (0: none is missing); they are in what that set had."""

    job: Job | None
    gap: int = 0


class FoldedRows:
    """Rows of jobs, folded from their events when they are asked for."""

    def __init__(self) -> None:
        self._events: dict[str, dict[int, list[Said]]] = defaultdict(lambda: defaultdict(list))
        self._folded: dict[str, dict[tuple[int, str], _Folded]] = defaultdict(dict)
        self._over: deque[tuple[int, str]] = deque()

    def put(self, said: Said) -> None:
        event = said.event
        self._events[event.job][event.rev].append(said)
        if isinstance(event, wire.Succeeded | wire.Cancelled | wire.Rejected) or getattr(event, "final", False):
            self._over.append((event.at, event.job))
        while self._over and self._over[0][0] < event.at - _OVER_MS:
            _, name = self._over.popleft()
            self._events.pop(name, None)
            self._folded.pop(name, None)

    def row(self, job: str, rev: int, born: int) -> bytes | None:
        """As the store had it in the working set that was `born` there. The next set was made over what is missing of
        this one; in this one it is not known."""
        said = self._counted(job, rev, born)
        folded = self._fold(said) if said is not None else _Folded(None)
        return None if folded.job is None or folded.gap == born else _encode(row_of(folded.job))

    def _counted(self, job: str, rev: int, born: int) -> Said | None:
        """The event that brought the job to this revision: of several working sets the newest, as far as it was stored
        before the next one was made."""
        events = self._events[job].get(rev, ()) if job in self._events else ()
        counted = [one for one in events if one.event.epoch == born or max(one.event.epoch, one.sequence) < born]
        return max(counted, key=lambda one: (one.event.epoch, -one.sequence), default=None)

    def _fold(self, said: Said) -> _Folded:
        known = self._folded[said.event.job]
        chain = []
        one: Said | None = said
        while one is not None and (one.event.rev, one.name) not in known:
            chain.append(one)
            one = self._before(one)
        folded = known[one.event.rev, one.name] if one is not None else _Folded(None)
        for one in reversed(chain):
            folded = known[one.event.rev, one.name] = _on(folded, one.event)
        return folded

    def _before(self, said: Said) -> Said | None:
        event = said.event
        for rev in range(event.rev - 1, 0, -1):
            if (before := self._counted(event.job, rev, event.epoch)) is not None:
                return before
        return None


def _on(before: _Folded, event: JobMessage) -> _Folded:
    job = before.job
    try:
        if job is not None and event.rev > job.rev + 1:
            return _Folded(over_gap(job, event), event.epoch)
        return _Folded(fold(job, event), before.gap)
    except IllegalMove:
        return before


class RecordReader:
    """Read as far as it is needed. `left` are events that no decision has been found for."""

    def __init__(self, bus: Bus, after: int = 1) -> None:
        """What stands before `after` made rows, and is not asked for."""
        self._deliveries: AsyncIterator[Delivery] = bus.history(subjects.JOBS)
        self._after = after
        self._at = self._place = 0
        self._over = False
        self._messages = Messages(bus)
        self._rows = FoldedRows()
        self._by_cause: dict[tuple[str, int], list[Said]] = {}
        self._taken: set[str] = set()
        self.left: dict[tuple[str, int], Said] = {}

    async def read(self, at: int = 0) -> None:
        """Up to that time and somewhat beyond; 0: all."""
        while not self._over and (not at or self._at < at + _AHEAD_MS):
            await self._next()

    async def _next(self) -> str:
        """The job of the event that came next, if it is one."""
        one = await anext(self._deliveries, None)
        if one is None:
            self._over = True
            return ""
        self._place = one.sequence
        self._messages.put(one)
        try:
            event = _message(one.data)
        except msgspec.DecodeError:
            return ""  # its consumer has put it among the dead letters
        self._at = max(self._at, event.at)
        if event.rev and in_place(one.subject, event):
            self._put(Said(one.id, one.sequence, event, await self._messages.found.message(event)))
        return str(event.job)

    def _put(self, said: Said) -> None:
        self._rows.put(said)
        event = said.event
        if said.sequence < self._after or said.name in self._taken:
            return  # said once more, later than the bus knows it again
        if (said.name, event.at) not in self.left:
            self.left[said.name, event.at] = said
            self._by_cause.setdefault((event.cause, event.at), []).append(said)

    async def message(self, sequence: int, behind: int) -> Delivery | None:
        while not self._over and self._place <= sequence:
            await self._next()
        return await self._messages.get(sequence, behind)

    async def removed(self, sequence: int) -> Reason | None:
        """Why a message is not there any more, if its manifest was removed."""
        return await self._messages.removed(sequence)

    async def row(self, job: str, rev: int, born: int, now: int) -> bytes | None:
        row = self._rows.row(job, rev, born)
        while row is None and not self._over and self._at < now + _LATE_MS:
            if await self._next() == job:
                row = self._rows.row(job, rev, born)
        return row

    def said(self, service: str, cause: str, at: int) -> list[Said]:
        """What this service said then because of that message, and what no decision has been found for."""
        found = self._by_cause.get((cause, at), ())
        return [one for one in found if one.is_of(service)]

    def take(self, name: str, at: int) -> JobMessage | None:
        """The whole event, which is not asked for again."""
        said = self.left.pop((name, at), None)
        if said is None:
            return None
        self._taken.add(name)
        alike = self._by_cause[said.event.cause, at]
        alike.remove(said)
        if not alike:
            del self._by_cause[said.event.cause, at]
        return said.whole
