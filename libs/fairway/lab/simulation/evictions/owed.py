"""Who waits for what is guaranteed to him, though it is there: it would fit if others gave back what they borrowed.

Found by means of its own, on the rows of the store: where it says that somebody is owed room, there is an answer.
Who is not found may be owed room all the same.
"""

from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct

from fairway.audit.evictions.levels import guarantors
from fairway.audit.evictions.relation import counted
from fairway.domain import decision
from fairway.domain.job import STARTED, Job, State
from fairway.domain.preemption.claim import hold_key
from fairway.domain.preemption.levels import ActiveJob
from fairway.domain.quota.charge import quota_key, request
from fairway.domain.quota.node_terms import preemption_terms
from fairway.domain.quota.tree import QuotaNode, leaf_named
from fairway.domain.resources import Resources
from fairway.lab.simulation.fleet import SimulatedFleet
from fairway.wire.capacity import ClusterInfo, Node
from fairway.wire.reasons import HOPELESS, Code

_node = msgspec.json.Decoder(Node).decode
_info = msgspec.json.Decoder(ClusterInfo).decode
# Why it waits, when it was tried; who was not, or stands behind others, is none of this page's.
_TRIED = (Code.WAITING_FOR_QUOTA, Code.WAITING_FOR_ROOM)


class Owed(Struct, frozen=True):
    """`patience` is in ms."""

    job: Job
    guarantor: str
    cluster: str
    patience: int


def owed(fleet: SimulatedFleet, tree: QuotaNode | None, jobs: Mapping[str, Job]) -> Iterator[Owed]:
    active = {name: one for name, job in jobs.items() if (one := _active(job)) is not None}
    within = guarantors(tree, active.values())
    usage = _used(fleet, jobs, active)
    for name in sorted(within):
        job = jobs[name]
        path = leaf_named(tree, active[name].leaf) if tree is not None else None
        if path is None or not _waits(job) or not _gets_back(path, within[name], usage, active[name].asks):
            continue
        own = hold_key(job.id, job.attempt, job.claim.number if job.claim is not None else 0)
        cluster = _where(fleet, job, {own, *_borrowed(jobs, within, path, usage)})
        if cluster:
            yield Owed(job, within[name], cluster, preemption_terms(path).reclaim_after)


def _used(fleet: SimulatedFleet, jobs: Mapping[str, Job], active: Mapping[str, ActiveJob]) -> dict[str, int]:
    """With what is kept for the claims of waiting jobs."""
    used = dict(fleet.store.counters.get(decision.QUOTA, {}))
    for name, one in active.items():
        if jobs[name].state is State.QUEUED and jobs[name].open_claim is not None:
            for node in jobs[name].leaf:
                for what, amount in one.asks.items():
                    used[quota_key(node, what)] = used.get(quota_key(node, what), 0) + amount
    return used


def _active(job: Job) -> ActiveJob | None:
    if job.spec is None or job.ended or job.state is State.ADMITTED:
        return None
    waits = job.state is State.QUEUED
    if waits and (job.held or job.cancelling or any(one.code in HOPELESS for one in job.waits_for)):
        return None
    asks = request(job.spec.workload) if waits else job.charge
    return ActiveJob(job.id, job.leaf[-1] if job.leaf else "", job.spec.priority, job.enqueued_at, asks)


def _waits(job: Job) -> bool:
    spec = job.spec
    if spec is None or job.state is not State.QUEUED or job.removing or not spec.evicts or not spec.evictable:
        return False
    if job.open_claim is not None:
        return True
    return job.queue != "strict" and {one.code for one in job.waits_for} <= {*_TRIED} and bool(job.waits_for)


def _gets_back(path: tuple[QuotaNode, ...], guarantor: str, usage: Mapping[str, int], asks: Resources) -> bool:
    """Its guarantor stays within its min with it, and no max, nor what others keep back, is in the way."""
    own = {node.path for node in path}
    paths = [node.path for node in _nodes(path[0])]
    for name, amount in asks.items():
        used = {one: usage.get(quota_key(one, name), 0) + amount * (one in own) for one in paths}
        for node in path:
            if node.path == guarantor and used[node.path] > node.min.get(name, used[node.path]):
                return False
            total = counted(node, name, used.__getitem__)
            if total > node.max.get(name, total):
                return False
    return True


def _borrowed(
    jobs: Mapping[str, Job], within: Mapping[str, str], path: tuple[QuotaNode, ...], usage: Mapping[str, int]
) -> set[str]:
    """Attempts on what other leaves have borrowed, taken as long as these are over their min."""
    left = dict(usage)
    own = {node.path for node in path}
    mins = {node.path: node.min for node in _nodes(path[0])}
    taken = set()
    for job in sorted(jobs.values(), key=lambda one: (one.spec.priority if one.spec else 0, one.id)):
        runs = job.state in (State.RESERVED, *STARTED) and not job.removing and not job.cancelling and not job.held
        if not runs or job.id in within or job.spec is None or not job.spec.evictable or job.leaf[-1] in own:
            continue
        sides = [node for node in job.leaf if node not in own]
        over = all(
            any(left.get(quota_key(node, name), 0) > least for name, least in mins.get(node, {}).items())
            for node in sides
        )
        if over:
            taken.add(job.key)
            for node in job.leaf:
                for name, amount in job.charge.items():
                    left[quota_key(node, name)] = left.get(quota_key(node, name), 0) - amount
    return taken


def _nodes(node: QuotaNode) -> Iterator[QuotaNode]:
    yield node
    for child in node.children:
        yield from _nodes(child)


def _where(fleet: SimulatedFleet, job: Job, gone: set[str]) -> str:
    """The first cluster in which it has room when these are gone; empty when there is none."""
    now = fleet.clock.now()
    for name in sorted(fleet.joined):
        row = fleet.store.rows.get(decision.CLUSTERS, {}).get(name)
        if row is None or fleet.joined[name].cordoned or job.avoid.get(name, 0) > now - 10_000:
            continue
        info = _info(row.data)
        if info.cordoned or job.spec is None or job.spec.workload.key not in info.kinds:
            continue
        if _fits(fleet, name, job, gone):
            return name
    return ""


def _fits(fleet: SimulatedFleet, name: str, job: Job, gone: set[str]) -> bool:
    """The largest pods first, each onto the first node with room."""
    assert job.spec is not None, "it was admitted"
    nodes = [_node(row.data) for _, row in sorted(fleet.store.rows.get(decision.nodes(name), {}).items())]
    free = [_left(node, gone) for node in nodes if node.schedulable and not node.taints]
    pods = [one.requests for one in job.spec.workload.pod_sets for _ in range(one.count)]
    for asks in sorted(pods, key=lambda one: sorted(one.items()), reverse=True):
        there = next((left for left in free if all(left.get(what, 0) >= amount for what, amount in asks.items())), None)
        if there is None:
            return False
        for what, amount in asks.items():
            there[what] -= amount
    return True


def _left(node: Node, gone: set[str]) -> Resources:
    left = dict(node.allocatable)
    for what, amount in node.used.items():
        left[what] = left.get(what, 0) - amount
    for key, held in node.holds.items():
        if key not in gone:
            for what, amount in held.items():
                left[what] = left.get(what, 0) - amount
    return left
