"""Decides again: what one process of the scheduler saw, entry by entry, into the same view, for the same `decide`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, structs

from fairway.domain import decision
from fairway.domain.decision import Decision, Heard, Put, Step
from fairway.domain.events import message_id, row_of
from fairway.domain.fold import fold
from fairway.domain.job import IllegalMove, Job
from fairway.domain.recorded_verdicts import scores, verdicts
from fairway.domain.text.decoding import decoder
from fairway.global_scheduler.decide import SERVICE, decide
from fairway.global_scheduler.service import SchedulerView
from fairway.runtime.ports import ReadRows, Row
from fairway.wire import jobs as wire
from fairway.wire import views
from fairway.wire.spec import Found as Written

_message = decoder(wire.Message)
_job = decoder(Job)
_written = decoder(Written)
Event = wire.Placed | wire.Queue
# What the record has of an event: its id as the bus knows it, and when it was decided.
Lookup = Callable[[str, int], Event | None]
Wanted = Callable[[str, int], bool]


class Result(Struct, frozen=True):
    """An event of a decision: as it was `said` (None: the record does not have it), and as it would be said `again`
    (None: it would not). `name` is the recorded one's id, empty when there was none."""

    job: str
    name: str
    at: int
    said: Event | None
    again: Event | None


class _Seen:
    """What the process has told since it told its whole `view`: `found` and `heard` of the look that comes, or is now;
    `taken` are the steps since the last one."""

    def __init__(self, view: SchedulerView, born: int) -> None:
        self.view = view
        self.born = born
        self.found = ReadRows()
        self.freed: Mapping[str, int] = {}
        self.heard: list[Heard[wire.Dequeued]] = []
        self.taken: dict[tuple[str, int], Step] = {}

    def read(self, row: views.ViewRow) -> None:
        found = Row(row.rev, row.data) if row.data is not None else None
        if row.table != decision.JOBS:
            self.found.changes.append((row.table, row.key, found))
        elif found is not None:
            self.found.rows[row.table, row.key] = found

    def assume(self, entry: views.Assumed) -> None:
        job = _job(entry.data)
        self.view.apply(Step((Put(decision.JOBS, job.id, job, job.rev),)))

    def look(self, entry: views.Look) -> None:
        self.freed = self.freed if entry.freed is None else entry.freed
        found = self.found
        self.found = ReadRows()
        found.counters = {decision.FREED: dict(self.freed)}
        found.version = entry.version
        self.heard = [Heard(one.id, _message(one.data), one.sequence, one.delivered) for one in entry.heard]
        self.taken = {}
        self.view.refresh(found, self.heard, entry.now)

    def refuse(self, entry: views.StepRefused) -> None:
        step = self.taken.pop((entry.job, entry.rev), None)
        if step is not None:
            self.view.refused(step)

    def apply(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self.view.apply(step)
            for write in step.writes:
                if isinstance(write, Put) and write.table == decision.JOBS:
                    self.taken[write.key, write.rev] = step


class Redecider:
    """One process of the scheduler. `wanted` says of which job and time decisions are compared; all others are taken as
    they were said. `gaps` are those that the process told of. Tests decide by another function than `decide`."""

    def __init__(self, lookup: Lookup, wanted: Wanted, again: Callable[..., Decision] = decide) -> None:
        self._lookup = lookup
        self._wanted = wanted
        self._again = again
        self._number = 0
        self.gaps: list[views.Missing] = []
        # Nothing can be decided before the whole view is told, or told again.
        self._seen: _Seen | None = None

    def take(self, piece: views.Piece) -> Iterator[Result]:
        """Of every decision in it."""
        if piece.number != self._number + 1:
            self._seen = None
        self._number = piece.number
        for entry in views.unpacked(piece):
            match entry:
                case views.Whole():
                    self._seen = _Seen(SchedulerView(), entry.born)
                case views.Missing():
                    self.gaps.append(entry)
                    self._seen = None
                case _ if self._seen is not None:
                    yield from self._follow(self._seen, entry)

    def _follow(self, seen: _Seen, entry: views.Entry) -> Iterator[Result]:
        match entry:
            case views.ViewRow():
                seen.read(entry)
            case views.Assumed():
                seen.assume(entry)
            case views.Look():
                seen.look(entry)
            case views.Decided():
                yield from self._decided(seen, entry)
            case views.StepRefused():
                seen.refuse(entry)

    def _decided(self, seen: _Seen, entry: views.Decided) -> Iterator[Result]:
        heard = seen.heard[entry.heard]
        view = seen.view
        job = heard.message.job
        names = {rev: f"{message_id(SERVICE, heard.id, job, rev)}-{seen.born}" for rev in entry.revs}
        said = {rev: event for rev, name in names.items() if (event := self._lookup(name, entry.now)) is not None}
        if said and not self._wanted(job, entry.now):
            seen.apply([_step_of(view, event) for event in said.values()])
            return
        steps = view.make_up(heard, self._again(view, heard, entry.now), entry.now).steps
        messages = (say.message for step in steps for say in step.events)
        now = {one.rev: one for one in messages if isinstance(one, Event)}
        same = True
        for rev in sorted({*now, *names}):
            result = Result(job, names.get(rev, ""), entry.now, said.get(rev), now.get(rev))
            same &= not (result.said and differences(result.said, result.again))
            yield result
        # What follows was decided upon what was said, whatever would be said now.
        seen.apply(steps if same else [_step_of(view, event) for event in said.values()])


def _step_of(view: SchedulerView, event: Event) -> Step:
    """What a recorded event did to the view."""
    try:
        job = row_of(fold(view.jobs.get(event.job), event))
    except IllegalMove:
        return Step()
    return Step((Put(decision.JOBS, job.id, job, job.rev),))


def differences(said: Event | None, again: Event | None) -> dict[str, tuple[Any, Any]]:
    """Fields by name, where they are not the same: as recorded, and as decided again."""
    if said is not None and again is not None and _same(said, again):
        return {}
    before = _fields(said)
    after = _fields(again)
    names = [*before, *(name for name in after if name not in before)]
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}


def _same(said: Event, again: Event) -> bool:
    """Nearly always, and found at once."""
    bare = (structs.replace(said, epoch=0, found=UNSET), structs.replace(again, epoch=0, found=UNSET))
    return bare[0] == bare[1] and _bytes(said.found) == _bytes(again.found)


def _bytes(found: Raw | UnsetType) -> bytes:
    return bytes(found) if isinstance(found, Raw) else b""


def _fields(event: Event | None) -> dict[str, Any]:
    """Verdicts and scores by cluster, for the order of their columns says nothing. The working set is stamped on the
    event when it goes out, and is not part of the decision."""
    if event is None:
        return {}
    flat = _plain(structs.replace(event, epoch=0, found=UNSET))
    if not isinstance(event.found, Raw):
        return flat
    flat["found.clusters"] = list(_written(event.found).clusters)
    for verdict in verdicts(event):
        flat |= {f"found.{verdict.cluster}.{name}": value for name, value in _plain(verdict).items()}
    for cluster, each in scores(event).items() if isinstance(event, wire.Placed) else ():
        flat |= {f"found.{cluster}.scores.{name}": value for name, value in each.items()}
    return flat


def _plain(one: Struct) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(one)
    return made
