"""What a message changes that somebody may wait for: the first thing that the queue decides. Pure."""

from enum import Enum

from msgspec import Struct

from fairway.domain.events import current
from fairway.domain.job import Job, State
from fairway.domain.policy_terms import Changed
from fairway.queue.order import QueueOrder
from fairway.queue.view import SWEEP, Hears, QueueBegins, Sweep
from fairway.queue.waiting_jobs import Place, WaitingJob
from fairway.wire import jobs as wire
from fairway.wire.fleet import Freed
from fairway.wire.reasons import Code

# Sent back from a place in a cluster that the scheduler had counted as taken.
_GIVES_UP_ROOM = (Code.ROOM_TAKEN, Code.CAPACITY_UNKNOWN, Code.CANCELLED)


class Free(Enum):
    QUOTA = "quota at these nodes (None: at any); before a place: for those that stand there"
    ROOM = "room in a cluster as it says now, or what is known to be left in all"
    UNKNOWN_ROOM = "room in clusters of which nobody knows what they have now"
    JOB = "the way of a job: it has come, or nothing is left of its last attempt"
    TURN = "the turn in a blocking queue"
    LINES = "whatever those lack that nobody has looked at yet"
    TERMS = "what a policy allows (empty: any policy or namespace)"


class QueueChange(Struct, frozen=True):
    """What may be free now. `by` is the word of the record for it (`Dequeued.woken_by`)."""

    free: Free
    by: str
    leaf: tuple[str, ...] | None = None
    before: Place | None = None
    news: Freed | None = None
    entry: WaitingJob | None = None
    queue: str = ""
    policy: str = ""


Changes = tuple[QueueChange, ...]


def changes(turn: QueueOrder, message: Hears) -> Changes:
    match message:
        case wire.Queue():
            return _queued(turn, message)
        case wire.Reserved():
            return _reserved(turn, message)
        case wire.Removed():
            job = turn.view.jobs[message.job]
            entry = turn.view.queued.entries[job.id]
            return QueueChange(Free.JOB, "removal", entry=entry), *_next(turn, job, "removal")
        case wire.Succeeded() | wire.Cancelled() | wire.Failed() | wire.Lost():
            return _over(turn, turn.view.jobs.get(message.job))
        case Freed():
            return (QueueChange(Free.ROOM, "room", news=message),)
        case Sweep():
            return QueueChange(Free.QUOTA, SWEEP), QueueChange(Free.LINES, SWEEP)
        case Changed() if message.policy:
            return (QueueChange(Free.TERMS, "settings", policy=message.policy),)
    by = "begin" if isinstance(message, QueueBegins) else "settings"
    return tuple(QueueChange(free, by) for free in (Free.QUOTA, Free.LINES, Free.UNKNOWN_ROOM, Free.TERMS))


def _queued(turn: QueueOrder, message: wire.Queue) -> Changes:
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
        if turn.full(entry) is None:
            changes.append(QueueChange(Free.QUOTA, "quota", job.leaf, entry.place))
        changes.append(QueueChange(Free.JOB, "enqueue", entry=entry))
    if message.why is not None:
        changes.append(QueueChange(Free.QUOTA, "quota", job.leaf))
        if message.why.code in _GIVES_UP_ROOM or job.id in turn.view.queued.woken:
            changes.append(QueueChange(Free.ROOM, "room"))
    return *changes, *_next(turn, job, "enqueue" if message.why is None else "room")


def _reserved(turn: QueueOrder, message: wire.Reserved) -> Changes:
    """Who was let go for freed room has its place: what is left is for those it was preferred to. In a blocking queue
    the next may try."""
    job = turn.view.jobs.get(message.job)
    if job is None:
        return ()
    left = (QueueChange(Free.ROOM, "room"),) if job.id in turn.view.queued.woken else ()
    return *left, *_next(turn, job, "reserved")


def _over(turn: QueueOrder, job: Job | None) -> Changes:
    """The job had its turn, and may have gone on since: what it was charged is free for others."""
    if job is None or not (job.ended or turn.back):
        return ()
    return QueueChange(Free.QUOTA, "quota", job.leaf), *_next(turn, job, "quota")


def _next(turn: QueueOrder, job: Job, by: str) -> Changes:
    """The turn of a blocking queue is for the next one; in another queue nobody stands by for it."""
    return (QueueChange(Free.TURN, by, queue=job.queue),) if turn.blocking(job.queue) else ()
