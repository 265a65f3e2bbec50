"""Clusters and jobs for the tables: only what a case is about is said."""

from collections.abc import Sequence

from fairway.placement.cluster import ClusterView
from fairway.placement.verdicts.verdict import Context
from fairway.wire.capacity import ClusterInfo, Node, Taint
from fairway.wire.workload import Expression, PodSet, Toleration, Workload

KIND = "PyTorchJob.kubeflow.org/v1"
GPU = "nvidia.com/gpu"
NOW = 1_000_000


def node(name: str, cpu: int = 64_000, gpu: int = 0, labels: dict[str, str] | None = None, **more: object) -> Node:
    """A node with 64 cores and room for 110 pods; `allocatable` in `more` replaces all of that."""
    allocatable = {"cpu": cpu, "memory": 2**38, "pods": 110} | ({GPU: gpu} if gpu else {})
    fields = {"allocatable": allocatable, "labels": labels or {}} | more
    return Node(name, **fields)  # type: ignore[arg-type]  # a case names the fields it sets


def gpus(*free: int) -> list[Node]:
    """One node per number, with 8 GPUs of which so many are free."""
    return [node(f"n{index}", gpu=8, used={GPU: 8 - left}) for index, left in enumerate(free)]


def cluster(nodes: Sequence[Node], name: str = "c", **info: object) -> ClusterView:
    """A cluster that serves PyTorchJobs and reported a second ago."""
    fields = {"kinds": (KIND,), "observed_at": NOW - 1_000} | info
    view = ClusterView(ClusterInfo(name, **fields))  # type: ignore[arg-type]  # a case names the fields it sets
    for one in nodes:
        view.put(one)
    return view


def job(*sets: PodSet, gang: int | None = None) -> Workload:
    """All pods are the gang unless said otherwise."""
    pods = sum(one.count for one in sets)
    return Workload("kubeflow.org/v1", "PyTorchJob", "team", "train", sets, pods if gang is None else gang)


def workers(count: int, gpu: int = 1, name: str = "Worker", cpu: int = 1_000, **where: object) -> PodSet:
    requests = {"cpu": cpu} | ({GPU: gpu} if gpu else {})
    return PodSet(name, count, requests, **where)  # type: ignore[arg-type]  # a case names the fields it sets


def context(**fields: object) -> Context:
    return Context(**({"now": NOW} | fields))  # type: ignore[arg-type]  # a case names the fields it sets


def term(key: str, operator: str, *values: str, field: bool = False) -> tuple[Expression, ...]:
    return (Expression(key, operator, values, field),)


def taint(key: str, effect: str = "NoSchedule", value: str = "") -> Taint:
    return Taint(key, effect, value)


def tolerate(key: str = "", operator: str = "Exists", value: str = "", effect: str = "") -> Toleration:
    return Toleration(key, operator, value, effect)
