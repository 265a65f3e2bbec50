"""What a message changes that somebody may wait for: the first thing that the queue decides. Pure."""

from fairway.domain.events import current
from fairway.domain.job import Job, State
from fairway.domain.policy_terms import Changed
from fairway.queue.order import QueueOrder
from fairway.queue.owner_changes import hold, revise, send_back
from fairway.queue.view import SWEEP, Hears, Patience, QueueBegins, Sweep
from fairway.queue.waiting.freed_room import enough
from fairway.queue.waiting.waiting_job import QUOTA, WaitingJob, for_room
from fairway.queue.wake_ups import Changes, Free, QueueChange, turn_of, with_room
from fairway.wire import jobs as wire
from fairway.wire.fleet import Freed
from fairway.wire.reasons import Code

# Sent back from a place in a cluster that the scheduler had counted as taken.
_GIVES_UP_ROOM = (Code.ROOM_TAKEN, Code.CAPACITY_UNKNOWN, Code.CANCELLED)


def changes(turn: QueueOrder, message: Hears) -> Changes:
    match message:
        case wire.Queue():
            return _queued(turn, message)
        case wire.Reserved():
            return _reserved(turn, message)
        case wire.Removed():
            return _removed(turn, message)
        case wire.Succeeded() | wire.Cancelled() | wire.Failed() | wire.Lost():
            return _over(turn, turn.view.jobs.get(message.job))
        case wire.HoldJob():
            return hold(turn, message)
        case wire.Revised():
            return revise(turn, message)
        case wire.Nominated():
            return _of_itself(turn, message, "claim")
        case wire.Unclaimed():
            return *_of_itself(turn, message, "claim"), *_quota_of(turn, message)
        case wire.Cancel() | Patience():
            return ()
    return _of_the_fleet(turn, message)


def _of_itself(turn: QueueOrder, message: wire.JobMessage, by: str) -> Changes:
    entry = turn.view.queued.entries.get(message.job)
    return (QueueChange(Free.JOB, by, entry=entry),) if entry is not None else ()


def _quota_of(turn: QueueOrder, message: wire.Unclaimed) -> Changes:
    """What the claim kept is free for others."""
    job = turn.view.jobs.get(message.job)
    return (QueueChange(Free.QUOTA, "quota", job.leaf),) if job is not None else ()


def _of_the_fleet(turn: QueueOrder, message: Freed | Changed | QueueBegins | Sweep) -> Changes:
    if isinstance(message, Freed):
        free = Free.ROOM if message.free else Free.UNKNOWN_ROOM  # none at all: the cluster is gone
        kept = (QueueChange(Free.JOB, "claim", entry=entry) for entry in _nominated(turn, message))
        return *kept, QueueChange(free, "room", news=message)
    if isinstance(message, Sweep):
        return tuple(QueueChange(free, SWEEP) for free in (Free.QUOTA, Free.LINES, Free.NOTHING))
    if isinstance(message, Changed) and message.policy:
        return (QueueChange(Free.TERMS, "settings", policy=message.policy),)
    by = "begin" if isinstance(message, QueueBegins) else "settings"
    return tuple(QueueChange(free, by) for free in (Free.QUOTA, Free.LINES, Free.UNKNOWN_ROOM, Free.TERMS))


def _nominated(turn: QueueOrder, news: Freed) -> list[WaitingJob]:
    """Those for whom room is kept: where that is free, or where this may be enough before."""
    if not turn.view.claiming:
        return []
    active = turn.active
    named = [name for name in active.claims if active.entries[name].nominated]
    others = [turn.view.queued.entries[name] for name in named if name not in active.ready]
    return with_room(turn) + [entry for entry in others if enough(for_room(entry), news, turn.now)]


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
        groups = turn.view.queued.groups
        if any((QUOTA, node) in groups for node in job.leaf) and turn.full(entry) is None:
            changes.append(QueueChange(Free.QUOTA, "quota", job.leaf, entry.place))
        changes.append(QueueChange(Free.JOB, "enqueue", entry=entry))
    if message.why is not None:
        changes.append(QueueChange(Free.QUOTA, "quota", job.leaf))
        if message.why.code in _GIVES_UP_ROOM or job.id in turn.view.queued.woken:
            changes.append(QueueChange(Free.ROOM, "room"))
    return *changes, *turn_of(turn, job.queue, "enqueue" if message.why is None else "room")


def _reserved(turn: QueueOrder, message: wire.Reserved) -> Changes:
    """Who was let go for freed room has its place: what is left is for those it was preferred to. In a blocking queue
    the next may try."""
    job = turn.view.jobs.get(message.job)
    if job is None:
        return ()
    send_back(turn, job)
    left = (QueueChange(Free.ROOM, "room"),) if job.id in turn.view.queued.woken else ()
    return *left, *turn_of(turn, job.queue, "reserved")


def _removed(turn: QueueOrder, message: wire.Removed) -> Changes:
    job = turn.view.jobs[message.job]
    if job.state is not State.QUEUED:
        send_back(turn, job)
        return ()
    entry = turn.view.queued.entries[job.id]
    return QueueChange(Free.JOB, "removal", entry=entry), *turn_of(turn, job.queue, "removal")


def _over(turn: QueueOrder, job: Job | None) -> Changes:
    """The job had its turn, and may have gone on since: what it was charged is free for others."""
    if job is None or not (job.ended or turn.back):
        return ()
    return QueueChange(Free.QUOTA, "quota", job.leaf), *turn_of(turn, job.queue, "quota")
