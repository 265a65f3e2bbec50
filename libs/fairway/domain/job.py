"""A job and how it moves: the table of states, and the fold that makes a job from what was said about it.

Nothing but `fold` changes a job. Services say events; the row in the store and the rebuild from the record are the
same fold over the same events.
"""

from enum import StrEnum

import msgspec
from msgspec import Struct

from fairway.domain.attempts.attempt import Attempt, newest_with
from fairway.domain.attempts.cluster_avoidance import avoided_for
from fairway.domain.resources import Resources
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot
from fairway.wire.jobs import JobMessage, JobSpec, Verdict
from fairway.wire.reasons import Code, Reason
from fairway.wire.spec import NOTHING, Written


class State(StrEnum):
    ADMITTED = "admitted"
    QUEUED = "queued"
    DEQUEUED = "dequeued"
    PLACED = "placed"
    RESERVED = "reserved"
    DISPATCHED = "dispatched"
    RUNNING = "running"
    RETURNING = "returning"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    REJECTED = "rejected"


ENDED = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED, State.REJECTED})
IN_CLUSTER = frozenset({State.RESERVED, State.DISPATCHED, State.RUNNING, State.RETURNING})
# States in which the job's request is charged to its quota.
CHARGED = frozenset({State.DEQUEUED, State.PLACED}) | IN_CLUSTER


class Job(Struct, frozen=True, omit_defaults=True):
    """A job as its events have made it. `rev` counts them; `entered` is the rev at which `state` was entered.

    `cluster` and `slots` are those of the present attempt; `removing` names the cluster in which an attempt still has
    to vanish before the next one may go, and `recalled` is the number of the last such attempt; `stopped` says why the
    job is being cancelled. `held_until` is when its last reservation expires if it is not dispatched; `refused` is the
    digest of a manifest refused at the door; such a job has no spec, so `kind`, `name` and `hub` stand here.
    `avoid` maps a cluster to the time until which it is avoided; `found` is what sent it back (recorded_verdicts.py).
    """

    id: str
    tenant: str
    state: State
    rev: int
    entered: int
    attempt: int
    at: int
    since: int
    spec: JobSpec | None = None
    queue: str = ""
    leaf: tuple[str, ...] = ()
    enqueued_at: int = 0
    submitted_at: int = 0
    why: Reason | None = None
    verdicts: tuple[Verdict, ...] = ()
    found: Written = NOTHING
    path: tuple[str, ...] = ()
    charge: Resources = {}
    cluster: str = ""
    slots: tuple[Slot, ...] = ()
    removing: str = ""
    recalled: int = 0
    cancelling: bool = False
    stopped: Reason | None = None
    avoid: dict[str, int] = {}
    attempts: tuple[Attempt, ...] = ()
    placed: wire.Placed | None = None
    held_until: int = 0
    refused: str = ""
    kind: str = ""
    name: str = ""
    hub: wire.HubRef | None = None

    @property
    def hub_uid(self) -> str:
        """The uid of the hub's object that it stands for; empty when it did not come from there."""
        hub = self.spec.hub if self.spec else self.hub
        return hub.uid if hub else ""

    @property
    def ended(self) -> bool:
        return self.state in ENDED

    @property
    def charged(self) -> bool:
        return self.state in CHARGED

    @property
    def uid(self) -> str:
        """Of the present attempt's object in its cluster; empty while nobody knows it."""
        last = self.attempts[-1] if self.attempts else None
        return last.uid if last is not None and last.number == self.attempt else ""

    @property
    def key(self) -> str:
        """`<job>/<attempt>`, the name of the present attempt everywhere."""
        return f"{self.id}/{self.attempt}"


class IllegalMove(Exception):
    """A message that may not follow: names the job, its state and the message, so that the story can be looked up."""

    def __init__(self, job: Job | None, message: JobMessage) -> None:
        where = f"is {job.state} (rev {job.rev}, attempt {job.attempt})" if job else "is unknown"
        super().__init__(
            f"job {message.job or '?'} {where} and cannot be {message.verb} (rev {message.rev}); see its story"
        )


_WAITING = (State.ADMITTED, State.DEQUEUED, State.PLACED, State.RETURNING, State.RESERVED)
_STARTED = (State.DISPATCHED, State.RUNNING)
# message -> (states it may follow, state it makes; None: the state stays).
MOVES: dict[type[JobMessage], tuple[tuple[State, ...], State | None]] = {
    wire.Queue: (_WAITING, State.QUEUED),
    wire.Blocked: ((State.QUEUED,), None),
    wire.Amended: ((State.QUEUED,), None),
    wire.Dequeued: ((State.QUEUED,), State.DEQUEUED),
    wire.Placed: ((State.DEQUEUED,), State.PLACED),
    wire.Reserved: ((State.PLACED,), State.RESERVED),
    wire.Dispatched: ((*_STARTED, State.RESERVED), State.DISPATCHED),
    wire.Running: ((State.DISPATCHED,), State.RUNNING),
    wire.Succeeded: (_STARTED, State.SUCCEEDED),
    wire.Failed: ((State.RESERVED, *_STARTED), State.RETURNING),
    wire.Lost: ((State.RESERVED, *_STARTED), State.RETURNING),
    wire.Rejected: ((State.ADMITTED,), State.REJECTED),
    wire.Recall: ((State.QUEUED, State.DEQUEUED, State.PLACED, *IN_CLUSTER, *ENDED), None),
    wire.Removed: (tuple(State), None),
    wire.Cancelled: ((State.QUEUED, State.DISPATCHED, State.RUNNING, State.RESERVED), State.CANCELLED),
}


def born(message: wire.Admitted | wire.Rejected) -> Job:
    """The job that its first event makes."""
    job = Job(
        id=message.job, tenant=message.tenant, state=State.ADMITTED, rev=message.rev, entered=message.rev,
        attempt=message.attempt, at=message.at, since=message.at, submitted_at=message.at,
    )  # fmt: skip
    if isinstance(message, wire.Admitted):
        return msgspec.structs.replace(job, spec=message.spec)
    return msgspec.structs.replace(
        job, state=State.REJECTED, why=message.reasons[0], refused=message.manifest.sha256 if message.manifest else "",
        kind=message.kind, name=message.name, hub=message.hub,
    )  # fmt: skip


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
    changes: dict[str, object] = {"rev": message.rev, "at": message.at, "state": state}
    if state != job.state:
        changes |= {"entered": message.rev, "since": message.at}
    return msgspec.structs.replace(job, **changes, **_effects(job, message))


def _effects(job: Job, message: JobMessage) -> dict[str, object]:
    match message:
        case wire.Queue():
            return _requeued(job, message)
        case wire.Blocked():
            return {"why": message.why}
        case wire.Amended():
            return {"spec": message.spec}
        case wire.Dequeued():
            return {"path": message.path, "charge": message.charge, "why": None, "verdicts": (), "found": NOTHING}
        case wire.Placed():
            return {"cluster": message.cluster, "slots": message.slots, "placed": message}
        case wire.Reserved():
            tried = Attempt(job.attempt, message.cluster, message.slots, message.at, hold=message.hold)
            return {"slots": message.slots, "attempts": (*job.attempts, tried), "held_until": message.expires_at}
        case wire.Dispatched():
            return {"attempts": newest_with(job.attempts, uid=message.uid)}
        case wire.Running():
            return {"attempts": newest_with(job.attempts, running_at=message.at)}
        case wire.Succeeded():
            return {"attempts": newest_with(job.attempts, ended_at=message.at)}
        case wire.Failed() | wire.Lost():
            return _attempt_ended(job, message)
        case wire.Recall():
            return _recalled(job, message)
        case wire.Removed():
            gone = (job.removing, job.recalled) == (message.cluster, message.attempt)
            return {"removing": ""} if gone else {}
        case wire.Rejected():
            return {"why": message.reasons[0]}
        case wire.Cancelled():
            why = Reason(code=Code.CANCELLED, text=f"cancelled by {message.who or 'its owner'}")
            why = job.stopped if job.stopped and not message.who else why
            return {
                "why": why,
                "removing": "",
                "recalled": 0,
                "attempts": newest_with(job.attempts, ended_at=message.at, why=why),
            }
    return {}


def _recalled(job: Job, message: wire.Recall) -> dict[str, object]:
    stop = message.why.code is Code.CANCELLED and not job.ended
    changes: dict[str, object] = {"cancelling": True, "stopped": job.stopped or message.why} if stop else {}
    if message.cluster:
        changes |= {"removing": message.cluster, "recalled": message.attempt}
    return changes


def _requeued(job: Job, message: wire.Queue) -> dict[str, object]:
    return {
        "queue": message.queue, "leaf": message.leaf, "enqueued_at": message.enqueued_at, "attempt": message.attempt,
        "why": message.why, "verdicts": message.verdicts, "found": message.found,
        "path": (), "charge": {}, "cluster": "", "slots": (), "placed": None,
    }  # fmt: skip


def _attempt_ended(job: Job, message: wire.Failed | wire.Lost) -> dict[str, object]:
    cluster, code = message.cluster, message.why.code
    ends = [one.why.code for one in job.attempts if one.cluster == cluster and one.why is not None]
    before = ends.count(code)
    until = message.at + avoided_for(code, job.spec.avoid if job.spec else 0, before)
    return {
        "why": message.why,
        "avoid": {**{name: end for name, end in job.avoid.items() if end > message.at}, cluster: until},
        "attempts": newest_with(job.attempts, ended_at=message.at, why=message.why),
    }
