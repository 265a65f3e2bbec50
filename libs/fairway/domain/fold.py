"""The fold: the job after each message that was said of it, field by field."""

from collections.abc import Callable
from typing import Any

import msgspec

from fairway.domain.attempts.attempt import Attempt, newest_with
from fairway.domain.attempts.cluster_avoidance import avoided_for
from fairway.domain.job import MOVES, IllegalMove, Job, State
from fairway.domain.preemption.claim import Claim
from fairway.wire import jobs as wire
from fairway.wire.jobs import JobMessage
from fairway.wire.reasons import Code, Reason
from fairway.wire.spec import NOTHING

# Fields of the job, by name.
Changes = dict[str, object]


def born(message: wire.Admitted | wire.Rejected) -> Job:
    """The job that its first event makes."""
    job = Job(
        id=message.job,
        tenant=message.tenant,
        state=State.ADMITTED,
        rev=message.rev,
        entered=message.rev,
        attempt=message.attempt,
        at=message.at,
        since=message.at,
        submitted_at=message.at,
    )
    if isinstance(message, wire.Admitted):
        return msgspec.structs.replace(job, spec=message.spec)
    return msgspec.structs.replace(
        job,
        state=State.REJECTED,
        why=message.reasons[0],
        refused=message.manifest.sha256 if message.manifest else "",
        kind=message.kind,
        name=message.name,
        hub=message.hub,
    )


def fold(job: Job | None, message: JobMessage) -> Job:
    """The job after `message`. IllegalMove when the table does not allow it, or when it is of another tenant: nobody
    moves what is not his."""
    if job is None:
        if isinstance(message, wire.Admitted | wire.Rejected):
            return born(message)
        raise IllegalMove(None, message)
    move = MOVES.get(type(message))
    if move is None or job.state not in move[0] or job.tenant != message.tenant:
        raise IllegalMove(job, message)
    state = move[1] or job.state
    if getattr(message, "final", False):
        state = State.FAILED
    elif isinstance(message, wire.Dispatched) and job.state is State.RUNNING:
        state = job.state  # its object was found again, and which one it is had not been known
    changes: Changes = {"rev": message.rev, "at": message.at, "state": state}
    if state != job.state:
        changes |= {"entered": message.rev, "since": message.at}
    effect = _EFFECTS.get(type(message))
    effects = effect(job, message) if effect is not None else {}
    return msgspec.structs.replace(job, **changes, **effects)


def caught_up(job: Job | None, message: wire.JobMessage) -> Job | None:
    """The row, with a message that is ahead of it while the store is being rebuilt."""
    if job is not None and message.rev <= job.rev:
        return job
    try:
        return fold(job, message)
    except IllegalMove:
        return job


def _recalled(job: Job, message: wire.Recall) -> Changes:
    stop = message.why.code is Code.CANCELLED and not job.ended
    changes: Changes = {"cancelling": True, "stopped": job.stopped or message.why} if stop else {}
    if message.cluster:
        changes |= {"removing": message.cluster, "recalled": message.attempt}
    return changes


def _requeued(job: Job, message: wire.Queue) -> Changes:
    return {
        "queue": message.queue,
        "leaf": message.leaf,
        "enqueued_at": message.enqueued_at,
        "attempt": message.attempt,
        "why": message.why,
        "gates": (),
        "verdicts": message.verdicts,
        "found": message.found,
        "path": (),
        "charge": {},
        "cluster": "",
        "slots": (),
        "placed": None,
        "claim": job.claim if message.attempt == job.attempt else None,
    }


def _claimed(job: Job, message: wire.Claimed) -> Changes:
    claim = Claim(
        message.claim,
        causes=message.causes,
        level=message.level,
        guarantor=message.guarantor,
        at=message.at,
        begun=message.at,
        until=message.until,
        short=message.short,
    )
    return {"claim": claim}


def _nominated(job: Job, message: wire.Nominated) -> Changes:
    claim = job.claim or Claim(message.claim)
    claim = msgspec.structs.replace(
        claim,
        open=True,
        at=message.at,
        until=message.until,
        cluster=message.cluster,
        slots=message.slots,
        victims=message.victims,
        evicted=claim.evicted + message.evicted,
    )
    return {"claim": claim}


def _unclaimed(job: Job, message: wire.Unclaimed) -> Changes:
    claim = msgspec.structs.replace(
        job.claim or Claim(message.claim), open=False, cluster="", slots=(), why=message.why, again=message.again
    )
    return {"claim": claim}


def _attempt_ended(job: Job, message: wire.Failed | wire.Lost) -> Changes:
    cluster = message.cluster
    code = message.why.code
    claim = message.claim if isinstance(message, wire.Evicted) else ""
    ends = [one.why.code for one in job.attempts if one.cluster == cluster and one.why is not None]
    before = ends.count(code)
    until = message.at + avoided_for(code, job.spec.avoid if job.spec else 0, before)
    # One that may have either was there on cpu while it avoids the cluster's batch resources, and goes on doing so.
    until = max(until, job.avoid.get(cluster, 0))
    return {
        "why": message.why,
        "avoid": {**{name: end for name, end in job.avoid.items() if end > message.at}, cluster: until},
        "attempts": newest_with(job.attempts, ended_at=message.at, why=message.why, claim=claim),
    }


def _amended(job: Job, message: wire.Amended) -> Changes:
    changes: Changes = {"spec": message.spec}
    if message.queue:
        changes |= {"queue": message.queue, "leaf": message.leaf}
    if job.spec is not None and job.spec.manifest != message.spec.manifest:
        changes["first_manifest"] = job.submitted_as
        if job.state is State.QUEUED:  # what was found for it, was found of the other manifest
            changes |= {"why": None, "gates": (), "verdicts": (), "found": NOTHING}
    return changes


def _dequeued(job: Job, message: wire.Dequeued) -> Changes:
    return {"path": message.path, "charge": message.charge, "why": None, "gates": (), "verdicts": (), "found": NOTHING}


def _placed(job: Job, message: wire.Placed) -> Changes:
    return {"cluster": message.cluster, "slots": message.slots, "placed": message}


def _reserved(job: Job, message: wire.Reserved) -> Changes:
    tried = Attempt(job.attempt, message.cluster, message.slots, message.at, hold=message.hold)
    attempts = (*job.attempts, tried)
    return {"slots": message.slots, "attempts": attempts, "held_until": message.expires_at, "claim": None}


def _removed(job: Job, message: wire.Removed) -> Changes:
    gone = (job.removing, job.recalled) == (message.cluster, message.attempt)
    return {"removing": ""} if gone else {}


def _cancelled(job: Job, message: wire.Cancelled) -> Changes:
    why = Reason(code=Code.CANCELLED, text=f"cancelled by {message.who or 'its owner'}")
    why = job.stopped if job.stopped and not message.who else why
    attempts = newest_with(job.attempts, ended_at=message.at, why=why)
    return {"why": why, "removing": "", "recalled": 0, "attempts": attempts}


# What each message changes of a job beside its state; one that is not here changes nothing else. Each takes
# messages of its key's type; no type of a dictionary can say that.
_EFFECTS: dict[type[JobMessage], Callable[[Job, Any], Changes]] = {
    wire.Queue: _requeued,
    wire.Blocked: lambda job, message: {"why": message.why, "gates": message.gates},
    wire.Amended: _amended,
    wire.Held: lambda job, message: {"held": message.held},
    wire.Dequeued: _dequeued,
    wire.Placed: _placed,
    wire.Reserved: _reserved,
    wire.Dispatched: lambda job, message: {"attempts": newest_with(job.attempts, uid=message.uid)},
    wire.Running: lambda job, message: {"attempts": newest_with(job.attempts, running_at=message.at)},
    wire.Succeeded: lambda job, message: {"attempts": newest_with(job.attempts, ended_at=message.at)},
    wire.Failed: _attempt_ended,
    wire.Lost: _attempt_ended,
    wire.Evicted: _attempt_ended,
    wire.Claimed: _claimed,
    wire.Nominated: _nominated,
    wire.Unclaimed: _unclaimed,
    wire.Recall: _recalled,
    wire.Removed: _removed,
    wire.Rejected: lambda job, message: {"why": message.reasons[0]},
    wire.Cancelled: _cancelled,
}
