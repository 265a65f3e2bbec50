"""What a run leaves behind, when no fault was for long: every job has ended, and nothing of it is left anywhere."""

from collections.abc import Iterator

from msgspec import Raw

from fairway.domain import decision
from fairway.domain.job import CHARGED, MOVES, Job, State
from fairway.domain.text.decoding import decoder
from fairway.domain.working_sets import WorkingSets
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.lab.simulation.idle.left_alone import waits_for_margin
from fairway.runtime.record.folding import Folding
from fairway.wire import jobs as wire
from fairway.wire import views
from fairway.wire.spec import Found as FoundVerdicts

_message = decoder(wire.Message)
_job = decoder(Job)
_found = decoder(FoundVerdicts)
_FOLDED = {"admitted", *(kind.verb for kind in MOVES)}
Found = Iterator[tuple[str, str, str]]


def left_behind(fleet: SimulatedFleet, submitted: dict[str, str]) -> Found:
    """What is wrong with it: the rule, the job (empty: nobody's), a sentence. `submitted` are the jobs by client id."""
    yield from _unfinished(fleet)
    yield from _answers(fleet, submitted)
    yield from _left(fleet)
    yield from _sums(fleet)
    yield from _unlike(fleet)
    yield from _apart(fleet)


def rows(fleet: SimulatedFleet) -> dict[str, Job]:
    return {key: _job(row.data) for key, row in fleet.store.rows.get(decision.JOBS, {}).items()}


def rests(job: Job) -> bool:
    """It ends when its owner lets it go."""
    return job.held and not job.removing


def _unfinished(fleet: SimulatedFleet) -> Found:
    for job in rows(fleet).values():
        if not job.ended and not rests(job) and not waits_for_margin(fleet, job):
            why = job.why.text if job.why else "nothing is said of why"
            yield "liveness", job.id, f"it is {job.state.value}: {why}"
        elif job.removing:
            yield "removal", job.id, f"it ended, and attempt {job.recalled} is still being removed in {job.removing}"


def _answers(fleet: SimulatedFleet, submitted: dict[str, str]) -> Found:
    known = rows(fleet)
    for job in submitted.values():
        if job not in known:
            yield "lost", job, "it was submitted and never answered"


def _left(fleet: SimulatedFleet) -> Found:
    """Invariant 9, for jobs that were deleted or moved: only what ended by itself may stay to be looked at."""
    stays = {(job.id, job.attempt) for job in rows(fleet).values() if job.state in (State.SUCCEEDED, State.FAILED)}
    for member in fleet.members.values():
        for found in member.ours():
            job, attempt = member.whose(found)
            if job and (job, attempt) not in stays:
                yield "left", job, f"attempt {attempt} is left in {member.name}"


def _sums(fleet: SimulatedFleet) -> Found:
    """Nothing is charged, and no room is held, for nobody."""
    known = rows(fleet)
    if not any(job.state in CHARGED for job in known.values()):
        for name, amount in sorted(fleet.store.counters.get(decision.QUOTA, {}).items()):
            if amount:
                yield "quota", "", f"{name} is still charged {amount}"
    for table, held in sorted(fleet.store.rows.items()):
        if table == decision.OWED:
            yield from (("quota", key.partition("/")[0], "its share was given back and is still owed") for key in held)
        if table.startswith("ledger/") or table in (decision.LIVE, decision.NAMES):
            for key in sorted(held):
                job = known.get(key.partition("/")[0])
                if table != decision.NAMES and (job is None or job.ended):
                    yield "held", key.partition("/")[0], f"{table} still has {key}"


def _unlike(fleet: SimulatedFleet) -> Found:
    """Invariant 8: the rows of the jobs are what a rebuild from the whole record would make of them."""
    sets = WorkingSets()
    record = fleet.bus.stored("JOBS")
    for one in record:
        if isinstance(message := _message(one.data), wire.Rebuild):
            sets.hear(message, one.sequence)
    folding = Folding(sets)
    for one in record:
        if one.subject.split(".")[2] in _FOLDED:
            folding.read(one.data, one.sequence, one.subject)
    made = {name: (job.rev, job.state, job.attempt, job.cluster) for name, job in folding.jobs().items()}
    there = {name: (job.rev, job.state, job.attempt, job.cluster) for name, job in rows(fleet).items()}
    for name in sorted(made.keys() | there.keys()):
        if made.get(name) != there.get(name):
            yield "rebuild", name, f"its row is {there.get(name)}, and the record makes {made.get(name)} of it"


def _apart(fleet: SimulatedFleet) -> Found:
    """What an event refers to was stored before it was said, of that job and at that revision."""
    stored = {one.sequence: one for one in fleet.bus.stored("FOUND")}
    for one in fleet.bus.stored("JOBS"):
        message = _message(one.data)
        text = getattr(message, "found", None)
        ref = _found(text) if isinstance(text, Raw) else None
        if ref is None or not ref.at:
            continue
        record = stored.get(ref.at)
        batch = views.found_batch(record.data) if record is not None else None
        if batch is None or record is None or record.stored_at > one.stored_at:
            yield "record", message.job, f"what it refers to at {ref.at} is not there, or came later"
        elif (batch.records[ref.record].job, batch.records[ref.record].rev) != (message.job, message.rev):
            yield "record", message.job, f"what it refers to at {ref.at} is of another decision"
