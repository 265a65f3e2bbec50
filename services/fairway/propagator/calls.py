"""What the propagator asks of a member, and what it is told: the calls of its decisions, as values."""

from msgspec import Struct

from fairway.domain.batch_resources import batch_pod_sets
from fairway.domain.job import Job
from fairway.propagator.held_room import Room, room_of
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.spec import CompanionName

# Hold the room there, apply the job there, change its object in place, tell it when it is deleted, delete it there with
# its room, give back the room alone.
HOLD = "hold"
APPLY = "apply"
ADJUST = "adjust"
NOTICE = "notice"
DELETE = "delete"
RELEASE = "release"
# A cluster that does not answer, or whose pods take their time, is asked again after this long (ms).
AGAIN_MS = 1_000


class Copy(Struct, frozen=True):
    """What the call needs of the job: its kind `Kind.group/version`, where it is, where its manifest lies, and the
    PriorityClass that its pods name, with its value. `tokens`: its pods may have those of their service account.
    `batch` are its pod sets that run on batch resources.
    `uid` is that of the attempt's object, once it is known; `level` that of Pod Security for its namespace. Its pods or
    its policy name `companions`: those of its pods go along unless it goes `alone`, those of its policy
    (`policy_companions`) always; `who` has to have the right to read them. When it is deleted no pod has more than
    `grace` ms (0: as long as it asks for)."""

    kind: str
    namespace: str
    name: str
    manifest: wire.ManifestRef
    hub_uid: str = ""
    room: Room | None = None
    priority_class: str = ""
    priority: int = 0
    tokens: bool = False
    uid: str = ""
    level: str = ""
    companions: bool = False
    alone: bool = False
    who: Actor | None = None
    policy_companions: tuple[CompanionName, ...] = ()
    batch: tuple[str, ...] = ()
    grace: int = 0


class Notice(Struct, frozen=True):
    """The object is deleted `at` that time (ms since 1970)."""

    copy: Copy
    at: int


class Adjustment(Struct, frozen=True):
    """From what the manifest of the copy says to what the one that counts `after` says."""

    copy: Copy
    after: wire.ManifestRef


class Adjusted(Struct, frozen=True):
    """The object says what the manifest `after` says, where it differs from the one `before`."""

    before: wire.ManifestRef
    after: wire.ManifestRef


class Made(Struct, frozen=True):
    """How many of a job's rooms are held in its member, and for how long (ms) no more were; `why` is what the member's
    scheduler says of one that is not, empty while it says nothing."""

    ready: int
    total: int
    idle: int = 0
    why: str = ""


def copy_of(job: Job, attempt: int = 0, manifest: wire.ManifestRef | None = None) -> Copy:
    """Of the present attempt, or of an earlier one; with its manifest of now, or another one."""
    assert job.spec is not None, "a job with an attempt was admitted"
    work = job.spec.workload
    number = attempt or job.attempt
    return Copy(
        work.key,
        work.namespace,
        work.name,
        manifest or job.spec.manifest,
        job.hub_uid,
        room_of(job, number),
        work.priority_class,
        job.spec.priority,
        job.spec.tokens,
        uid=next((one.uid for one in job.attempts if one.number == number), ""),
        level=job.spec.pod_security,
        companions=job.spec.companions,
        alone=job.spec.alone,
        who=job.spec.who,
        policy_companions=job.spec.policy_companions,
        batch=batch_pod_sets(work),
    )
