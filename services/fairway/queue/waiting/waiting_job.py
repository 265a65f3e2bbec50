"""One waiting job: what it asks for, and what it waits for. Made from its row alone."""

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from fairway.domain.attempts.cluster_avoidance import avoided
from fairway.domain.batch_resources import on_batch, on_normal
from fairway.domain.events import message_id
from fairway.domain.job import Job
from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.charge import request
from fairway.domain.recorded_verdicts import reopening
from fairway.domain.resources import Resources, add
from fairway.queue.metrics.counted_line import Place
from fairway.wire.reasons import HOPELESS, Code, Reason
from fairway.wire.spec import JobSpec
from fairway.wire.workload import Workload

_encode = msgspec.json.Encoder().encode

QUOTA = "quota"
ROOM = "room"
BATCH_ROOM = "batch room"
REMOVAL = "removal"
NOTHING_YET = ""
HELD = "held"
# No room that is freed in a cluster of the fleet helps these.
_NO_ROOM = (Code.WAITING_FOR_ROOM, *HOPELESS)


class WaitingJob(Struct):
    """A waiting job, and the `spec` that it would go with. `lacks` is what it waits for; `key` groups the jobs that one
    answer serves: those blocked at a quota node that ask the same, those of the same shape that found no room. `avoid`
    are the clusters that it avoids, and until when. `batch` is the same job on batch resources, where it prefers those:
    whatever it lacks, it goes as soon as there is room for that. `by_room` is the same one by the room that it needs,
    once somebody asked (`for_room`)."""

    job: Job
    place: Place
    spec: JobSpec
    request: Resources
    lacks: str
    key: tuple[str, str]
    least: tuple[Resources, Resources]
    avoid: dict[str, int]
    batch: "WaitingJob | None" = None
    by_room: "WaitingJob | None" = None


def policy_of(job: Job) -> str:
    return job.spec.policy if job.spec else ""


def place_of(job: Job, queue: QueueSpec) -> Place:
    """The priority of its queue first, then its own, then the first enqueue time, which attempts do not change, then
    the id."""
    priority = job.spec.priority if job.spec and not queue.by_time else 0
    return (-queue.priority, -priority, job.enqueued_at, job.id)


def entry_of(job: Job, place: Place) -> WaitingJob:
    spec = job.spec
    assert spec is not None, "a queued job was admitted"
    if not spec.workload.batch_first:
        return _entry(job, place, spec, lacks_of(job))
    entry = _entry(job, place, _with(spec, on_normal(spec.workload)), lacks_of(job))
    entry.batch = _entry(job, place, _with(spec, on_batch(spec.workload)), BATCH_ROOM)
    return entry


def _with(spec: JobSpec, work: Workload) -> JobSpec:
    """The same one where it says so already."""
    return spec if work == spec.workload else replace(spec, workload=work)


def _entry(job: Job, place: Place, spec: JobSpec, lacks: str) -> WaitingJob:
    work = spec.workload
    asks = request(work)
    avoid = avoided(job.avoid, job.attempts, work)
    if lacks == QUOTA:
        key = (quota_told(job), message_id(sorted(asks.items()), job.leaf))
        return WaitingJob(job, place, spec, asks, lacks, key, ({}, {}), avoid)
    if lacks in (ROOM, BATCH_ROOM):
        return WaitingJob(job, place, spec, asks, lacks, ("", shape_of(spec, avoid)), least(work), avoid)
    return WaitingJob(job, place, spec, asks, lacks, ("", ""), ({}, {}), avoid)


def for_room(entry: WaitingJob) -> WaitingJob:
    """The same job, whatever it lacks, by the room that it needs."""
    if entry.lacks == ROOM:
        return entry
    if entry.by_room is None:
        entry.by_room = _entry(entry.job, entry.place, entry.spec, ROOM)
    return entry.by_room


def room_reason(job: Job) -> Reason | None:
    """What the scheduler has said last, when it had no room for the job."""
    return next((one for one in job.waits_for if one.code in _NO_ROOM), None)


def quota_told(job: Job) -> str:
    """The node of the quota tree that it was told to be full."""
    if job.why is None:
        return ""
    return next((one.field for one in job.waits_for if one.code is Code.WAITING_FOR_QUOTA), "")


def lacks_of(job: Job) -> str:
    """One that was behind others is looked at when its turn comes, whatever its quota was like then."""
    if job.held or job.removing:
        return HELD if job.held else REMOVAL
    codes = [one.code for one in job.waits_for]
    if any(one in _NO_ROOM for one in codes):
        return ROOM
    return QUOTA if Code.WAITING_FOR_QUOTA in codes and Code.BEHIND_HEAD not in codes else NOTHING_YET


def hopeless(job: Job) -> bool:
    """No cluster of the fleet can ever hold it, as the scheduler found last."""
    return lacks_of(job) == ROOM and (room := room_reason(job)) is not None and room.code in HOPELESS


def steps_aside(entry: WaitingJob) -> bool:
    """In a blocking queue it does not stand in the way of those behind it: it is held, its last attempt is still being
    removed, or no cluster of the fleet can ever hold it."""
    return entry.lacks in (HELD, REMOVAL) or hopeless(entry.job)


def retry_at(job: Job) -> int:
    """When the first cluster that is only avoided for a while may be tried again; 0 when there is none.

    The scheduler may have told something else of an avoided cluster, such as stale numbers: freed room does not wake
    the job as long as it avoids it, so the end of that counts as well."""
    lacks_room = lacks_of(job) == ROOM or (job.spec is not None and job.spec.workload.batch_first)
    later = (until for until in job.avoid.values() if lacks_room and until > job.since)
    return min((*reopening(job).values(), *later), default=0)


def shape_of(spec: JobSpec, avoid: dict[str, int]) -> str:
    """Jobs of one shape get the same answer from the scheduler: same pods, same gang, same placement."""
    work = spec.workload
    asks = (work.kind, work.api_version, work.pod_sets, work.gang_minimum, spec.placement, sorted(avoid.items()))
    return message_id(_encode(asks))


def least(work: Workload) -> tuple[Resources, Resources]:
    """What the gang needs in all and what its largest pod needs of each: if a cluster has less, asking is vain."""
    total: Resources = {}
    largest: Resources = {}
    for pods in work.pod_sets:
        if work.gang_minimum >= work.pods:
            total = add(total, pods.requests, pods.count)
        for name, amount in pods.requests.items():
            largest[name] = max(largest.get(name, 0), amount)
    return total, largest if work.gang_minimum >= work.pods else {}
