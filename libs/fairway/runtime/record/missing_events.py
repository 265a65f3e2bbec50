"""An event whose predecessor was never said: its service committed it, and the store was lost before it was said.

Others may have acted upon the row by then. What they said proves that the job had come so far; passed over, it would be
sent on its way once more, and run twice. So the job is taken to where such an event can follow.
"""

from typing import TypeGuard

import msgspec

from fairway.domain.attempts.attempt import Attempt
from fairway.domain.fold import fold
from fairway.domain.job import MOVES, STARTED, Job, State
from fairway.wire import jobs as wire
from fairway.wire.jobs import JobMessage

# What is said of a waiting job, and not where it waits.
_OF_WAITING = (wire.Blocked, wire.Amended, wire.Recall, wire.Claimed, wire.Nominated, wire.Unclaimed)
_InCluster = wire.Reserved | wire.Dispatched | wire.Running | wire.Succeeded | wire.Failed | wire.Lost | wire.Amended


def over_gap(job: Job, message: JobMessage) -> Job:
    """The job after `message`, as far as it can be known. IllegalMove for what begins a job, or is no event."""
    if job.state is State.ADMITTED and isinstance(message, _OF_WAITING) and not _in_cluster(message):
        # quota was not heard, and so it says again in which queue it is, and who pays for it.
        waiting = fold(msgspec.structs.replace(job, state=State.QUEUED), message)
        return msgspec.structs.replace(waiting, state=State.ADMITTED)
    allowed = _allowed(message)
    state = job.state if job.state in allowed or not allowed else _likeliest(allowed)
    changes: dict[str, object] = {"state": state, "attempt": max(job.attempt, message.attempt)}
    if isinstance(message, wire.Dequeued):
        changes |= {"leaf": job.leaf or message.path, "enqueued_at": job.enqueued_at or message.at}
        own = job.spec.queue if job.spec else ""
        # As quota names it: the job's own, or that of its leaf.
        changes["queue"] = job.queue or own or (message.path[-1].rpartition("/")[2] if message.path else "default")
    if _in_cluster(message):
        changes["cluster"] = message.cluster
        known = bool(job.attempts) and job.attempts[-1].number == message.attempt
        if not known and not isinstance(message, wire.Reserved):
            begun = Attempt(message.attempt, message.cluster, job.slots, message.at)
            changes["attempts"] = (*job.attempts, begun)
    return fold(msgspec.structs.replace(job, **changes), message)


def _in_cluster(message: JobMessage) -> TypeGuard[_InCluster]:
    return isinstance(message, _InCluster) and (bool(message.cluster) or not isinstance(message, wire.Amended))


def _allowed(message: JobMessage) -> tuple[State, ...]:
    """The states that it may follow: a job is amended where it waits, or in the cluster that is named."""
    if isinstance(message, wire.Amended):
        return STARTED if message.cluster else (State.QUEUED,)
    return MOVES.get(type(message), ((), None))[0]


def _likeliest(allowed: tuple[State, ...]) -> State:
    """Where most of what may follow a state follows it from: the first way that is not the beginning of the job."""
    return next((one for one in reversed(allowed) if one is not State.ADMITTED), allowed[0])
