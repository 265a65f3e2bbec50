"""What becomes of an attempt in its cluster, how it ends, and how it is taken out again; and what may change of a job
after it was admitted, beginning with why it waits.

Of a change only `amended` and `held` are part of the job. The others ask for one, pass it on, or say that it was not
taken over.
"""

from typing import Any

from msgspec import Raw, field

from fairway.wire.envelope import Actor, Count, JobMessage, Moment
from fairway.wire.reasons import Reason
from fairway.wire.spec import Companion, HubRef, JobSpec, RemovedManifest


class Dispatched(JobMessage, frozen=True, kw_only=True, tag="dispatched"):
    """The object is applied in the member cluster; `adopted`: it was there already, and ours. Before it went its
    `companions`."""

    verb = "dispatched"
    cluster: str
    uid: str = ""
    adopted: bool = False
    companions: tuple[Companion, ...] = ()


class Running(JobMessage, frozen=True, kw_only=True, tag="running"):
    """The gang is up, by the kind's own measure. Of a job of the hub with the `status` of the member's object."""

    verb = "running"
    cluster: str
    text: str = ""
    status: dict[str, Any] = field(default_factory=dict)


class Succeeded(JobMessage, frozen=True, kw_only=True, tag="succeeded"):
    """An end state: the member's object says that it is done; of a job of the hub, with its `status`."""

    verb = "succeeded"
    cluster: str
    text: str = ""
    status: dict[str, Any] = field(default_factory=dict)


class Failed(JobMessage, frozen=True, kw_only=True, tag="failed"):
    """An attempt failed by its own doing; with `final` the job has no attempts left and ends. Of a job of the hub with
    the `status` of the member's object."""

    verb = "failed"
    cluster: str
    why: Reason
    final: bool = False
    status: dict[str, Any] = field(default_factory=dict)


class Lost(JobMessage, frozen=True, kw_only=True, tag="lost"):
    """An attempt ended by no doing of its own: never started, vanished, could not be applied."""

    verb = "lost"
    cluster: str
    why: Reason
    final: bool = False


class Recall(JobMessage, frozen=True, kw_only=True, tag="recall"):
    """Delete the attempt's object in this cluster and say `removed` when nothing of it is left. Of one that is evicted
    with notice it is deleted no sooner than `delete_at` (0: at once), which its pods are told. No pod has more than
    `grace` ms from its deletion (0: as long as it asks for)."""

    verb = "recall"
    cluster: str
    why: Reason
    delete_at: Moment = 0
    grace: Count = 0


class Removed(JobMessage, frozen=True, kw_only=True, tag="removed"):
    """Nothing of the attempt is left in the cluster, pods included."""

    verb = "removed"
    cluster: str


class Cancel(JobMessage, frozen=True, kw_only=True, tag="cancel"):
    """End the job wherever it is; of one that has ended, remove what is left in its cluster. `who` asked, as the
    door that took it says."""

    verb = "cancel"
    who: Actor | None = None


class Cancelled(JobMessage, frozen=True, kw_only=True, tag="cancelled"):
    """An end state: somebody asked for it, and nothing of the job is left anywhere."""

    verb = "cancelled"
    who: str = ""


class Blocked(JobMessage, frozen=True, kw_only=True, tag="blocked"):
    """The reason for waiting changed. Said once for each change, never once for each look. Of several gates that
    are shut `why` has the code of the first and the sentences of all; `gates` has each by itself."""

    verb = "blocked"
    why: Reason
    gates: tuple[Reason, ...] = ()


class Revise(JobMessage, frozen=True, kw_only=True, tag="revise"):
    """Take over this manifest of a job that is there; the fields are those of `submitted`."""

    verb = "revise"
    manifest: Raw
    policies: tuple[Raw, ...] = ()
    client: str = ""
    source: str
    hub: HubRef | None = None
    who: Actor | None = None


class Revised(JobMessage, frozen=True, kw_only=True, tag="revised"):
    """What admission understood of the new manifest of a job that waits; its reference points at the `revise`."""

    verb = "revised"
    spec: JobSpec


class Unchanged(JobMessage, frozen=True, kw_only=True, tag="unchanged"):
    """The manifest with this sha256 is not taken over, and the job goes on as it was."""

    verb = "unchanged"
    why: Reason
    digest: str


class Adjust(JobMessage, frozen=True, kw_only=True, tag="adjust"):
    """Change the object of that attempt in place, to what `spec` says."""

    verb = "adjust"
    cluster: str
    spec: JobSpec


class Amended(JobMessage, frozen=True, kw_only=True, tag="amended"):
    """`spec` holds from now on: of a job that waits, under its policy as that is now or by another manifest, with its
    `queue` and `leaf` when they are worked out anew; of one whose object was changed in place, in that `cluster`."""

    verb = "amended"
    spec: JobSpec
    queue: str = ""
    leaf: tuple[str, ...] = ()
    cluster: str = ""


class HoldJob(JobMessage, frozen=True, kw_only=True, tag="hold"):
    """Keep the job from running (`held`), or let it go again. `who` asked, as the door that took it says."""

    verb = "hold"
    held: bool
    who: Actor | None = None


class Held(JobMessage, frozen=True, kw_only=True, tag="held"):
    """The job is held, or is so no longer; its state stays."""

    verb = "held"
    held: bool


class ManifestsRemoved(JobMessage, frozen=True, kw_only=True, tag="manifests_removed"):
    """What stays of these messages of an ended job, said before they are deleted; it changes nothing of the job. They
    were kept for `kept` ms after its end. For who goes on with this work: everything that was due `upto` this place is
    gone, and admission had `handled` all that was submitted up to that one."""

    verb = "manifests_removed"
    removed: tuple[RemovedManifest, ...]
    kept: Moment
    upto: Moment = 0
    handled: Moment = 0
