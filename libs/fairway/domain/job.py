"""A job and how it moves: the table of states, and the fold that makes a job from what was said about it.

Nothing but `fold` changes a job. Services say events; the row in the store and the rebuild from the record are the
same fold over the same events.
"""

from enum import StrEnum

from msgspec import Struct

from fairway.domain.attempts.attempt import Attempt
from fairway.domain.preemption.claim import Claim
from fairway.domain.resources import Resources
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot
from fairway.wire.jobs import JobMessage, JobSpec, Verdict
from fairway.wire.reasons import Reason
from fairway.wire.spec import NOTHING, ManifestRef, Written


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
# States in which an object of the present attempt is known to be in its cluster.
STARTED = (State.DISPATCHED, State.RUNNING)
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
    `gates` are the reasons to wait by themselves, where `why` names several. `held` by its owner, it is not let go.
    `first_manifest` is the one that was submitted, where another counts now. `claim` is its newest one on room that
    others have, since it waits.
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
    held: bool = False
    first_manifest: ManifestRef | None = None
    gates: tuple[Reason, ...] = ()
    claim: Claim | None = None

    @property
    def waits_for(self) -> tuple[Reason, ...]:
        """Every reason to wait that was recorded last, each by itself."""
        return self.gates or ((self.why,) if self.why else ())

    @property
    def submitted_as(self) -> ManifestRef | None:
        """The manifest that was submitted, whatever counts now."""
        return self.first_manifest or (self.spec.manifest if self.spec else None)

    @property
    def refused_as(self) -> str:
        """The digest of the submission that was refused: at the door, or by the quota after it was understood. Empty
        when none was."""
        if self.state is not State.REJECTED:
            return ""
        return self.submitted_as.sha256 if self.submitted_as else self.refused

    @property
    def asked_anew(self) -> bool:
        """Whether its client may ask for another one under the same id: who edits an object of the hub that was
        refused cannot give it a new one."""
        return self.state is State.REJECTED and bool(self.hub_uid)

    @property
    def hub_uid(self) -> str:
        """The uid of the hub's object that it stands for; empty when it did not come from there."""
        hub = self.spec.hub if self.spec else self.hub
        return hub.uid if hub else ""

    @property
    def open_claim(self) -> Claim | None:
        """The claim that is not over yet."""
        return self.claim if self.claim is not None and self.claim.open else None

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


_COMES_BACK = (State.ADMITTED, State.DEQUEUED, State.PLACED, State.RETURNING, State.RESERVED)
# message -> (states it may follow, state it makes; None: the state stays).
MOVES: dict[type[JobMessage], tuple[tuple[State, ...], State | None]] = {
    wire.Queue: (_COMES_BACK, State.QUEUED),
    wire.Blocked: ((State.QUEUED,), None),
    wire.Amended: ((State.QUEUED, *STARTED), None),
    wire.Held: (tuple(state for state in State if state not in ENDED), None),
    wire.Dequeued: ((State.QUEUED,), State.DEQUEUED),
    wire.Placed: ((State.DEQUEUED,), State.PLACED),
    wire.Reserved: ((State.PLACED,), State.RESERVED),
    wire.Dispatched: ((*STARTED, State.RESERVED), State.DISPATCHED),
    wire.Running: ((State.DISPATCHED,), State.RUNNING),
    wire.Succeeded: (STARTED, State.SUCCEEDED),
    wire.Failed: ((State.RESERVED, *STARTED), State.RETURNING),
    wire.Lost: ((State.RESERVED, *STARTED), State.RETURNING),
    wire.Evicted: ((State.RESERVED, *STARTED), State.RETURNING),
    wire.Claimed: ((State.QUEUED,), None),
    wire.Nominated: ((State.QUEUED,), None),
    wire.Unclaimed: ((State.QUEUED, State.DEQUEUED, State.PLACED), None),
    wire.Rejected: ((State.ADMITTED,), State.REJECTED),
    wire.Recall: ((State.QUEUED, State.DEQUEUED, State.PLACED, *IN_CLUSTER, *ENDED), None),
    wire.Removed: (tuple(State), None),
    wire.Cancelled: ((State.QUEUED, State.DISPATCHED, State.RUNNING, State.RESERVED), State.CANCELLED),
}


def ends(message: JobMessage) -> bool:
    """Whether this message is the end of its job."""
    end = isinstance(message, wire.Rejected | wire.Succeeded | wire.Cancelled)
    return end or bool(getattr(message, "final", False))
