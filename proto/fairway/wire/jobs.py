"""The life of a job, as what is said about it on the bus. Read this file first.

Every message is a frozen value with the same head: which job, whose, which attempt, the revision of the job that
it makes (0 for commands, which change nothing by themselves) and when. Events are past tense, commands imperative.
"""

from typing import ClassVar

from msgspec import Raw, Struct

from fairway.wire.capacity import Slot
from fairway.wire.policy import Placement
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import Workload


class JobMessage(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """The head. `at` is in milliseconds since 1970; `cause` is the id of the message that led to this one."""

    job: str = ""
    tenant: str
    attempt: int = 0
    rev: int = 0
    at: int = 0
    cause: str = ""

    verb: ClassVar[str] = ""


class ManifestRef(Struct, frozen=True):
    """Where the manifest lies: the stream sequence of the `submitted` message, with its sha256 and size."""

    sequence: int
    sha256: str
    size: int


class HubRef(Struct, frozen=True, omit_defaults=True):
    """The object on the hub that this job stands for."""

    uid: str
    plural: str = ""


class JobSpec(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What admission understood; it does not change while the job lives. Durations are in milliseconds."""

    workload: Workload
    priority: int = 0
    policy: str
    policy_version: str = ""
    placement: Placement
    attempts: int = 3
    start_timeout: int = 300_000
    avoid: int = 600_000
    queue: str = ""
    labels: dict[str, str] = {}
    manifest: ManifestRef
    hub: HubRef | None = None
    client: str = ""


class Verdict(Struct, frozen=True, omit_defaults=True):
    """What the scheduler found of one cluster, as a code and numbers (see placement.filters.Verdict for their
    meaning); `about` names the label, taint, kind or resource. placement.record puts it into words."""

    cluster: str
    code: Code
    about: str = ""
    numbers: dict[str, int] = {}


class Submitted(JobMessage, frozen=True, kw_only=True, tag="submitted"):
    """A manifest arrived, with the policies that came along; what the hub knows is looked up by admission."""

    verb = "submitted"
    manifest: Raw
    policies: tuple[Raw, ...] = ()
    client: str = ""
    source: str = "bus"
    hub: HubRef | None = None


class Admitted(JobMessage, frozen=True, kw_only=True, tag="admitted"):
    verb = "admitted"
    spec: JobSpec


class Rejected(JobMessage, frozen=True, kw_only=True, tag="rejected"):
    """An end state. `spec` is absent when the manifest could not even be understood."""

    verb = "rejected"
    reasons: tuple[Reason, ...]
    kind: str = ""
    name: str = ""
    client: str = ""
    manifest: ManifestRef | None = None
    hub: HubRef | None = None


class Queue(JobMessage, frozen=True, kw_only=True, tag="queue"):
    """Wait your turn. `why` is empty the first time, else what sent the job back, `verdicts` the proof of it and
    `freed` how often room had been freed anywhere when that was found."""

    verb = "queue"
    queue: str
    leaf: tuple[str, ...] = ()
    enqueued_at: int = 0
    why: Reason | None = None
    verdicts: tuple[Verdict, ...] = ()
    freed: int = 0


class Blocked(JobMessage, frozen=True, kw_only=True, tag="blocked"):
    """The reason for waiting changed. Said once for each change, never once for each look."""

    verb = "blocked"
    why: Reason


class Dequeued(JobMessage, frozen=True, kw_only=True, tag="dequeued"):
    """Its turn. `charge` was added to every node of `path` in the commit that said this; `woken_by` says what let it
    go: enqueue, quota, room, reserved, removal, begin, or sweep (which only ever finds what was missed)."""

    verb = "dequeued"
    path: tuple[str, ...] = ()
    charge: dict[str, int] = {}
    woken_by: str = ""


class Placed(JobMessage, frozen=True, kw_only=True, tag="placed"):
    """The decision record: the chosen cluster, the node-level proof, every cluster's verdict, scores with names,
    and the version of the capacity cache that was looked at."""

    verb = "placed"
    cluster: str
    slots: tuple[Slot, ...]
    verdicts: tuple[Verdict, ...] = ()
    scores: dict[str, dict[str, int]] = {}
    affinity: str = ""
    seen: int = 0


class Reserved(JobMessage, frozen=True, kw_only=True, tag="reserved"):
    """Room is held on these nodes until `expires_at`, or until the job ends once it was dispatched."""

    verb = "reserved"
    cluster: str
    slots: tuple[Slot, ...]
    expires_at: int


class Dispatched(JobMessage, frozen=True, kw_only=True, tag="dispatched"):
    verb = "dispatched"
    cluster: str
    uid: str = ""
    adopted: bool = False


class Running(JobMessage, frozen=True, kw_only=True, tag="running"):
    """The gang is up, by the kind's own measure."""

    verb = "running"
    cluster: str
    text: str = ""


class Succeeded(JobMessage, frozen=True, kw_only=True, tag="succeeded"):
    verb = "succeeded"
    cluster: str
    text: str = ""


class Failed(JobMessage, frozen=True, kw_only=True, tag="failed"):
    """An attempt failed by its own doing; with `final` the job has no attempts left and ends."""

    verb = "failed"
    cluster: str
    why: Reason
    final: bool = False


class Lost(JobMessage, frozen=True, kw_only=True, tag="lost"):
    """An attempt ended by no doing of its own: never started, vanished, could not be applied."""

    verb = "lost"
    cluster: str
    why: Reason
    final: bool = False


class Recall(JobMessage, frozen=True, kw_only=True, tag="recall"):
    """Delete the attempt's object in this cluster and say `removed` when nothing of it is left."""

    verb = "recall"
    cluster: str
    why: Reason


class Removed(JobMessage, frozen=True, kw_only=True, tag="removed"):
    """Nothing of the attempt is left in the cluster, pods included."""

    verb = "removed"
    cluster: str


class Cancel(JobMessage, frozen=True, kw_only=True, tag="cancel"):
    verb = "cancel"
    who: str = ""


class Cancelled(JobMessage, frozen=True, kw_only=True, tag="cancelled"):
    """An end state: somebody asked for it, and nothing of the job is left anywhere."""

    verb = "cancelled"
    who: str = ""


Message = (
    Submitted | Admitted | Rejected | Queue | Blocked | Dequeued | Placed | Reserved | Dispatched | Running
    | Succeeded | Failed | Lost | Recall | Removed | Cancel | Cancelled
)  # fmt: skip
