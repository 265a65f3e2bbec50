"""The load of Kueue's own performance test (test/performance/scheduler, baseline) as Fairway's jobs and quota tree.

A cohort is an inner node, a cluster queue a leaf of it: its nominal quota is the leaf's min, and what it may borrow
besides makes its max. Among themselves the queues of a cohort cannot borrow more than they have: its max is the sum.
"""

from typing import Any

from msgspec import Struct

from fairway.domain.quota.node_terms import MIN_RUNTIME, ORDER, PREEMPT_AFTER, RECLAIM_AFTER
from fairway.lab.bench.pipeline.load import NAME, configured, quota_tree, submission, submitted
from fairway.lab.bench.runs import KueueRun
from fairway.lab.kubesim.pod_behaviour import RUN_FOR
from fairway.runtime.ports import Outgoing

Json = dict[str, Any]
NOMINAL = 20
BORROWING = 100


class Class(Struct, frozen=True):
    """Jobs of one pod. `tenths` of a queue's jobs are of it; one comes every `every_ms`; it runs for `run_ms`."""

    name: str
    tenths: int
    every_ms: int
    cpu: int
    run_ms: int
    priority: int


CLASSES = (
    Class("small", 7, 100, 1, 200, 50),
    Class("medium", 2, 500, 5, 500, 100),
    Class("large", 1, 1_200, 20, 1_000, 200),
)


def quota(run: KueueRun) -> int:
    """CPUs, in all."""
    return run.cohorts * run.queues * NOMINAL


class Arrival(Struct, frozen=True):
    """A job to be: `at` is in seconds from the beginning, `id` what Fairway is going to call it."""

    at: float
    id: str
    kind: Class
    message: Outgoing


def arrivals(run: KueueRun) -> list[Arrival]:
    """All of them, by time: each class of each queue at its own pace, beginning at once."""
    found = [
        _arrival(tenant, kind, f"{kind.name}-{number}", number * kind.every_ms / 1_000)
        for tenant in _tenants(run)
        for kind in CLASSES
        for number in range(run.jobs * kind.tenths // 10)
    ]
    return sorted(found, key=lambda one: (one.at, one.id))


def warmup(run: KueueRun) -> list[Arrival]:
    """A small job for each queue, all at once."""
    return [_arrival(tenant, CLASSES[0], "warmup", 0.0) for tenant in _tenants(run)]


def _arrival(tenant: str, kind: Class, what: str, at: float) -> Arrival:
    job, message = submission(tenant, f"{tenant}-{what}", submitted(tenant, _job(tenant, kind)))
    return Arrival(at, job, kind, message)


def _job(tenant: str, kind: Class) -> Json:
    container = {"name": "work", "image": "example.org/work:1", "resources": {"requests": {"cpu": str(kind.cpu)}}}
    pod = {"restartPolicy": "Never", "priorityClassName": kind.name, "containers": [container]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": NAME, "namespace": tenant, "annotations": {RUN_FOR: f"{kind.run_ms}ms"}},
        "spec": {"parallelism": 1, "completions": 1, "template": {"spec": pod}},
    }


def configuration(run: KueueRun) -> list[Outgoing]:
    """The quota tree, the priority classes, and one policy for all."""
    said = [configured("PriorityClass", "", one.name, {"value": one.priority}) for one in CLASSES]
    policy = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterPropagationPolicy",
        "metadata": {"name": "all"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job"}],
            "placement": {"clusterAffinity": {}},
        },
    }
    said.append(configured("ClusterPropagationPolicy", "", "all", policy))
    amount = {"cpu": quota(run)}
    attributes = {ORDER: run.order} if run.order else {}
    if run.patience:  # as Kueue has it, a job may be evicted as soon as it runs
        attributes |= {RECLAIM_AFTER: run.patience, PREEMPT_AFTER: run.patience, MIN_RUNTIME: "0s"}
    return [*said, quota_tree(_cohorts(run), {"min": amount, "max": amount, "attributes": attributes})]


def _cohorts(run: KueueRun) -> list[Json]:
    cohorts = []
    for cohort in range(run.cohorts):
        amount = {"cpu": run.queues * NOMINAL}
        most = {"cpu": min(NOMINAL + BORROWING, run.queues * NOMINAL)}
        tenants = [_tenant(cohort, queue) for queue in range(run.queues)]
        leaves = [{"name": one, "namespaces": [one], "min": {"cpu": NOMINAL}, "max": most} for one in tenants]
        cohorts.append({"name": f"cohort-{cohort}", "min": amount, "max": amount, "children": leaves})
    return cohorts


def _tenants(run: KueueRun) -> list[str]:
    return [_tenant(cohort, queue) for cohort in range(run.cohorts) for queue in range(run.queues)]


def _tenant(cohort: int, queue: int) -> str:
    return f"queue-{cohort}-{queue}"
