"""What a memory was given and what came of it, by reference until there is time to write it down as entries of VIEWS.

What the record (JOBS) holds is only named: a message by its place, a job's row by its revision and a checksum.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

import msgspec
from msgspec import Struct

from fairway.domain import decision
from fairway.domain.decision import Call, Decision, Heard, Outcome, Put, Step, job_of
from fairway.runtime.ports import Row
from fairway.runtime.service import Memory, Remembered
from fairway.runtime.views import row_cache
from fairway.wire import views
from fairway.wire.fleet import Configured

_encode = msgspec.json.Encoder().encode
# Rows that were written here and may come back; more are forgotten, and told by their bytes.
_MOST_KNOWN = 100_000
# Tables of which what changed is read.
FOLLOWED = ("nodes/", "ledger/", decision.CLUSTERS)


class Everything(Struct, frozen=True, gc=False):
    """All that a memory knows. `after` is the highest place in JOBS that had been heard of."""

    now: int
    after: int
    head: views.Whole
    settings: Sequence[Configured]
    remembered: Sequence[Remembered]


class WantsAsked(Struct, frozen=True, gc=False):
    """The memory was asked what it wants for these messages, which are at these places of JOBS (0: at none)."""

    now: int
    heard: Sequence[Heard[object]]
    places: tuple[int, ...]
    memory: Memory[Any]


class Took(Struct, frozen=True, gc=False):
    """It took what was found for them. `counters` are those that had changed."""

    now: int
    heard: Sequence[Heard[object]]
    rows: Mapping[tuple[str, str], Row]
    changes: Sequence[tuple[str, str, Row | None]]
    counters: dict[str, dict[str, int | None]]
    version: int
    memory: Memory[Any]


class Judged(Struct, frozen=True, gc=False):
    """What was decided on them, from place `start` on; None: nothing was. `steps` are those of the whole batch, if any
    were `refused`."""

    now: int
    start: int
    made: Sequence[Decision | None]
    refused: Sequence[Step] = ()
    steps: Sequence[Step] = ()


class One(Struct, frozen=True, gc=False):
    """Anything small."""

    now: int
    entry: views.Entry


Kept = Everything | WantsAsked | Took | Judged | One


class EntryWriter:
    """Of one process. It knows which rows its replay knows: those that were written here."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[int, object]] = {}
        self._follows = False

    def entries(self, kept: Kept) -> Iterator[views.Entry]:
        match kept:
            case WantsAsked():
                yield _batch(kept)
            case Took():
                yield from self._found(kept)
            case Judged():
                yield self._decisions(kept)
            case Everything():
                yield from self._everything(kept)
            case One():
                yield kept.entry

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
        names = dict.fromkeys(map(job_of, kept.heard))
        names.pop("", None)
        found = [jobs.get(name) for name in names]
        told = None
        if [*jobs] != [name for name, row in zip(names, found, strict=True) if row]:
            told = tuple(jobs)
            found = [*jobs.values()]
        revs = tuple([row.rev if row else 0 for row in found])
        sums = tuple([crc32(row.data) if row else 0 for row in found])
        yield views.BatchFound(kept.version, kept.counters, told, revs, sums)

    def _decisions(self, kept: Judged) -> views.BatchDecided:
        refused = set(map(id, kept.refused))
        if self._follows:
            for made in kept.made:
                for step in made.steps if made is not None else ():
                    if id(step) not in refused:
                        self._wrote(step)
        places = tuple([place for place, step in enumerate(kept.steps) if id(step) in refused])
        return views.BatchDecided(kept.now, kept.start, tuple([_made(one) for one in kept.made]), places)

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


def _batch(kept: WantsAsked) -> views.HeardBatch:
    heard = kept.heard
    places = kept.places
    behind = tuple([one.behind for one in heard]) if any(one.behind for one in heard) else ()
    words: tuple[views.Word, ...] = ()
    if 0 in places:
        words = tuple([_word(one, kept.memory) for one, place in zip(heard, places, strict=True) if not place])
    delivered = {at: one.delivered for at, one in enumerate(heard) if one.delivered != 1}
    answers = {at: tuple(map(_answer, one.outcomes)) for at, one in enumerate(heard) if one.outcomes}
    return views.HeardBatch(kept.now, places, behind, words, delivered, answers)


def _word(one: Heard[object], memory: Memory[Any]) -> views.Word:
    data = _encode(memory.told(one.message))
    return views.Word(one.id, one.sequence, one.delivered, data, one.size, one.stored_at, one.subject)


def _answer(one: Outcome) -> views.CallAnswer:
    return views.CallAnswer(_call(one.call), one.ok, one.code, one.text, _encode(one.body))


def _made(one: Decision | None) -> views.DecisionMade | int | None:
    if one is None:
        return None
    if not one.calls and one.again_in is None:
        return len(one.steps)
    return views.DecisionMade(len(one.steps), calls_of(one), one.again_in)


def calls_of(made: Decision) -> tuple[views.CallMade, ...]:
    return tuple(map(_call, made.calls))


def _call(one: Call) -> views.CallMade:
    return views.CallMade(one.verb, one.cluster, one.job, one.attempt)
