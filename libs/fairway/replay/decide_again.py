"""Decides again: what one process of a service knew, entry by entry, into the same memory, for the same `decide`."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from fairway.domain import decision
from fairway.domain.decision import NOTHING, Decision, Heard, Put, Step, job_of
from fairway.domain.events import row_of
from fairway.domain.fold import fold
from fairway.domain.job import IllegalMove
from fairway.replay.differences import differences
from fairway.replay.record import RecordReader
from fairway.replay.replayed_memory import Astray, ReplayedMemory, RowDiffers
from fairway.replay.stages import ReplayedStage
from fairway.runtime.record.found_reader import whole
from fairway.runtime.views.decision_made import made_of
from fairway.runtime.views.recorder import WHOLE_MS
from fairway.wire import views
from fairway.wire.envelope import JobMessage
from fairway.wire.reasons import Code, Reason

Fields = dict[str, tuple[Any, Any]]
_ASTRAY = Reason(
    Code.VIEW_NOT_STORED,
    "something that its service knew then is not in the record: a message, or what made a row so",
    remedy="it is known again when the service has told all that it knows, within the hour",
)


class UnsaidEvent(Struct, frozen=True):
    """An event that is said again, and that the record does not have, or has not yet, under this name."""

    name: str
    event: JobMessage


class Redecided(Struct, frozen=True):
    """A decision: what of it differs by field, as recorded and as decided again; whether anything of it was `said`, and
    what has not been found. Of one that was `refused` the store took no step."""

    service: str
    job: str
    at: int
    fields: Fields
    said: bool = False
    refused: bool = False
    unsaid: tuple[UnsaidEvent, ...] = ()


class Redecider:
    """One process of a service. `gaps` are those that it told of, and those in which it could not be followed; `rows`
    those that differ. What is `left_over` was said of a message whose decision does not say it again: if no other
    decision of the same moment does."""

    def __init__(self, stage: ReplayedStage, record: RecordReader) -> None:
        self._stage = stage
        self._record = record
        self._number = 0
        # Nothing can be decided before all is told, or told again.
        self._seen: ReplayedMemory | None = None
        self.gaps: list[views.Missing] = []
        self.rows: list[RowDiffers] = []
        self.left_over: set[tuple[str, int]] = set()

    async def take(self, piece: views.Piece) -> list[Redecided]:
        """Every decision in it."""
        if piece.number != self._number + 1:
            self._seen = None
        self._number = piece.number
        made: list[Redecided] = []
        for entry in views.unpacked(piece):
            match entry:
                case views.Whole():
                    self._seen = ReplayedMemory(self._stage, self._record, entry)
                case views.Missing():
                    self.gaps.append(entry)
                    self._seen = None
                case _ if self._seen is not None:
                    made += await self._followed(self._seen, entry)
        return made

    async def _followed(self, seen: ReplayedMemory, entry: views.Entry) -> list[Redecided]:
        try:
            if isinstance(entry, views.HeardBatch):
                await seen.hear(entry)
            elif isinstance(entry, views.BatchFound):
                await seen.found(entry)
            elif isinstance(entry, views.KnownRow) and entry.table == decision.JOBS:
                await seen.remembered_job(entry)
            else:
                return [*self._follow(seen, entry)]
        except Astray as lost:
            self._seen = None
            self.gaps.append(views.Missing(lost.why or _ASTRAY, seen.batch.now, seen.batch.now + WHOLE_MS, 0))
        finally:
            self.rows += seen.differing
            seen.differing.clear()
        return []

    def _follow(self, seen: ReplayedMemory, entry: views.Entry) -> Iterator[Redecided]:
        match entry:
            case views.ViewRow():
                seen.row(entry)
            case views.KnownRow():
                seen.known_row(entry)
            case views.BatchDecided():
                yield from self._decisions(seen, entry)
            case views.SettingTaken():
                seen.setting(entry)
            case views.RememberedPart():
                seen.recall(entry)
            case _:
                yield from self._earlier(seen, entry)

    def _earlier(self, seen: ReplayedMemory, entry: views.Entry) -> Iterator[Redecided]:
        """Up to 0.2.0."""
        match entry:
            case views.Assumed():
                seen.assume(entry)
            case views.Look():
                seen.look(entry)
            case views.Decided():
                yield from self._decided(seen, entry.heard, entry.now, None, frozenset())
            case views.StepRefused():
                seen.refused_step(entry)

    def _decisions(self, seen: ReplayedMemory, entry: views.BatchDecided) -> Iterator[Redecided]:
        refused = frozenset(entry.refused)
        for at, made in enumerate(entry.made, entry.start):
            if made is not None:
                told = views.DecisionMade(made, (), None) if isinstance(made, int) else made
                yield from self._decided(seen, at, entry.now, told, refused)
        seen.answered(entry.refused)

    def _decided(
        self, seen: ReplayedMemory, at: int, now: int, told: views.DecisionMade | None, refused: frozenset[int]
    ) -> Iterator[Redecided]:
        """`told` is what came of it, as far as its process has written that down."""
        heard = seen.batch.heard[at]
        said = {one.name: one for one in self._record.said(self._stage.service, heard.id, now)}
        vain = told is not None and refused.issuperset(range(len(seen.batch.steps), len(seen.batch.steps) + told.steps))
        if vain:
            said = {}  # it is of another decision on this message, in the same moment
        made, fields = self._again(seen, heard, now, told)
        events = dict(_events(made.steps, (len(seen.batch.steps), refused), seen.born))
        if said.keys() >= events.keys() and events:
            self.left_over.update((name, now) for name in said.keys() - events.keys())
            said = {name: said[name] for name in events}
        for name, one in said.items():
            self._record.take(name, now)
            found = differences(one.whole, events.get(name))
            mark = f"{one.event.verb} {one.event.job}: " if len(said) > 1 else ""
            fields |= {f"{mark}{field}": values for field, values in found.items()}
        unsaid = tuple(UnsaidEvent(name, event) for name, event in events.items() if name not in said)
        if fields:
            # What follows was decided upon what was said, whatever would be said now.
            seen.go_on_with(_steps_of(seen, [one.event for one in said.values()]), told)
        else:
            seen.apply(made.steps)
        if fields or said or made != NOTHING:
            job = job_of(heard) or next(
                (one.job for one in (*(one.event for one in said.values()), *events.values())), ""
            )
            yield Redecided(self._stage.name, job, now, fields, bool(said), vain and bool(made.steps), unsaid)

    def _again(
        self, seen: ReplayedMemory, heard: Heard[Any], now: int, told: views.DecisionMade | None
    ) -> tuple[Decision, Fields]:
        try:
            made = seen.memory.make_up(heard, self._stage.decide(seen.memory, heard, now), now)
        except Exception as error:  # whatever it is: it is what would happen now
            return NOTHING, {"decision": ("made", f"{type(error).__name__}: {error}")}
        return made, _otherwise(told, made) if told is not None else {}


def _otherwise(told: views.DecisionMade, made: Decision) -> Fields:
    """What came of a decision beside its events. A version before this one did not tell whom it asks to evict."""
    again = made_of(made)
    pairs = {name: (getattr(told, name), getattr(again, name)) for name in views.DecisionMade.__struct_fields__}
    if not told.relief:
        del pairs["relief"]
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _events(steps: Sequence[Step], took: tuple[int, frozenset[int]], born: int) -> Iterator[tuple[str, JobMessage]]:
    """Those of jobs by their ids, that the store took; others, and commands, are not compared. `took` has the place of
    the first step, and the places of the refused ones."""
    first, refused = took
    for step in (step for place, step in enumerate(steps, first) if place not in refused):
        for say in step.events:
            if isinstance(say.message, JobMessage) and say.message.rev:
                yield f"{say.id}-{born}", whole(say.message, step.apart)


def _steps_of(seen: ReplayedMemory, said: Iterable[JobMessage]) -> Iterator[Step]:
    """What recorded events did to the memory."""
    jobs = getattr(seen.memory, "jobs", {})
    for event in said:
        try:
            job = row_of(fold(jobs.get(event.job), event))
        except IllegalMove:
            continue
        yield Step((Put(decision.JOBS, job.id, job, job.rev),))
