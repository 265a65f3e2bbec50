"""What the benchmark of decisions decides about: gangs of 1 to 64 pods in 20 shapes, each of one or of several, and
clusters half full of others."""

from collections.abc import Iterator
from random import Random

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from fairway.domain.job import Job, State
from fairway.domain.reservations import one_pod
from fairway.domain.resources import Resources, scale
from fairway.placement.cluster import taken
from fairway.runtime.ports import Row
from fairway.wire import jobs as wire
from fairway.wire.capacity import ClusterInfo, Node, Slot
from fairway.wire.policy import Affinity, Placement
from fairway.wire.workload import Expression, PodSet, Workload

_GPU = "nvidia.com/gpu"
_GIB = 1 << 30
_NODE = {"cpu": 96_000, "memory": 768 * _GIB, _GPU: 8, "pods": 110}
# A pod's requests: 1, 2, 4 or 8 GPUs with four sizes of host memory, and four sizes without GPUs.
_WITH_GPUS: tuple[Resources, ...] = tuple(
    {"cpu": 8_000 * gpu, "memory": gpu * gib * _GIB, _GPU: gpu} for gpu in (1, 2, 4, 8) for gib in (16, 32, 48, 64)
)
_PLAIN: tuple[Resources, ...] = tuple({"cpu": cores * 1_000, "memory": 4 * cores * _GIB} for cores in (1, 2, 4, 8))
_SHAPES = (*_WITH_GPUS, *_PLAIN)
_GANGS = (1, 1, 1, 2, 2, 4, 4, 8, 8, 16, 32, 64)
# No gang asks for more GPUs: of a hundred nodes, half full, that is a third of what is free.
_MOST_GPUS = 128
_KIND = "PyTorchJob"
_ZONES = ("a", "b", "c")
# One job in so many may only go to the clusters of one zone: the record has to say so of all others.
_ZONED = 4
# So many of the gangs that fill a cluster end meanwhile: their holes are all over it.
_ENDING = 0.3
_FULL = 0.5
_encode = msgspec.json.Encoder().encode

Amounts = NDArray[np.int64]


class Gang(Struct, frozen=True):
    """An attempt that runs, with what its pods take on each node of a cluster."""

    cluster: str
    key: str
    takes: dict[str, Resources]


class LoadedClusters:
    """The clusters, and the `gangs` that run in them. `free` is what is left of each of a node's amounts, by resource,
    cluster and node."""

    def __init__(self, clusters: int, nodes: int, draw: Random) -> None:
        self.clusters = {f"c{at:04}": at for at in range(clusters)}
        self.nodes = {f"n{at:04}": at for at in range(nodes)}
        self.free = np.empty((len(_NODE), clusters, nodes), np.int64)
        self.free[:] = np.array(list(_NODE.values())).reshape(-1, 1, 1)
        self.gangs: list[Gang] = []
        self._holds: dict[tuple[str, str], dict[str, Resources]] = {
            (cluster, node): {} for cluster in self.clusters for node in self.nodes
        }
        self._changed = dict.fromkeys(self._holds)
        self._rev = 0
        for cluster in self.clusters:
            self._fill(cluster, draw)

    @property
    def gpus_used(self) -> float:
        """The share of all GPUs."""
        return 1 - float(self.free[list(_NODE).index(_GPU)].mean()) / _NODE[_GPU]

    def infos(self, now: int) -> Iterator[tuple[str, ClusterInfo]]:
        """Each cluster by name, heard of at this time."""
        for name, at in self.clusters.items():
            labels = {"pool": "gpu", "zone": _ZONES[at % len(_ZONES)]}
            yield name, ClusterInfo(name, labels=labels, kinds=(f"{_KIND}.kubeflow.org/v1",), observed_at=now)

    def rows(self) -> list[tuple[str, str, Row | None]]:
        """The nodes that changed since this was asked, as the cache has them: table, key, row."""
        self._rev += 1
        written: list[tuple[str, str, Row | None]] = []
        for cluster, name in self._changed:
            node = Node(name, _NODE, {"kubernetes.io/hostname": name}, holds=self._holds[cluster, name])
            written.append((f"nodes/{cluster}", name, Row(self._rev, _encode(node))))
        self._changed.clear()
        return written

    def begin(self, gang: Gang) -> None:
        self.gangs.append(gang)
        for name, amounts in gang.takes.items():
            self._holds[gang.cluster, name][gang.key] = amounts
            self._shift(gang, name, amounts, -1)

    def end(self, at: int) -> None:
        self.gangs[at], self.gangs[-1] = self.gangs[-1], self.gangs[at]
        gang = self.gangs.pop()
        for name, amounts in gang.takes.items():
            self._shift(gang, name, amounts, 1)
            del self._holds[gang.cluster, name][gang.key]

    def _shift(self, gang: Gang, name: str, amounts: Resources, sign: int) -> None:
        self._changed[gang.cluster, name] = None
        self.free[:, self.clusters[gang.cluster], self.nodes[name]] += [sign * amounts.get(one, 0) for one in _NODE]

    def _fill(self, cluster: str, draw: Random) -> None:
        """Gangs come and some of them end, wherever on the nodes, until so much of the GPUs is used."""
        first = len(self.gangs)
        at = self.clusters[cluster]
        gpu = list(_NODE).index(_GPU)
        half = (1 - _FULL) * _NODE[_GPU] * len(self.nodes)
        for number in range(1 << 20):
            if self.free[gpu, at].sum() <= half:
                return
            pods, asks = gang(draw)
            if where := self._anywhere(at, pods, asks, draw.randrange(len(self.nodes))):
                takes = {name: scale(one_pod(asks), pods) for name, pods in where.items()}
                self.begin(Gang(cluster, f"old-{number}/1", takes))
            if len(self.gangs) - first > 4 and draw.random() < _ENDING:
                self.end(draw.randrange(first, len(self.gangs)))

    def _anywhere(self, cluster: int, pods: int, asks: Resources, start: int) -> dict[str, int]:
        """Pods by node, from this one on; nothing when they do not fit."""
        counts = np.roll(counted(self.free[:, cluster], asks), -start)
        here = np.clip(pods - (counts.cumsum() - counts), 0, counts)
        names = list(self.nodes)
        found = {names[(start + int(at)) % len(names)]: int(here[at]) for at in here.nonzero()[0]}
        return found if here.sum() == pods else {}


def counted(free: Amounts, asks: Resources) -> Amounts:
    """How many pods with these requests fit in these amounts, whose first dimension is that of the resource."""
    amounts = one_pod(asks)
    each = [free[at] // amounts[name] for at, name in enumerate(_NODE) if name in amounts]
    least: Amounts = np.minimum.reduce(each)
    return np.maximum(least, 0)


def barely(fleet_nodes: LoadedClusters, pods: int, asks: Resources) -> int:
    """The fullest cluster that takes the gang: every node counted anew, no rules, no reasons, no plan, no record."""
    sums = counted(fleet_nodes.free, asks).sum(axis=1)
    return int(np.where(sums >= pods, sums, np.iinfo(np.int64).max).argmin())


def gang(draw: Random) -> tuple[int, Resources]:
    """How many pods, and what each requests."""
    pods = draw.choice(_GANGS)
    asks = draw.choice(_SHAPES)
    return (min(pods, _MOST_GPUS // asks[_GPU]) if _GPU in asks else pods), asks


def of_one_shape(draw: Random) -> tuple[PodSet, ...]:
    """A master alone, or a master with workers of the same shape."""
    pods, asks = gang(draw)
    sets = (PodSet("Master", 1, asks), PodSet("Worker", pods - 1, asks))
    return sets[: 1 if pods == 1 else 2]


def of_several_shapes(draw: Random) -> tuple[PodSet, ...]:
    """A master without GPUs, workers, and with every other gang parameter servers, each of another shape."""
    master, servers = draw.sample(_PLAIN, 2)
    pods = draw.choice(_GANGS)
    asks = draw.choice(_WITH_GPUS)
    sets = (
        PodSet("Master", 1, master),
        PodSet("Worker", min(pods, _MOST_GPUS // asks[_GPU]), asks),
        PodSet("PS", draw.choice((1, 2, 4)), servers),
    )
    return sets[: draw.choice((2, 3))]


def dequeued(name: str, draw: Random, now: int, sets: tuple[PodSet, ...]) -> Job:
    """A job of these pods, all of which are its gang, whose turn it is."""
    labels = [Expression("pool", "In", ("gpu",))]
    if not draw.randrange(_ZONED):
        labels.append(Expression("zone", "In", (draw.choice(_ZONES),)))
    spec = wire.JobSpec(
        workload=Workload("kubeflow.org/v1", _KIND, "team", name, sets, sum(one.count for one in sets)),
        policy="PropagationPolicy team/all",
        placement=Placement((Affinity(labels=tuple(labels)),)),
        queue="gold",
        manifest=wire.ManifestRef(1, "9f" * 32, 4096),
    )
    return Job(
        name,
        "team",
        State.DEQUEUED,
        rev=3,
        entered=3,
        attempt=1,
        at=now,
        since=now,
        spec=spec,
        queue="gold",
        leaf=("root", "root/team"),
    )


def placed(job: Job, cluster: str, slots: tuple[Slot, ...]) -> Gang:
    """The gang as it runs where the decision put it."""
    assert job.spec is not None, "jobs of the benchmark have one"
    return Gang(cluster, job.key, taken(slots, {one.name: one.requests for one in job.spec.workload.pod_sets}))
