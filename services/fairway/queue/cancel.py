"""A job is cancelled: at once while it only waits, else after nothing of it is left in a cluster. Pure."""

from fairway.domain.decision import NOTHING, Decision, Heard
from fairway.domain.events import JobRows, Teller
from fairway.domain.job import IN_CLUSTER, Job, State
from fairway.domain.preemption.open_claim import withdraw
from fairway.queue.view import SERVICE
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

# A cancel may overtake the admission of its job, or its way into a queue: it is looked at again after this long (ms).
# Of a job that nobody knows later and later, and it is given up after some fifteen minutes.
_WAIT_MS = 250
_LONGEST_MS = 5_000
_TRIES = 200
_WITHDRAWN = Reason(Code.CLAIM_WITHDRAWN, "the job is cancelled")


def cancelled(view: JobRows, heard: Heard[object], job: Job, now: int) -> Decision:
    if job.state in (State.DEQUEUED, State.PLACED):
        return NOTHING  # whoever has it now sends it back
    teller = withdraw(Teller(view, SERVICE, heard, now, job.id), _WITHDRAWN)
    return Decision((teller.say(wire.Cancelled).step(),))


def cancel(view: JobRows, heard: Heard[object], message: wire.Cancel, now: int) -> Decision:
    """Cancels at once what only waits; what is somewhere is recalled first. Of an ended job the remains are removed.
    What runs now does not wait for a stray of an earlier attempt, which may be where nobody answers for hours."""
    job = view.jobs.get(message.job)
    if job is None or job.state is State.ADMITTED:
        wait = _WAIT_MS if job is not None else min(_WAIT_MS * heard.delivered, _LONGEST_MS)
        return Decision(again_in=wait) if job is not None or heard.delivered < _TRIES else NOTHING
    if job.cancelling and not job.ended:
        return NOTHING  # asked before: it ends when it is back, and nothing of it is left
    teller = Teller(view, SERVICE, heard, now, job.id)
    if job.ended:
        left = job.attempts[-1] if job.attempts and job.state is not State.CANCELLED else None
        if left is None:
            return NOTHING
        why = Reason(Code.CANCELLED, "the job was deleted after its end")
        return Decision((teller.say(wire.Recall, attempt=left.number, cluster=left.cluster, why=why).step(),))
    if job.state is State.QUEUED and not job.removing:
        withdraw(teller, _WITHDRAWN)
        return Decision((teller.say(wire.Cancelled, who=str(message.who)).step(),))
    why = Reason(Code.CANCELLED, f"cancelled by {message.who or 'its owner'}")
    being_removed = job.removing and job.state not in IN_CLUSTER
    number, cluster = (job.recalled, job.removing) if being_removed else (job.attempt, job.cluster)
    return Decision((teller.say(wire.Recall, attempt=number, cluster=cluster, why=why).step(),))
