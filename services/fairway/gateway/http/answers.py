"""What the gateway answers about jobs, queues, quota and clusters: values, made from rows by pure functions."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from fairway.domain.attempts.eviction_freeze import SILENT_MS
from fairway.domain.job import Job, State
from fairway.domain.queue_policy import QueueSpec
from fairway.domain.reservations import left_on
from fairway.domain.resources import Resources, add
from fairway.explain.waiting import reason
from fairway.wire.asks import QueuePlace
from fairway.wire.capacity import ClusterInfo, Node
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import Workload


class JobRow(Struct, frozen=True):
    """A job in a list. Times are in milliseconds since 1970. Of one that waits `reason` and `text` say what `why` says
    now, else what was recorded last. `who` submitted it, and through which door."""

    id: str
    namespace: str
    state: str
    attempt: int
    submitted_at: int
    since: int
    kind: str = ""
    name: str = ""
    reason: str = ""
    text: str = ""
    queue: str = ""
    priority: int = 0
    attempts: int = 0
    pods: int = 0
    cluster: str = ""
    hub: bool = False
    enqueued_at: int = 0
    who: str = ""


class QueueRow(Struct, frozen=True):
    """`waiting` jobs stand in it, `starting` were let go and are not up yet; `first` waits longest, since `oldest`.
    `by_time`: they stand in the order in which they came, else by priority first. `priority` is that of the queue:
    jobs of the highest come first wherever jobs of several queues wait for the same."""

    name: str
    waiting: int = 0
    starting: int = 0
    running: int = 0
    policy: str = ""
    first: str = ""
    oldest: int = 0
    by_time: bool = False
    priority: int = 0


class ClusterRow(Struct, frozen=True):
    """`used` is what others' pods request, `held` what Fairway's jobs hold or run. `age` in ms since its last report
    (-1: there was none), `stale` when that is too long for new work; a `cordoned` one takes none either. `mode` is push
    or pull, of one that has joined by `fairway join`. `frozen`: no job there is given up, because most of the fleet is
    silent, or was a moment ago. `unconfirmed`: it reports more than it was joined with, and that does not count yet.
    `margin` is left alone of its batch resources, which may become less by themselves."""

    name: str
    age: int
    stale: bool
    nodes: int = 0
    schedulable: int = 0
    kinds: tuple[str, ...] = ()
    kubernetes: str = ""
    labels: dict[str, str] = {}
    allocatable: Resources = {}
    used: Resources = {}
    held: Resources = {}
    free: Resources = {}
    mode: str = ""
    cordoned: bool = False
    unconfirmed: Reason | None = None
    frozen: bool = False
    margin: Resources = {}


class ReasonBody(Struct, frozen=True):
    code: str
    field: str
    text: str
    remedy: str


def bodies(reasons: Iterable[Reason]) -> tuple[ReasonBody, ...]:
    return tuple(ReasonBody(one.code.value, one.field, one.text, one.remedy) for one in reasons)


class PodSetAnswer(Struct, frozen=True):
    """`requests` are of one pod, in base units: millicores of cpu, bytes, pieces."""

    name: str
    count: int
    requests: Resources


def pod_sets(work: Workload) -> tuple[PodSetAnswer, ...]:
    return tuple(PodSetAnswer(one.name, one.count, one.requests) for one in work.pod_sets)


def job_row(job: Job, place: QueuePlace | None = None) -> JobRow:
    """`place`: where it stands in its queue, if that is known."""
    work = job.spec.workload if job.spec else None
    why = reason(job, place) if job.state is State.QUEUED and not job.cancelling else job.why
    return JobRow(
        id=job.id,
        namespace=job.tenant,
        state=job.state.value,
        attempt=job.attempt,
        submitted_at=job.submitted_at,
        since=job.since,
        kind=work.kind if work else job.kind,
        name=work.name if work else job.name,
        reason=why.code.value if why else "",
        text=why.text if why else "",
        queue=job.queue,
        priority=job.spec.priority if job.spec else 0,
        attempts=job.spec.attempts if job.spec else 0,
        pods=work.pods if work else 0,
        cluster=job.cluster,
        hub=bool(job.hub_uid),
        enqueued_at=job.enqueued_at,
        who=str(job.spec.who or "") if job.spec else "",
    )


class Slim(Struct, frozen=True):
    """The part of a job's row that a count of queues needs; decoding only this is several times faster."""

    id: str
    state: str
    queue: str = ""
    enqueued_at: int = 0


_STARTING = frozenset({"dequeued", "placed", "reserved", "dispatched"})


def queue_rows(jobs: Iterable[Slim], queues: Mapping[str, QueueSpec]) -> list[QueueRow]:
    """Every queue that a live job is in or that was configured, by name."""
    counts: dict[str, dict[str, int]] = {name: {} for name in queues}
    oldest: dict[str, tuple[int, str]] = {}
    for job in jobs:
        if not job.queue:
            continue
        kind = "waiting" if job.state == "queued" else "starting" if job.state in _STARTING else job.state
        mine = counts.setdefault(job.queue, {})
        mine[kind] = mine.get(kind, 0) + 1
        if kind == "waiting":
            oldest[job.queue] = min(oldest.get(job.queue, (job.enqueued_at, job.id)), (job.enqueued_at, job.id))
    rows = []
    for name, mine in sorted(counts.items()):
        since, first = oldest.get(name, (0, ""))
        spec = queues.get(name)
        counted = (mine.get("waiting", 0), mine.get("starting", 0), mine.get("running", 0))
        policy, by_time = (spec.policy.value, spec.by_time) if spec else ("", False)
        rows.append(QueueRow(name, *counted, policy, first, since, by_time, spec.priority if spec else 0))
    return rows


def cluster_row(info: ClusterInfo, nodes: Iterable[Node], now: int) -> ClusterRow:
    allocatable: Resources = {}
    used: Resources = {}
    held: Resources = {}
    free: Resources = {}
    margin: Resources = {}
    every = list(nodes)
    for node in every:
        holds: Resources = {}
        for amounts in node.holds.values():
            holds = add(holds, amounts)
        allocatable = add(allocatable, node.allocatable)
        used = add(used, node.used)
        held = add(held, holds)
        margin = add(margin, node.margin)
        if node.schedulable:
            left = left_on(node)
            free = add(free, {name: max(0, left[name]) for name in node.allocatable})
    age = now - info.observed_at if info.observed_at else -1
    return ClusterRow(
        info.name,
        age,
        age < 0 or age > SILENT_MS,
        len(every),
        sum(node.schedulable for node in every),
        info.kinds,
        info.kubernetes,
        info.labels,
        allocatable,
        used,
        held,
        free,
        info.mode,
        info.cordoned,
        _unconfirmed(info),
        margin=margin,
    )


def _unconfirmed(info: ClusterInfo) -> Reason | None:
    if not info.unconfirmed:
        return None
    remedy = f"if it is true, say so: fairway join {info.name} --confirm-capacity"
    return Reason(Code.UNCONFIRMED_CAPACITY, f"{info.name} {info.unconfirmed}", remedy=remedy)
