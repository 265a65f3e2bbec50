"""What the owner changes of a job: it is held, or let go again; it gets another manifest. Pure."""

import msgspec

from fairway.domain.attempts.retry import next_attempt
from fairway.domain.events import JobRows, Teller, aside
from fairway.domain.job import STARTED, Job, State
from fairway.domain.preemption.open_claim import withdraw
from fairway.domain.quota.assignment import Assignment, assigned
from fairway.queue.order import QueueOrder
from fairway.queue.view import SERVICE
from fairway.queue.wake_ups import Changes, Free, QueueChange, turn_of
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

# It may overtake the admission of its job, its way into a queue, or the removal of its last attempt: it is looked at
# again after this long (ms). Of a job that is on its way into a queue without end, else for about ten seconds.
_AGAIN_MS = 500
_TRIES = 20


def too_soon(view: JobRows, message: wire.HoldJob | wire.Revised, delivered: int) -> int | None:
    """After how many ms it is to be looked at again. Before its admission is in the record nothing is said of a job."""
    job = view.jobs.get(message.job)
    if job is not None and job.state is State.ADMITTED:
        return _AGAIN_MS
    gone = job is None or (isinstance(message, wire.Revised) and bool(job.removing) and not job.cancelling)
    return _AGAIN_MS if gone and delivered < _TRIES else None


def hold(turn: QueueOrder, message: wire.HoldJob) -> Changes:
    """One that waits stays where it is, and those behind it go past it. One that is in a cluster comes back; one on its
    way there, when it has its room (`send_back`)."""
    job = turn.view.jobs.get(message.job)
    if job is None or job.ended or job.cancelling or job.held == message.held:
        return ()
    teller = withdraw(turn.teller(job), Reason(Code.CLAIM_WITHDRAWN, "held by its owner"))
    teller.say(wire.Held, held=message.held)
    if job.state is State.QUEUED:
        return QueueChange(Free.JOB, "hold", entry=turn.change(teller)), *turn_of(turn, job.queue, "hold")
    if teller.job is not None and _comes_back(teller.job):
        _suspended(teller)
    turn.steps.append(teller.step())
    return ()


def send_back(turn: QueueOrder, job: Job) -> None:
    """It was held on its way, or while an earlier attempt was removed."""
    if _comes_back(job):
        turn.steps.append(_suspended(turn.teller(job)).step())


def _comes_back(job: Job) -> bool:
    """Of a job one attempt at a time is removed."""
    return job.held and not job.removing and not job.cancelling and job.state in (State.RESERVED, *STARTED)


def _suspended(teller: Teller) -> Teller:
    return next_attempt(teller, wire.Lost, Reason(Code.SUSPENDED, "suspended by its owner"))


def revise(turn: QueueOrder, message: wire.Revised) -> Changes:
    """One that waits takes over the manifest, with the queue and the leaf that follow from it, and is tried: what was
    found for it before says nothing any more."""
    job = turn.view.jobs.get(message.job)
    if job is None or job.spec is None or job.spec.manifest == message.spec.manifest:
        return ()
    found = _waits(job) or assigned(
        turn.view.tree, turn.view.tenancy(job.tenant), msgspec.structs.replace(job, spec=message.spec)
    )
    if not isinstance(found, Assignment):
        digest = message.spec.manifest.sha256
        said = wire.Unchanged(job=job.id, tenant=job.tenant, at=turn.now, cause=turn.heard.id, why=found, digest=digest)
        turn.steps.append(aside(SERVICE, turn.heard, said))
        return ()
    teller = withdraw(turn.teller(job), Reason(Code.CLAIM_WITHDRAWN, "its owner changed it"))
    teller.say(wire.Amended, spec=message.spec, queue=found.queue, leaf=found.leaf)
    return QueueChange(Free.JOB, "revised", entry=turn.change(teller)), *turn_of(turn, job.queue, "revised")


def _waits(job: Job) -> Reason | None:
    """Why it takes over nothing; None: it waits, and nothing of it is in a cluster."""
    if job.ended or job.cancelling:
        return Reason(Code.NOT_CHANGEABLE, "the job has ended, or is being cancelled", remedy="submit it anew")
    if job.state is not State.QUEUED:
        text = f"attempt {job.attempt} was let go before the change came, and the job is {job.state}"
        return Reason(Code.BEING_STARTED, text, remedy="wait until it has started")
    if job.removing:
        text = f"attempt {job.recalled} is still being removed in {job.removing}"
        return Reason(Code.WAITING_FOR_REMOVAL, text, remedy="it is asked for again when that is gone")
    return None
