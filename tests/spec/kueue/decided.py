"""Who has to go: the claim by the queue's own decision, and the victims by the scheduler's."""

from collections.abc import Mapping
from typing import NamedTuple

from fairway.domain.fold import fold
from fairway.domain.job import Job
from fairway.domain.quota.tree import QuotaNode, leaves
from fairway.domain.resources import Resources
from fairway.global_scheduler.decide import decide as scheduler
from fairway.placement.fleet import Fleet
from fairway.queue.decide import decide as queue
from fairway.queue.view import Patience
from fairway.wire import jobs as wire
from fairway.wire.capacity import Node, Slot
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code, Reason
from fairway.wire.workload import PodSet, Workload
from tests.spec.builders.lives import T0, Life, S, spec
from tests.spec.builders.views import KIND, Given, cluster, events, of, told
from tests.spec.kueue.trees import amounts

NOW = T0 + 3_600 * S
# What the one who comes waits before anybody looks whom it may evict: longer than any patience.
_WAITED = 120 * S
_SLOTS = (Slot("Worker", "n1", 1),)


class Runs(NamedTuple):
    """A job of one pod: its leaf, its cpus and GiB, and its priority. `leaves`: it was evicted a moment ago."""

    leaf: str
    cpu: float
    priority: int = 0
    memory: int | None = None
    cluster: str = "c1"
    leaves: bool = False

    @property
    def asks(self) -> Resources:
        return {name: amount for name, amount in amounts(self.cpu, self.memory).items() if amount}


class Case(NamedTuple):
    """Who `runs`, the newest first, and who `comes`; `victims` are those who have to go in Kueue. `nodes` are what the
    one of each cluster has (None: there is one cluster, with what the root has)."""

    tree: QuotaNode
    runs: Mapping[str, Runs]
    comes: Runs
    victims: str = ""
    nodes: Mapping[str, Resources] | None = None


def decided(case: Case, spacious: bool) -> set[str]:
    """The names of those that are evicted. In a `spacious` fleet quota alone is short, else room as well."""
    running = [_running(name, at, case) for at, (name, _) in enumerate(reversed(case.runs.items()))]
    comes = _comes("incoming", NOW - _WAITED, case.comes, case.tree)
    view = of(*running, comes, tree=case.tree, usage=_used(running))
    there = Given(jobs=view.jobs, clusters=_clusters(case, running, spacious), freed={})
    (first,) = events(queue(view, told(comes.said[-1][1]), comes.at))
    _hear(view, first)
    if first.verb == "dequeued":
        (answer,) = events(scheduler(there, told(first), comes.at))
        if answer.verb == "placed":
            return set()
        _hear(view, answer)
    asked = events(queue(view, told(Patience(at=NOW)), NOW))
    if not asked:
        return set()
    _hear(view, asked[0])
    (said,) = events(scheduler(there, told(asked[1]), NOW))
    victims = {one.job for one in said.victims} if said.verb == "evict" else set()
    return {name for name in victims if not case.runs[name].leaves}


def _comes(name: str, at: int, job: Runs, tree: QuotaNode) -> Life:
    sets = (PodSet("Worker", 1, job.asks),)
    work = Workload("kubeflow.org/v1", "PyTorchJob", "team-a", name, sets, 1)
    path = next(path for path in leaves(tree) if path[-1].name == job.leaf)
    leaf = tuple(node.path for node in path)
    life = Life(name).then(wire.Admitted, attempt=1, spec=spec(name, workload=work, priority=job.priority))
    life.at = at - S
    return life.then(wire.Queue, queue=job.leaf, leaf=leaf, enqueued_at=at)


def _running(name: str, at: int, case: Case) -> Life:
    """The `at`-th that came."""
    job = case.runs[name]
    life = _comes(name, T0 + at * S, job, case.tree)
    life.then(wire.Dequeued, path=life.now.leaf, charge={**job.asks, "kube-queue/max-jobs": 1})
    life.then(wire.Placed, cluster=job.cluster, slots=_SLOTS)
    life.then(wire.Reserved, cluster=job.cluster, slots=_SLOTS, expires_at=NOW)
    return _leaves(life) if job.leaves else life


def _leaves(life: Life) -> Life:
    """Evicted for another one a minute ago, and its pods are still there."""
    why = Reason(Code.RECLAIMED, "its room is for another one")
    where = life.now.cluster
    leaf = life.now.leaf
    since = NOW - 60 * S - life.at
    life.then(wire.Evicted, after=since, cluster=where, why=why, claim="claim-1", right=Cause.RECLAIM)
    life.then(wire.Recall, cluster=where, why=why)
    return life.then(wire.Queue, attempt=2, queue=leaf[-1], leaf=leaf, enqueued_at=life.at, why=why)


def _used(running: list[Life]) -> dict[str, int]:
    usage: dict[str, int] = {}
    for life in running:
        for node in life.now.leaf:
            for name, amount in life.now.charge.items():
                usage[f"{node}|{name}"] = usage.get(f"{node}|{name}", 0) + amount
    return usage


def _hear(view: Given, said: wire.JobMessage) -> None:
    now: Job = fold(view.jobs[said.job], said)
    view.jobs[said.job] = now
    view.queued.put(now)
    view.active.put(now)


def _clusters(case: Case, running: list[Life], spacious: bool) -> Fleet:
    """One node each; nodes that are given are never larger."""
    found = Fleet({})
    spacious = spacious and case.nodes is None
    for name, has in (case.nodes or {"c1": case.tree.max}).items():
        holds = {f"{one.name}/1": _held(one) for one in running if case.runs[one.name].cluster == name}
        free = {resource: amount * (10 if spacious else 1) for resource, amount in has.items()}
        found[name] = cluster(name, [Node("n1", {**free, "pods": 110}, holds=holds)], NOW, kinds=(KIND,))
    return found


def _held(life: Life) -> Resources:
    assert life.now.spec is not None, "it was admitted"
    return {**life.now.spec.workload.pod_sets[0].requests, "pods": 1}
