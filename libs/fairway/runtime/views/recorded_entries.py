"""What a memory was given and what came of it, by reference until there is time to write it down as entries of VIEWS.

What the record (JOBS) holds is only named: a message by its place, a job's row by its revision and a checksum.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

import msgspec
from msgspec import Struct

from fairway.domain import decision
from fairway.domain.decision import Decision, Heard, Outcome, Put, Step
from fairway.runtime.ports import Row
from fairway.runtime.service import Memory, Remembered
from fairway.runtime.views import row_cache
from fairway.runtime.views.decision_made import as_entry, call_made
from fairway.wire import views
from fairway.wire.envelope import JobMessage
from fairway.wire.fleet import Configured
from fairway.wire.preemption.evictions import ReliefMessage

_encode = msgspec.json.Encoder().encode
# Rows that were written here and may come back; more are forgotten, and told by their bytes.
_MOST_KNOWN = 100_000
# Tables of which what changed is read.
FOLLOWED = ("nodes/", "ledger/", decision.CLUSTERS)


class Everything(Struct, frozen=True, gc=False):
    """All that a memory knows."""

    now: int
    head: views.Whole
    settings: Sequence[Configured]
    remembered: Sequence[Remembered]


class WantsAsked(Struct, frozen=True, gc=False):
    """The memory was asked what it wants for these messages."""

    now: int
    heard: Sequence[Heard[object]]
    memory: Memory[Any]


class Took(Struct, frozen=True, gc=False):
    """It took what was found for them. `counters` are those that had changed."""

    now: int
    rows: Mapping[tuple[str, str], Row]
    changes: Sequence[tuple[str, str, Row | None]]
    counters: dict[str, dict[str, int | None]]
    version: int
    memory: Memory[Any]


class Judged(Struct, frozen=True, gc=False):
    """What was decided on them, in their order. `steps` are those of the whole batch, if any were `refused`."""

    now: int
    made: Sequence[tuple[Heard[object], Decision]]
    refused: Sequence[Step] = ()
    steps: Sequence[Step] = ()


class One(Struct, frozen=True, gc=False):
    """Anything small."""

    now: int
    entry: views.Entry


Kept = Everything | WantsAsked | Took | Judged | One


class _BatchInHand(Struct):
    """The messages that were written down last, the jobs that they speak of, and how many were decided on."""

    heard: Sequence[Heard[object]] = ()
    names: list[str] = []
    start: int = 0


class EntryWriter:
    """Of one process. It knows which rows its replay knows: those that were written here. `highest` is the highest
    place in JOBS that was heard of."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[int, object]] = {}
        self._follows = False
        self._batch = _BatchInHand()
        self.highest = 0

    def entries(self, kept: Kept) -> Iterable[views.Entry]:
        match kept:
            case WantsAsked():
                return (self._heard(kept),)
            case Took():
                return self._found(kept)
            case Judged():
                return (self._decisions(kept),)
            case Everything():
                return self._everything(kept)
            case One():
                return (kept.entry,)

    def pass_over(self, kept: Kept) -> None:
        """It is not written down."""
        if isinstance(kept, WantsAsked):
            self.highest = max(self.highest, *(one.sequence for one in kept.heard if _in_record(one.message)), 0)

    def _heard(self, kept: WantsAsked) -> views.HeardBatch:
        """In one pass, for there are many."""
        self._batch = batch = _BatchInHand(kept.heard)
        places: list[int] = []
        words: list[views.Word] = []
        delivered: dict[int, int] = {}
        answers: dict[int, tuple[views.CallAnswer, ...]] = {}
        bundled = False
        for at, one in enumerate(kept.heard):
            place = 0
            if isinstance(one.message, JobMessage):
                place = one.sequence if _in_record(one.message) else 0
                if one.message.job:  # one that is not admitted yet has none
                    batch.names.append(one.message.job)
            places.append(place)
            bundled |= bool(one.behind)
            if not place:
                words.append(_word(one, kept.memory))
            if one.delivered != 1:
                delivered[at] = one.delivered
            if one.outcomes:
                answers[at] = tuple(map(_answer, one.outcomes))
        self.highest = max(self.highest, *places, 0)
        behind = tuple([one.behind for one in kept.heard]) if bundled else ()
        return views.HeardBatch(kept.now, tuple(places), behind, tuple(words), delivered, answers)

    def _everything(self, kept: Everything) -> Iterator[views.Entry]:
        self._known.clear()
        yield kept.head
        for said in kept.settings:
            yield views.SettingTaken(_encode(said))
        for one in kept.remembered:
            data = _encode(one.value)
            if one.table == decision.JOBS:
                yield views.KnownRow(one.table, one.key, one.rev, crc32(data))
            else:
                yield views.RememberedPart(one.table, one.key, one.rev, data)

    def _found(self, kept: Took) -> Iterator[views.Entry]:
        jobs = {}
        for (table, key), row in kept.rows.items():
            if table == decision.JOBS:
                jobs[key] = row
            else:
                yield views.ViewRow(table, key, row.rev, kept.memory.told_row(table, row.data), True)
        self._follows |= bool(kept.changes)
        for table, key, changed in kept.changes:
            if changed is None:
                yield views.ViewRow(table, key, 0, None)
            elif self._is_known(table, key, changed):
                yield views.KnownRow(table, key, changed.rev, crc32(changed.data))
            else:
                yield views.ViewRow(table, key, changed.rev, kept.memory.told_row(table, changed.data))
        told, found = _in_order(jobs, self._batch.names)
        revs = tuple([row.rev if row else 0 for row in found])
        sums = tuple([crc32(row.data) if row else 0 for row in found])
        yield views.BatchFound(kept.version, kept.counters, told, revs, sums)

    def _decisions(self, kept: Judged) -> views.BatchDecided:
        refused = set(map(id, kept.refused))
        batch = self._batch
        start = at = batch.start
        made: list[views.DecisionMade | int | None] = []
        for heard, one in kept.made:
            while batch.heard[at] is not heard:
                made.append(None)
                at += 1
            at += 1
            made.append(as_entry(one))
            if self._follows:
                for step in one.steps:
                    if id(step) not in refused:
                        self._wrote(step)
        batch.start = at
        places = tuple([place for place, step in enumerate(kept.steps) if id(step) in refused])
        return views.BatchDecided(kept.now, start, tuple(made), places)

    def _wrote(self, step: Step) -> None:
        for write in step.writes:
            if isinstance(write, Put) and write.value is not None and write.table.startswith(FOLLOWED):
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                self._known[write.table, write.key] = (write.rev, write.value)

    def _is_known(self, table: str, key: str, row: Row) -> bool:
        """The revision alone does not tell: that of a row which was deleted and is there again begins anew."""
        rev, value = self._known.pop((table, key), (0, None))
        return rev == row.rev and row_cache.says(table, key, row.data, value)


def _in_record(message: object) -> bool:
    return isinstance(message, JobMessage) and not isinstance(message, ReliefMessage)


def _in_order(jobs: Mapping[str, Row], names: Sequence[str]) -> tuple[tuple[str, ...] | None, Collection[Row | None]]:
    """The rows of jobs in the order in which the messages speak of them; where they were found in another order, or
    others, which."""
    if [*jobs] == names:
        return None, jobs.values()
    unique = dict.fromkeys(names)
    found = [jobs.get(name) for name in unique]
    if [*jobs] == [name for name, row in zip(unique, found, strict=True) if row]:
        return None, found
    return tuple(jobs), jobs.values()


def _word(one: Heard[object], memory: Memory[Any]) -> views.Word:
    data = _encode(memory.told(one.message))
    return views.Word(one.id, one.sequence, one.delivered, data, one.size, one.stored_at, one.subject)


def _answer(one: Outcome) -> views.CallAnswer:
    return views.CallAnswer(call_made(one.call), one.ok, one.code, one.text, _encode(one.body))
