"""Fleets that are full of others' attempts, and the claims of gangs that want some of their room."""

from random import Random
from typing import NamedTuple

from fairway.lab.bench.evict.candidate_rows import CandidateRow, in_columns
from fairway.placement.cluster import ClusterView
from fairway.placement.fleet import Fleet
from fairway.wire.capacity import ClusterInfo, Node
from fairway.wire.preemption.evictions import Lender, Relieve
from fairway.wire.workload import PodSet, Workload

_GPU = "nvidia.com/gpu"
_GIB = 1 << 30
_NODE = {"cpu": 96_000, "memory": 768 * _GIB, _GPU: 8, "pods": 110}
_KIND = "PyTorchJob"
_API = "kubeflow.org/v1"
# One pod with so many GPUs takes this part of a node's host as well.
_POD = {"cpu": 8_000, "memory": 64 * _GIB, _GPU: 1}
# On how many nodes attempts are, four in ten of them on one: 2.44 on average, so that 4,096 have 10,000 holds.
_NODES_EACH = (1, 1, 1, 1, 2, 2, 3, 4, 4, 6)
_LENDERS = 8
NOW = 1_000


class ClaimCase(NamedTuple):
    """A gang and who may be evicted for it."""

    workload: Workload
    asked: Relieve


class LentFleet:
    """`clusters` of so many nodes, which strangers have filled but for what these `attempts` hold, in as many of the
    clusters as `busy` says."""

    def __init__(self, clusters: int, nodes: int, draw: Random, alike: bool = False) -> None:
        """`alike`: all attempts have one level and one priority."""
        self.draw = draw
        self._ranks = (1, 1) if alike else (2, 4)
        self._names = [f"c{at:04}" for at in range(clusters)]
        self._holds: dict[tuple[int, int], dict[str, dict[str, int]]] = {}
        self._nodes = nodes
        self._free = [[8] * nodes for _ in self._names]
        self.candidates: list[CandidateRow] = []

    def fill(self, attempts: int, busy: int) -> None:
        """Attempts of one to eight GPUs a node, all of them candidates; fewer where these clusters are full before."""
        tries = 0
        while len(self.candidates) < attempts and tries < 4 * attempts:
            tries += 1
            cluster = self.draw.randrange(busy)
            job = f"job-{len(self.candidates)}"
            gpus = self.draw.choice((1, 2, 4, 4, 8, 8))
            free = [node for node, left in enumerate(self._free[cluster]) if left >= gpus]
            nodes = self.draw.sample(free, min(len(free), self.draw.choice(_NODES_EACH)))
            for node in nodes:
                self._free[cluster][node] -= gpus
                self._holds.setdefault((cluster, node), {})[f"{job}/1"] = _of(gpus)
            if nodes:
                self.candidates.append(self._candidate(job, cluster, gpus * len(nodes)))

    def views(self) -> dict[str, ClusterView]:
        """What nobody of these holds is used by others, but for one GPU in twenty."""
        views = {}
        for at, name in enumerate(self._names):
            view = ClusterView(ClusterInfo(name, kinds=(f"{_KIND}.{_API}",), observed_at=NOW))
            for node in range(self._nodes):
                left = sum(self.draw.random() < 0.95 for _ in range(self._free[at][node]))
                view.put(Node(f"n{node:04}", _NODE, used=_of(left), holds=self._holds.get((at, node), {})))
            views[name] = view
        return views

    def fleet(self) -> Fleet:
        return Fleet(self.views())

    def _candidate(self, job: str, cluster: int, gpus: int) -> CandidateRow:
        draw = self.draw
        lender = draw.randrange(-_LENDERS, _LENDERS)
        lost = draw.randrange(1_000_000)
        return CandidateRow(
            job,
            self._names[cluster],
            level=draw.randrange(self._ranks[0]),
            priority=draw.randrange(self._ranks[1]),
            lender=max(-1, lender),
            lost=lost,
        )

    def claim(self, pods: int, gpus: int) -> ClaimCase:
        """A gang of so many pods of so many GPUs."""
        pod = {name: amount * gpus for name, amount in _POD.items()}
        workload = Workload(_API, _KIND, "team", "train", (PodSet("Worker", pods, pod),), pods)
        over = {name: amount * 10_000 for name, amount in _POD.items()}
        lenders = [Lender(f"root/{at}", -1, over) for at in range(_LENDERS)]
        asked = Relieve(
            job="claimant",
            tenant="team",
            attempt=1,
            claim=1,
            until=2,
            candidates=in_columns(self.candidates),
            lenders=tuple(lenders),
            reclaimable=tuple(_POD),
        )
        return ClaimCase(workload, asked)


def _of(gpus: int) -> dict[str, int]:
    return {name: amount * gpus for name, amount in _POD.items()} | {"pods": 1}
