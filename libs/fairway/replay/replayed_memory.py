"""The memory of one process as its records in VIEWS make it again, entry by entry."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from zlib import crc32

import msgspec
from msgspec import Struct, field, structs

from fairway.domain import decision
from fairway.domain.decision import Call, Heard, Outcome, Put, Step, job_of
from fairway.domain.text.decoding import decoder
from fairway.replay.record import RecordReader
from fairway.replay.stages import ReplayedStage
from fairway.runtime.ports import ReadRows, Row
from fairway.runtime.views.clusters import ASSUMED
from fairway.runtime.views.recorded_entries import FOLLOWED
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet, views
from fairway.wire import jobs as wire
from fairway.wire.reasons import Reason

_configured = decoder(fleet.Configured)
_message = decoder(wire.Message)
_encode = msgspec.json.Encoder().encode


class Astray(Exception):
    """From here on the memory is not what it was: something that it was given cannot be had. `why`: it is known what
    became of that."""

    def __init__(self, why: Reason | None = None) -> None:
        super().__init__(why)
        self.why = why


class RowDiffers(Struct, frozen=True):
    """A row that was not what the record, or the decision that wrote it, says."""

    service: str
    table: str
    key: str
    rev: int
    at: int


class _BatchInHand(Struct):
    """The messages, and the steps that were decided since they came; of the first ones it is known what the store
    `answered`."""

    now: int = 0
    heard: Sequence[Heard[Any]] = ()
    steps: list[Step] = field(default_factory=list)
    answered: int = 0


class _Rows(Struct):
    """What was `found` for the messages in hand, as far as it is told by now; the counters as they were told last, and
    the rows that were written here and have not come back."""

    found: ReadRows = field(default_factory=ReadRows)
    counters: dict[str, dict[str, int]] = field(default_factory=dict)
    written: dict[tuple[str, str], tuple[int, object]] = field(default_factory=dict)


class ReplayedMemory:
    """Since it was told whole. `differing` are the rows that differ, since they were taken away."""

    def __init__(self, stage: ReplayedStage, record: RecordReader, whole: views.Whole) -> None:
        self.stage = stage
        self.born = whole.born
        self.batch = _BatchInHand(whole.now)
        self.differing: list[RowDiffers] = []
        self._record = record
        self._catalog = Catalog(whole.reserved)
        self._rows = _Rows()
        self.memory = stage.memory(self._catalog)
        self.memory.begin()

    def setting(self, entry: views.SettingTaken) -> None:
        self._catalog.take(_configured(entry.data))

    def recall(self, entry: views.RememberedPart) -> None:
        self.memory.recall(entry.table, entry.key, entry.rev, entry.data)

    def assume(self, entry: views.Assumed) -> None:
        self.memory.recall(ASSUMED, "", 0, entry.data)

    def row(self, entry: views.ViewRow) -> None:
        row = Row(entry.rev, entry.data) if entry.data is not None else None
        if not entry.read and entry.table != decision.JOBS:
            self._rows.found.changes.append((entry.table, entry.key, row))
        elif row is not None:
            self._rows.found.rows[entry.table, entry.key] = row

    async def remembered_job(self, entry: views.KnownRow) -> None:
        row = await self._job_row(entry.key, entry.rev, entry.sum)
        self.memory.recall(entry.table, entry.key, entry.rev, row.data)

    async def _job_row(self, name: str, rev: int, checksum: int) -> Row:
        row = await self._record.row(name, rev, self.born, self.batch.now)
        if row is None:  # what made it so was never said: it was lost with its working set
            raise Astray
        if crc32(row) != checksum:
            self._differs(decision.JOBS, name, rev)
        return Row(rev, row)

    def known_row(self, entry: views.KnownRow) -> None:
        rev, value = self._rows.written.pop((entry.table, entry.key), (0, None))
        if rev != entry.rev:
            self._differs(entry.table, entry.key, entry.rev)
            raise Astray
        data = _encode(value)
        if crc32(data) != entry.sum:
            self._differs(entry.table, entry.key, entry.rev)
        self._rows.found.changes.append((entry.table, entry.key, Row(rev, data)))

    def _differs(self, table: str, key: str, rev: int) -> None:
        self.differing.append(RowDiffers(self.stage.name, table, key, rev, self.batch.now))

    async def hear(self, entry: views.HeardBatch) -> None:
        self.batch = _BatchInHand(entry.now)
        words = iter(entry.words)
        heard = []
        for at, place in enumerate(entry.places):
            one = await self._named(entry, at) if place else self._told(next(words))
            heard.append(structs.replace(one, outcomes=tuple(map(self._outcome, entry.answers.get(at, ())))))
        self.batch.heard = heard
        self.memory.wants(heard, entry.now)

    async def _named(self, entry: views.HeardBatch, at: int) -> Heard[Any]:
        behind = entry.behind[at] if entry.behind else 0
        one = await self._record.message(entry.places[at], behind)
        if one is None:
            raise Astray(await self._record.removed(entry.places[at]))
        times = entry.delivered.get(at, 1)
        size = len(one.data)
        return Heard(one.id, _message(one.data), one.sequence, times, (), size, one.stored_at, one.subject, behind)

    def _told(self, one: views.Word) -> Heard[Any]:
        said = self.stage.hears(one.data)
        return Heard(one.id, said, one.sequence, one.delivered, (), one.size, one.stored_at, one.subject)

    def _outcome(self, one: views.CallAnswer) -> Outcome:
        call = Call(one.call.verb, one.call.cluster, one.call.job, one.call.attempt)
        body = msgspec.json.decode(one.body, type=self.stage.bodies.get(call.verb, Any))
        return Outcome(call, one.ok, one.code, one.text, body)

    async def found(self, entry: views.BatchFound) -> None:
        names = tuple(dict.fromkeys(filter(None, map(job_of, self.batch.heard)))) if entry.jobs is None else entry.jobs
        for name, rev, checksum in zip(names, entry.revs, entry.sums, strict=True):
            if rev:
                self._rows.found.rows[decision.JOBS, name] = await self._job_row(name, rev, checksum)
        self._count(entry)
        self._take(entry.version)

    def _count(self, entry: views.BatchFound) -> None:
        for table, changes in entry.counters.items():
            known = self._rows.counters.setdefault(table, {})
            for key, value in changes.items():
                if value is None:
                    known.pop(key, None)
                else:
                    known[key] = value

    def look(self, entry: views.Look) -> None:
        """Up to 0.2.0."""
        if entry.freed is not None:
            self._rows.counters[decision.FREED] = entry.freed
        self.batch = _BatchInHand(entry.now, [self._told(one) for one in entry.heard])
        self.memory.wants(self.batch.heard, entry.now)
        self._take(entry.version)

    def _take(self, version: int) -> None:
        found = self._rows.found
        self._rows.found = ReadRows()
        found.counters = {table: dict(counts) for table, counts in self._rows.counters.items()}
        found.version = version
        self.memory.take(found, self.batch.heard, self.batch.now)

    def apply(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self.memory.apply(step)
            self.batch.steps.append(step)

    def go_on_with(self, steps: Iterable[Step], told: views.DecisionMade | None) -> None:
        """In place of the steps that came of it, which nobody can decide again."""
        for step in steps:
            self.memory.apply(step)
        self.batch.steps += [Step()] * (told.steps if told is not None else 0)

    def answered(self, refused: Sequence[int]) -> None:
        """The store took all but these steps: where several write a row, it is as the last of them that was taken
        says."""
        batch = self.batch
        for step in (batch.steps[place] for place in range(batch.answered, len(batch.steps)) if place not in refused):
            for write in _puts(step):
                if write.value is not None and write.table.startswith(FOLLOWED):
                    self._rows.written[write.table, write.key] = (write.rev, write.value)
        batch.answered = len(batch.steps)
        for place in refused:
            self.memory.refused(batch.steps[place])

    def refused_step(self, entry: views.StepRefused) -> None:
        """Up to 0.2.0."""
        for step in self.batch.steps:
            if any((write.key, write.rev) == (entry.job, entry.rev) for write in _puts(step)):
                self.memory.refused(step)


def _puts(step: Step) -> Iterator[Put]:
    return (write for write in step.writes if isinstance(write, Put))
