"""A job waits, goes, is cancelled. Woken by what it lacks and by nothing else."""

from typing import Any

from fairway.domain.decision import NOTHING, Decision, Heard
from fairway.domain.job import Job, State
from fairway.domain.retry import attempt_over
from fairway.domain.tell import Teller, current
from fairway.queue.book import ROOM
from fairway.queue.turn import SERVICE, SWEEP, Turn, View, retry_at
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

# A cancel may overtake the admission of its job; looked at this often (ms) and given up after about half a minute.
_CANCEL_WAIT_MS = 250
_CANCEL_TRIES = 120
# Sent back from a place in a cluster that the scheduler had counted as taken.
_GIVES_UP_ROOM = (Code.ROOM_TAKEN, Code.CAPACITY_UNKNOWN, Code.CANCELLED)


class Begin(fleet.FleetMessage, frozen=True, kw_only=True, tag="begin"):
    """Local: the queue starts on a working set."""


class Sweep(fleet.FleetMessage, frozen=True, kw_only=True, tag="sweep"):
    """Local: look whether anybody was forgotten."""


def decide(view: View, heard: Heard, now: int) -> Decision:
    message: Any = heard.message
    match message:
        case wire.Queue():
            return _waiting(view, heard, now)
        case wire.Reserved():
            return _reserved(view, heard, now)
        case wire.Removed():
            return _removed(view, heard, now)
        case wire.Cancel():
            return _cancel(view, heard, now)
        case wire.Succeeded() | wire.Cancelled() | wire.Failed() | wire.Lost():
            return _ended(view, heard, now)
        case fleet.Freed():
            turn = Turn(view, heard, now, "room")
            turn.serve_room(message)
            return Decision(tuple(turn.steps))
    return _everyone(view, heard, now)


def _everyone(view: View, heard: Heard, now: int) -> Decision:
    by = {Begin: "begin", Sweep: SWEEP}.get(type(heard.message), "settings")
    turn = Turn(view, heard, now, by)
    turn.serve_everyone()
    if by != SWEEP:  # the sweep cannot tell forgotten room from room that does not fit
        turn.serve_anywhere()
    return Decision(tuple(turn.steps))


def _waiting(view: View, heard: Heard, now: int) -> Decision:
    """A job that came, or came back. What it had been charged, and the room it was let go for, are free for others."""
    job = current(view, heard, State.QUEUED)
    if job is None:
        return NOTHING
    turn = Turn(view, heard, now, "enqueue")
    entry = view.book.entries[job.id]
    if job.cancelling and not job.removing:
        turn.end(Teller(view, SERVICE, heard, now).say(wire.Cancelled))
    elif entry.lacks != ROOM or turn.worth(entry):
        turn.attempt(entry)
    why = heard.message.why
    if why is not None:
        turn.by = "quota"
        turn.serve_quota(job.leaf)
        turn.by = "room"
        if why.code in _GIVES_UP_ROOM or job.id in view.book.woken:
            turn.serve_room()
    turn.advance(job.queue)
    wait = retry_at(job) - now
    return Decision(tuple(turn.steps), again_in=wait if wait > 0 and job.id not in turn.gone else None)


def _reserved(view: View, heard: Heard, now: int) -> Decision:
    """Who was let go for freed room has its place: what is left is for those it was preferred to. In a blocking queue
    the next may try."""
    job = view.jobs.get(heard.message.job)
    if job is None:
        return NOTHING
    turn = Turn(view, heard, now, "room")
    if job.id in view.book.woken:
        turn.serve_room()
    turn.by = "reserved"
    turn.advance(job.queue)
    return Decision(tuple(turn.steps))


def _ended(view: View, heard: Heard, now: int) -> Decision:
    job = view.jobs.get(heard.message.job)
    if job is None or not job.ended:
        return NOTHING
    turn = Turn(view, heard, now, "quota")
    turn.serve_quota(job.leaf)
    turn.advance(job.queue)
    return Decision(tuple(turn.steps))


def _removed(view: View, heard: Heard, now: int) -> Decision:
    """Nothing is left of an attempt: a cancelled job has ended, any other may go again."""
    job = view.jobs.get(heard.message.job)
    if job is None or job.removing or job.ended:
        return NOTHING
    if job.cancelling:
        return _cancelled(view, heard, job, now)
    if job.state is State.RESERVED and job.attempt == heard.message.attempt:
        why = Reason(Code.RESERVATION_EXPIRED, f"reserved in {job.cluster} and not dispatched in time")
        return Decision((attempt_over(Teller(view, SERVICE, heard, now), wire.Lost, why).step(),))
    turn = Turn(view, heard, now, "removal")
    if job.state is State.QUEUED:
        turn.attempt(view.book.entries[job.id])
        turn.advance(job.queue)
    return Decision(tuple(turn.steps))


def _cancelled(view: View, heard: Heard, job: Job, now: int) -> Decision:
    if job.state in (State.DEQUEUED, State.PLACED):
        return NOTHING  # whoever has it now sends it back
    return Decision((Teller(view, SERVICE, heard, now, job.id).say(wire.Cancelled).step(),))


def _cancel(view: View, heard: Heard, now: int) -> Decision:
    """Cancels at once what only waits; what is somewhere is recalled first. Of an ended job the remains are removed."""
    job = view.jobs.get(heard.message.job)
    if job is None or job.state is State.ADMITTED:
        return Decision(again_in=_CANCEL_WAIT_MS) if heard.delivered < _CANCEL_TRIES else NOTHING
    if job.cancelling and not job.ended:
        return NOTHING  # asked before: it ends when it is back, and nothing of it is left
    teller = Teller(view, SERVICE, heard, now)
    if job.ended:
        left = job.attempts[-1] if job.attempts and job.state is not State.CANCELLED else None
        if left is None:
            return NOTHING
        why = Reason(Code.CANCELLED, "the job was deleted after its end")
        return Decision((teller.say(wire.Recall, attempt=left.number, cluster=left.cluster, why=why).step(),))
    if job.state is State.QUEUED and not job.removing:
        return Decision((teller.say(wire.Cancelled, who=heard.message.who).step(),))
    why = Reason(Code.CANCELLED, f"cancelled by {heard.message.who or 'its owner'}")
    number = job.attempts[-1].number if job.removing and job.attempts else job.attempt
    cluster = job.removing or job.cluster
    return Decision((teller.say(wire.Recall, attempt=number, cluster=cluster, why=why).step(),))
