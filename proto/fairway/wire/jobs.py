"""The life of a job, as what is said about it on the bus. Read this file first.

All have one head (`envelope.py`). Events are past tense; commands are imperative and change nothing by themselves. Here
is the way to a cluster; what happens there and may change is in `lifecycle.py`, who makes room in `preemption`."""

from msgspec import Raw, field

from fairway.wire.capacity import Slot
from fairway.wire.envelope import Actor, JobMessage, Rebuild
from fairway.wire.lifecycle import (
    Adjust,
    Amended,
    Blocked,
    Cancel,
    Cancelled,
    Dispatched,
    Failed,
    Held,
    HoldJob,
    Lost,
    ManifestsRemoved,
    Recall,
    Removed,
    Revise,
    Revised,
    Running,
    Succeeded,
    Unchanged,
)
from fairway.wire.preemption.claims import Claimed, Evicted, Nominated, Unclaimed
from fairway.wire.reasons import Reason
from fairway.wire.spec import NOTHING, HubRef, JobSpec, ManifestRef, Verdict, Written


class Submitted(JobMessage, frozen=True, kw_only=True, tag="submitted"):
    """A manifest arrived, with policies; `who` asked, through which `source`. If `refused` it only names the job."""

    verb = "submitted"
    manifest: Raw
    policies: tuple[Raw, ...] = ()
    client: str = ""
    source: str = "bus"
    hub: HubRef | None = None
    who: Actor | None = None
    refused: tuple[Reason, ...] = ()


class Admitted(JobMessage, frozen=True, kw_only=True, tag="admitted"):
    """The kind is understood, the gang sized, the one policy found; `spec` changes only by `amended`."""

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
    api_version: str = ""


class Queue(JobMessage, frozen=True, kw_only=True, tag="queue"):
    """Wait your turn. `why` it came back, what was `found` (once `verdicts`), how often room had been `freed` then."""

    verb = "queue"
    queue: str
    leaf: tuple[str, ...] = ()
    enqueued_at: int = 0
    why: Reason | None = None
    verdicts: tuple[Verdict, ...] = ()
    freed: int = 0
    found: Written = NOTHING


class Dequeued(JobMessage, frozen=True, kw_only=True, tag="dequeued"):
    """Its turn. `charge` was added at every node of `path` then. Nobody else goes to this `room`, freed or `kept`."""

    verb = "dequeued"
    path: tuple[str, ...] = ()
    charge: dict[str, int] = field(default_factory=dict)
    woken_by: str = ""  # enqueue, quota, room, reserved, removal, settings, hold, revised, begin, claim, or sweep
    room: str = ""
    kept: bool = False


class Placed(JobMessage, frozen=True, kw_only=True, tag="placed"):
    """The decision record: cluster, node-level proof, what was `found` (once `verdicts`, `scores`), cache version."""

    verb = "placed"
    cluster: str
    slots: tuple[Slot, ...]
    verdicts: tuple[Verdict, ...] = ()
    scores: dict[str, dict[str, int]] = field(default_factory=dict)
    affinity: str = ""
    seen: int = 0
    found: Written = NOTHING


class Reserved(JobMessage, frozen=True, kw_only=True, tag="reserved"):
    """Room is held on these nodes until `expires_at`, or the job's end once dispatched; `hold`: how in the member."""

    verb = "reserved"
    cluster: str
    slots: tuple[Slot, ...]
    expires_at: int
    hold: str = ""


_Way = Submitted | Admitted | Rejected | Queue | Blocked | Amended | Dequeued | Placed | Reserved | Dispatched
_Changes = Revise | Revised | Unchanged | Adjust | HoldJob | Held | ManifestsRemoved
_Ends = Succeeded | Failed | Lost | Evicted | Recall | Removed | Cancel | Cancelled
Message = _Way | Running | _Ends | _Changes | Claimed | Nominated | Unclaimed | Rebuild
Manifested = Submitted | Revise  # what brings a manifest, one of which a `ManifestRef` points at
