"""Who picks the node of a pod: Fairway's placement, chance, or the node that has least left."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairway.domain.resources import parse_quantity
from fairway.lab.bench.allocation.load import DrawnPod
from fairway.lab.traces.policies.node_pool import NodePool
from fairway.lab.traces.trace import GPU, MODEL_LABEL, TraceJob
from fairway.wire.capacity import Node

_RESOURCES = ("cpu", "memory", GPU)
Amounts = NDArray[np.int64]


class FreeNodes:
    """What is left on each node, in the order in which they were given: a row of amounts each."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.index = {node.name: at for at, node in enumerate(nodes)}
        self.free = np.array([[node.allocatable[one] for one in _RESOURCES] for node in nodes], np.int64)
        self.largest = self.free.max(axis=0)
        self._models = np.array([node.labels[MODEL_LABEL] for node in nodes])

    def fitting(self, job: TraceJob) -> Amounts:
        """The nodes that such a pod fits on and may be on."""
        fits = (self.free >= amounts(job)).all(axis=1)
        if job.models:
            fits &= np.isin(self._models, job.models)
        return np.flatnonzero(fits)

    def take(self, at: int, job: TraceJob) -> None:
        self.free[at] -= amounts(job)

    @property
    def gpus(self) -> int:
        """That are left on all of them."""
        return int(self.free[:, _RESOURCES.index(GPU)].sum())

    @property
    def overfull(self) -> int:
        """Amounts that were given twice."""
        return int((self.free < 0).sum())


def amounts(job: TraceJob) -> Amounts:
    return np.array([parse_quantity(one, job.requests.get(one, "0")) for one in _RESOURCES], np.int64)


class NodePicker(Protocol):
    def node(self, pod: DrawnPod, key: str) -> int | None:
        """The place of its node; None: there is no room for it."""


class RandomNode:
    """Any node with room."""

    def __init__(self, nodes: FreeNodes, seed: int) -> None:
        self._nodes = nodes
        self._draw = Random(seed)

    def node(self, pod: DrawnPod, key: str) -> int | None:
        fitting = self._nodes.fitting(pod.job)
        return int(self._draw.choice(fitting)) if len(fitting) else None


class BestFitNode:
    """The node with least left, as the FGD paper's simulator has it: processors and GPUs count a half each, by what the
    largest node has of them. The first of several."""

    def __init__(self, nodes: FreeNodes) -> None:
        self._nodes = nodes

    def node(self, pod: DrawnPod, key: str) -> int | None:
        fitting = self._nodes.fitting(pod.job)
        if not len(fitting):
            return None
        left = (self._nodes.free[fitting] - amounts(pod.job)) / self._nodes.largest
        cpu = left[:, _RESOURCES.index("cpu")]
        gpu = left[:, _RESOURCES.index(GPU)]
        return int(fitting[(cpu + gpu).argmin()])


class FairwayNode:
    """The node that Fairway plans in the cluster that it chooses."""

    def __init__(self, nodes: FreeNodes, clusters: Mapping[str, Sequence[Node]]) -> None:
        self._nodes = nodes
        self._pool = NodePool(clusters)

    def node(self, pod: DrawnPod, key: str) -> int | None:
        slots = self._pool.start(key, pod.job)
        return self._nodes.index[slots[0].node] if slots else None
