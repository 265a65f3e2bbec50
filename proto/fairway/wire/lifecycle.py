"""What becomes of an attempt in its cluster, how it ends, and how it is taken out again; and what may change for a job
while it waits."""

from fairway.wire.envelope import Actor, JobMessage
from fairway.wire.reasons import Reason
from fairway.wire.spec import JobSpec


class Running(JobMessage, frozen=True, kw_only=True, tag="running"):
    """The gang is up, by the kind's own measure."""

    verb = "running"
    cluster: str
    text: str = ""


class Succeeded(JobMessage, frozen=True, kw_only=True, tag="succeeded"):
    """An end state: the member's object says that it is done."""

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


class Amended(JobMessage, frozen=True, kw_only=True, tag="amended"):
    """Its policy changed on the hub while the job waits: `spec` is as under the policy now. Attempts that were let go
    before run on under what held then."""

    verb = "amended"
    spec: JobSpec


class Cancel(JobMessage, frozen=True, kw_only=True, tag="cancel"):
    """End the job wherever it is; of one that has ended, remove what is left in its cluster. `who` asked, as the
    door that took it says."""

    verb = "cancel"
    who: Actor | None = None


class Cancelled(JobMessage, frozen=True, kw_only=True, tag="cancelled"):
    """An end state: somebody asked for it, and nothing of the job is left anywhere."""

    verb = "cancelled"
    who: str = ""
