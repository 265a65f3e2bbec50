"""Jobs that wait, cut so that room for one is room for no other: with more GPUs each size asks for fewer cores.

The clusters are full of strangers' pods as GPU clusters are: every GPU is taken, and half of the cores are free, so
that what is free in sum says little. A cluster has one model of GPU, and each tenant's policy names a model. Tenants
`open-*` have no limit and wait for room. Tenants `full-*` may have eight GPUs; the first job of each has them.
"""

from collections.abc import Iterator
from functools import cache
from itertools import count

import msgspec
from msgspec import Struct

from fairway.lab.bench.pipeline import load
from fairway.lab.bench.pipeline.agents import ReportedNodes
from fairway.runtime.ports import Outgoing
from fairway.wire.capacity import Node

MODELS = 4
# GPUs and cores. Of the last not even a pod of the one before it, which is half of it, finds its cores.
SIZES = ((1, 40), (2, 32), (4, 24), (6, 16), (8, 8), (8, 2))
# What tenants of a full quota ask for, and nobody else: what one of their jobs leaves is room for theirs alone.
OWN = len(SIZES) - 1
SHAPES = MODELS * OWN
_GPU = "nvidia.com/gpu"
_GPUS = 8
_CORES = 96
_GIB = 1 << 30
Submission = tuple[str, Outgoing]


class WaitingSize(Struct, frozen=True):
    """`full` tenants have a quota that one job fills, and two nodes each have the room for it: what the next one waits
    for is the quota alone. What a job leaves is free in its quota some milliseconds before it is in its cluster."""

    clusters: int
    nodes: int
    full: int = 0

    def cluster(self, tenant: int) -> int:
        """Where the room of this tenant of a full quota is."""
        return tenant % self.clusters


def ground(size: WaitingSize) -> ReportedNodes:
    clusters = {cluster(at): [_node(size, at, number) for number in range(size.nodes)] for at in range(size.clusters)}
    labels = {cluster(at): {"model": f"m{at % MODELS}"} for at in range(size.clusters)}
    policies = [(open_tenant(model), model) for model in range(MODELS)]
    policies += [(full_tenant(at), size.cluster(at) % MODELS) for at in range(size.full)]
    said = [_quota(size)]
    for tenant, model in policies:
        policy = load.policy(tenant, {"model": f"m{model}"})
        said.append(load.configured("PropagationPolicy", tenant, "all", policy))
    said += [load.configured("Cluster", "", name, {"labels": labels[name]}) for name in clusters]
    return ReportedNodes(said, clusters, labels, load.KINDS)


def cluster(at: int) -> str:
    return f"cluster-{at}"


def open_tenant(model: int) -> str:
    return f"open-{model}"


def full_tenant(at: int) -> str:
    return f"full-{at}"


def freed(node: Node, size: int) -> Node:
    """The node with room for one job of this size, and strangers in the rest."""
    gpus, cores = SIZES[size]
    used = {_GPU: _GPUS - gpus, "cpu": (_CORES - cores) * 1000, "memory": 64 * _GIB}
    return msgspec.structs.replace(node, used=used)


def _node(size: WaitingSize, at: int, number: int) -> Node:
    allocatable = {_GPU: _GPUS, "cpu": _CORES * 1000, "memory": 1024 * _GIB, "pods": 110}
    node = Node(f"{cluster(at)}-node-{number}", allocatable)
    if number * size.clusters + at < 2 * size.full:
        return freed(node, OWN)
    return msgspec.structs.replace(node, used={_GPU: _GPUS, "cpu": _CORES * 500, "memory": 64 * _GIB})


def _quota(size: WaitingSize) -> Outgoing:
    limits = {open_tenant(model): load.PLENTY for model in range(MODELS)}
    limits |= {full_tenant(at): {**load.PLENTY, _GPU: str(_GPUS)} for at in range(size.full)}
    return load.quota_tree([{"name": name, "namespaces": [name], "max": limit} for name, limit in limits.items()])


class Submissions:
    """Jobs one after the other, with their ids."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def one(self, tenant: str, size: int) -> Submission:
        name = f"waits-{next(self._numbers):07d}"
        return load.submission(tenant, name, _template(tenant, size))

    def of_every_shape(self) -> Iterator[tuple[tuple[int, int], Submission]]:
        """Endless, in turn: model and size, and a job that waits for such room."""
        for at in count():
            model = at % MODELS
            size = at // MODELS % OWN
            yield (model, size), self.one(open_tenant(model), size)


@cache
def _template(tenant: str, size: int) -> bytes:
    """A pod alone, or a gang of two where there are GPUs enough for two."""
    gpus, cores = SIZES[size]
    pods = 2 if gpus >= 4 else 1
    one = {"restartPolicy": "OnFailure", "template": load.pod_template(gpus // pods, 40 // pods, cores // pods)}
    replicas = {name: {"replicas": 1, **one} for name in ("Master", "Worker")[:pods]}
    manifest = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "spec": {"pytorchReplicaSpecs": replicas},
        "metadata": {"name": load.NAME, "namespace": tenant, "labels": {"app": "bench"}},
    }
    return load.submitted(tenant, manifest)
