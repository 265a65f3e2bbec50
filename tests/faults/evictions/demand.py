"""A fleet of 72 GPUs that a borrower fills without end, and an owner who asks for his min again and again.

The borrower's jobs end when they are told to: one that succeeded a moment before it was evicted would run once more.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any

from fairway.lab.kubesim.pod_behaviour import PREFIX
from fairway.lab.traces.trace import GPU, TraceJob, manifest, policy
from tests.faults.arena.load import Demand
from tests.faults.arena.scene import Setup

Json = dict[str, Any]
OWNER = "owner"
LENDER = "lender"
LOW = "low"
HIGH = "high"
# Where the owner gets his min back at once, and a priority counts soon after the job of the lower one began.
_QUICK = {"fairway.io/reclaim-after": "500ms", "fairway.io/preempt-after": "1s", "fairway.io/min-runtime": "1s"}
# Pods take so long to go, that there is a time in which claims are open.
_GRACE_S = 1.0
# How long the jobs of the load run at most (s), and those of the owner.
_AN_HOUR_S = 3_600.0
_OWN_RUNS_S = 2.0


class RankedJob(TraceJob, frozen=True):
    """A row with a PriorityClass."""

    priority: str = LOW


def _settings(gpus: int) -> tuple[list[Json], Json]:
    """The lender is sure of three nodes, which are for those of his who are urgent, and the owner of six."""
    leaves = [
        {"name": name, "namespaces": [name], "min": {GPU: least}, "max": {GPU: gpus}}
        for name, least in ((LENDER, 24), (OWNER, 48))
    ]
    root = {"name": "root", "min": {GPU: gpus}, "max": {GPU: gpus}, "attributes": _QUICK, "children": leaves}
    tree = {
        "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
        "kind": "ElasticQuotaTree",
        "metadata": {"name": "evictions", "namespace": "kube-system"},
        "spec": {"root": root},
    }
    classes = [_priority_class(name, value) for name, value in ((LOW, 100), (HIGH, 1000))]
    return [*classes, policy(LENDER), policy(OWNER)], tree


def _priority_class(name: str, value: int) -> Json:
    meta = {"name": name, "namespace": ""}
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": meta, "value": value}


def _rows() -> Iterator[TraceJob]:
    for number in count():
        yield RankedJob(f"job-{number}", LENDER, 0.0, _AN_HOUR_S, 1, {"cpu": "1", GPU: "4"})


def _written(row: TraceJob) -> Json:
    made = manifest(row, round(row.seconds * 1000))
    made["metadata"]["annotations"][PREFIX + "stop-after"] = f"{_GRACE_S}s"
    pod = made["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]
    pod["priorityClassName"] = row.priority if isinstance(row, RankedJob) else LOW
    return made


def owned(name: str, pods: int = 2) -> RankedJob:
    """Of whole nodes of the owner."""
    return RankedJob(name, OWNER, 0.0, _OWN_RUNS_S, pods, {"cpu": "1", GPU: "8"})


def urgent(name: str) -> RankedJob:
    """Of the lender, and above all others of his."""
    return RankedJob(name, LENDER, 0.0, _OWN_RUNS_S, 1, {"cpu": "1", GPU: "8"}, priority=HIGH)


# Who takes part in evictions is alone in his process.
GROUPS = (
    ("agent", "watcher"),
    ("admission", "quota"),
    ("queue",),
    ("global-scheduler",),
    ("reserver",),
    ("propagator",),
)
# Always more than there is room for.
BORROWED = Setup(
    groups=GROUPS, a_second=20.0, cancelled=0.0, demand=Demand(_settings, _rows, _written), at_once=30, after=0
)
