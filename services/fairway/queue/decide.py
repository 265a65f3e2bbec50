"""A job waits, goes, is cancelled. Woken by what it lacks and by nothing else."""

from fairway.domain.attempts.retry import next_attempt
from fairway.domain.decision import NOTHING, Decision, Heard
from fairway.domain.events import Teller, current
from fairway.domain.job import Job, State
from fairway.domain.policy_terms import Changed
from fairway.queue.cancel import cancel, cancelled
from fairway.queue.order import QueueOrder
from fairway.queue.view import SERVICE, SWEEP, QueueBegins, Sweep, View
from fairway.queue.waiting_jobs import retry_at
from fairway.queue.wake_ups import Change, Free, wake
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

_Ends = wire.Succeeded | wire.Cancelled | wire.Failed | wire.Lost
OfJobs = wire.Queue | wire.Reserved | wire.Removed | wire.Cancel | _Ends
Hears = OfJobs | fleet.Freed | Changed | QueueBegins | Sweep
_MORE_MS = 1
# Sent back from a place in a cluster that the scheduler had counted as taken.
_GIVES_UP_ROOM = (Code.ROOM_TAKEN, Code.CAPACITY_UNKNOWN, Code.CANCELLED)
_Changes = tuple[Change, ...]


def decide(view: View, heard: Heard[Hears], now: int) -> Decision:
    """First what the message changed; then everybody who may wait for that, in order."""
    message = heard.message
    if isinstance(message, wire.Cancel):
        return cancel(view, heard, message, now)
    if isinstance(message, wire.Removed) and (ended := _removed(view, heard, message, now)) is not None:
        return ended
    turn = QueueOrder(view, heard, now)
    for change in _changed(turn, message):
        wake(turn, change)
    return Decision(tuple(turn.steps), again_in=_again(turn, message))


def _changed(turn: QueueOrder, message: Hears) -> _Changes:
    match message:
        case wire.Queue():
            return _queued(turn, message)
        case wire.Reserved():
            return _reserved(turn, message)
        case wire.Removed():
            job = turn.view.jobs[message.job]
            entry = turn.view.queued.entries[job.id]
            return Change(Free.JOB, "removal", entry=entry), Change(Free.TURN, "removal", queue=job.queue)
        case wire.Succeeded() | wire.Cancelled() | wire.Failed() | wire.Lost():
            return _over(turn, turn.view.jobs.get(message.job))
        case fleet.Freed():
            return (Change(Free.ROOM, "room", news=message),)
        case Sweep():
            return Change(Free.QUOTA, SWEEP), Change(Free.LINES, SWEEP)
        case Changed() if message.policy:
            return (Change(Free.TERMS, "settings", policy=message.policy),)
    by = "begin" if isinstance(message, QueueBegins) else "settings"
    return tuple(Change(free, by) for free in (Free.QUOTA, Free.LINES, Free.UNKNOWN_ROOM, Free.TERMS))


def _queued(turn: QueueOrder, message: wire.Queue) -> _Changes:
    """A job that came, or came back: those before it first, where there is quota for it. If a max was raised a moment
    ago that is theirs, and the word of it may still be on its way. What it was charged, and the room it was let go for,
    are free for others."""
    job = current(turn.view, message, State.QUEUED)
    if job is None:
        return _over(turn, turn.view.jobs.get(message.job))
    changes = []
    entry = turn.view.queued.entries[job.id]
    if job.cancelling and not job.removing:
        turn.end(job)
    else:
        if turn.has_quota(entry):
            changes.append(Change(Free.QUOTA, "quota", job.leaf, entry.place))
        changes.append(Change(Free.JOB, "enqueue", entry=entry))
    if message.why is not None:
        changes.append(Change(Free.QUOTA, "quota", job.leaf))
        if message.why.code in _GIVES_UP_ROOM or job.id in turn.view.queued.woken:
            changes.append(Change(Free.ROOM, "room"))
    return *changes, Change(Free.TURN, "enqueue" if message.why is None else "room", queue=job.queue)


def _reserved(turn: QueueOrder, message: wire.Reserved) -> _Changes:
    """Who was let go for freed room has its place: what is left is for those it was preferred to. In a blocking queue
    the next may try."""
    job = turn.view.jobs.get(message.job)
    if job is None:
        return ()
    left = (Change(Free.ROOM, "room"),) if job.id in turn.view.queued.woken else ()
    return *left, Change(Free.TURN, "reserved", queue=job.queue)


def _over(turn: QueueOrder, job: Job | None) -> _Changes:
    """The job had its turn, and may have gone on since: what it was charged is free for others."""
    if job is None or not (job.ended or turn.back):
        return ()
    return Change(Free.QUOTA, "quota", job.leaf), Change(Free.TURN, "quota", queue=job.queue)


def _again(turn: QueueOrder, message: Hears) -> int | None:
    """When to look once more: at those who have not followed their policy yet, or when a cluster is avoided no more."""
    if turn.more:
        return _MORE_MS
    job = current(turn.view, message, State.QUEUED) if isinstance(message, wire.Queue) else None
    if job is None or job.id in turn.gone:
        return None
    wait = retry_at(job) - turn.now
    return wait if wait > 0 else None


def _removed(view: View, heard: Heard[object], message: wire.Removed, now: int) -> Decision | None:
    """Nothing is left of an attempt: a cancelled job has ended, one that was not dispatched in time goes back, and one
    that waits may go again (None)."""
    job = view.jobs.get(message.job)
    if job is None or job.removing or job.ended:
        return NOTHING
    if job.cancelling:
        return cancelled(view, heard, job, now)
    if job.state is State.RESERVED and job.attempt == message.attempt:
        why = Reason(Code.RESERVATION_EXPIRED, f"reserved in {job.cluster} and not dispatched in time")
        return Decision((next_attempt(Teller(view, SERVICE, heard, now, job.id), wire.Lost, why).step(),))
    return None if job.state is State.QUEUED else NOTHING
