"""A job waits, goes, is cancelled. Woken by what it lacks and by nothing else."""

from fairway.domain.attempts.retry import next_attempt
from fairway.domain.decision import NOTHING, Decision, Heard
from fairway.domain.events import Teller, current
from fairway.domain.job import State
from fairway.domain.policy_terms import Changed
from fairway.queue.cancel import cancel, cancelled
from fairway.queue.order import QueueOrder
from fairway.queue.view import SERVICE, SWEEP, QueueBegins, Sweep, View
from fairway.queue.waiting_jobs import retry_at
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

_Ends = wire.Succeeded | wire.Cancelled | wire.Failed | wire.Lost
OfJobs = wire.Queue | wire.Reserved | wire.Removed | wire.Cancel | _Ends
Hears = OfJobs | fleet.Freed | Changed | QueueBegins | Sweep
_MORE_MS = 1
# Sent back from a place in a cluster that the scheduler had counted as taken.
_GIVES_UP_ROOM = (Code.ROOM_TAKEN, Code.CAPACITY_UNKNOWN, Code.CANCELLED)


def decide(view: View, heard: Heard[Hears], now: int) -> Decision:
    message = heard.message
    match message:
        case wire.Queue():
            return _waiting(view, heard, message, now)
        case wire.Reserved():
            return _reserved(view, heard, message, now)
        case wire.Removed():
            return _removed(view, heard, message, now)
        case wire.Cancel():
            return cancel(view, heard, message, now)
        case wire.Succeeded() | wire.Cancelled() | wire.Failed() | wire.Lost():
            return _over(view, heard, message, now)
        case fleet.Freed():
            turn = QueueOrder(view, heard, now, "room")
            turn.serve_room(message) if message.free else turn.serve_anywhere(gone=message.cluster)
            return Decision(tuple(turn.steps))
        case Changed() if message.policy:
            return _followed(QueueOrder(view, heard, now, "settings"), message.policy)
    return _everyone(view, heard, message, now)


def _everyone(view: View, heard: Heard[object], message: fleet.FleetMessage, now: int) -> Decision:
    by = {QueueBegins: "begin", Sweep: SWEEP}.get(type(message), "settings")
    turn = QueueOrder(view, heard, now, by)
    turn.serve_everyone()
    if by == SWEEP:  # it cannot tell forgotten room from room that does not fit
        return Decision(tuple(turn.steps))
    turn.serve_anywhere()
    return _followed(turn)


def _followed(turn: QueueOrder, policy: str = "") -> Decision:
    return Decision(again_in=None if turn.follow(policy) else _MORE_MS, steps=tuple(turn.steps))


def _waiting(view: View, heard: Heard[object], message: wire.Queue, now: int) -> Decision:
    """A job that came, or came back. What it was charged, and the room it was let go for, are free for others."""
    job = current(view, message, State.QUEUED)
    if job is None:
        return _over(view, heard, message, now)
    turn = QueueOrder(view, heard, now, "enqueue")
    if job.cancelling and not job.removing:
        turn.end(Teller(view, SERVICE, heard, now, job.id).say(wire.Cancelled))
    else:
        turn.enter(view.queued.entries[job.id])
    if message.why is not None:
        turn.by = "quota"
        turn.serve_quota(job.leaf)
        turn.by = "room"
        if message.why.code in _GIVES_UP_ROOM or job.id in view.queued.woken:
            turn.serve_room()
    turn.advance(job.queue)
    wait = retry_at(job) - now
    return Decision(tuple(turn.steps), again_in=wait if wait > 0 and job.id not in turn.gone else None)


def _reserved(view: View, heard: Heard[object], message: wire.Reserved, now: int) -> Decision:
    """Who was let go for freed room has its place: what is left is for those it was preferred to. In a blocking queue
    the next may try."""
    job = view.jobs.get(message.job)
    if job is None:
        return NOTHING
    turn = QueueOrder(view, heard, now, "room")
    if job.id in view.queued.woken:
        turn.serve_room()
    turn.by = "reserved"
    turn.advance(job.queue)
    return Decision(tuple(turn.steps))


def _over(view: View, heard: Heard[object], message: wire.JobMessage, now: int) -> Decision:
    """The job had its turn, and may have gone on since: what it was charged is free for others."""
    job = view.jobs.get(message.job)
    turn = QueueOrder(view, heard, now, "quota")
    if job is not None and (job.ended or turn.back):
        turn.serve_quota(job.leaf)
        turn.advance(job.queue)
    return Decision(tuple(turn.steps))


def _removed(view: View, heard: Heard[object], message: wire.Removed, now: int) -> Decision:
    """Nothing is left of an attempt: a cancelled job has ended, any other may go again."""
    job = view.jobs.get(message.job)
    if job is None or job.removing or job.ended:
        return NOTHING
    if job.cancelling:
        return cancelled(view, heard, job, now)
    if job.state is State.RESERVED and job.attempt == message.attempt:
        why = Reason(Code.RESERVATION_EXPIRED, f"reserved in {job.cluster} and not dispatched in time")
        return Decision((next_attempt(Teller(view, SERVICE, heard, now, job.id), wire.Lost, why).step(),))
    turn = QueueOrder(view, heard, now, "removal")
    if job.state is State.QUEUED:
        turn.retry_or_wait(view.queued.entries[job.id])
        turn.advance(job.queue)
    return Decision(tuple(turn.steps))
