"""How many pods of one shape the clusters could hold if candidates went: all clusters at once, on the nodes that
candidates hold."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairway.placement.engine.attempt_holds import HeldAmounts
from fairway.placement.engine.change_log import Numbers
from fairway.placement.loops.layout import (
    MAX_PODS,
    MOST_PODS,
    NOBODY_HAS,
    NONE,
    PODS,
    TOTAL,
    UNLISTED,
    Arrays,
    ShapeAsked,
)
from fairway.placement.shapes import Part

Mask = NDArray[np.bool_]


class ShapeRoom(NamedTuple):
    """Of the nodes that are `touched`, by their positions: `left` is what is free and `whole` what there is, a row for
    each resource that the shape asks for (the first is `pods`); `pods` is how many it takes now, `home` its slot.
    `who`, `node` and `held` are the holds there: whose, on which of the touched, and the amounts by resource. `now` are
    the pods that every cluster takes without any eviction, by slot."""

    part: Part
    asks: list[int]
    touched: Numbers
    left: Numbers
    whole: Numbers
    pods: Numbers
    home: Numbers
    who: Numbers
    node: Numbers
    held: Numbers
    now: Numbers

    def with_gone(self, may: Mask) -> Numbers:
        """Pods on each touched node if these candidates went."""
        rows = may[self.who]
        node = self.node[rows]
        gone = np.zeros_like(self.left)
        for sums, held in zip(gone, self.held, strict=True):
            np.add.at(sums, node, held[rows])
        return self._room(self.left + gone, self.whole)

    def by_cluster(self, with_gone: Numbers) -> Numbers:
        """Pods that each cluster would take with so many on each touched node, by slot."""
        return self.now + np.bincount(self.home, with_gone - self.pods, len(self.now)).astype(np.int64)

    def gains(self, candidates: int) -> Numbers:
        """Pods that there would be more if one candidate went alone, by candidate."""
        alone = self._room(self.left[:, self.node] + self.held, self.whole[:, self.node]) - self.pods[self.node]
        return np.bincount(self.who, alone, candidates).astype(np.int64)

    def _room(self, left: Numbers, whole: Numbers) -> Numbers:
        """Of what a node does not list nothing is given back."""
        pods: Numbers = np.full(left.shape[1], MOST_PODS)
        for ask, free, most in zip(self.asks, left, whole, strict=True):
            np.minimum(pods, np.minimum(free, most) // ask, out=pods)
        return np.maximum(pods, 0, out=pods)


def shape_room(arrays: Arrays, shape: ShapeAsked, part: Part, holdings: HeldAmounts) -> ShapeRoom:
    """Of a shape that is current."""
    columns = np.concatenate(([PODS], shape.columns))
    may = (arrays.kind[shape.k][holdings.at] != NONE) & (columns != NOBODY_HAS).all()
    if not may.all():
        holdings = HeldAmounts(holdings.who[may], holdings.at[may], holdings.amounts[:, may])
    touched, node = _distinct(holdings.at, len(arrays.home))
    whole = arrays.whole[touched, columns[:, None]]
    if not len(shape.asks):  # nothing else limits how many such pods a kubelet takes
        whole = np.where(whole == UNLISTED, MAX_PODS, whole)
    return ShapeRoom(
        part,
        [1, *shape.asks.tolist()],
        touched,
        arrays.free[touched, columns[:, None]],
        whole,
        arrays.pods[shape.k][touched].astype(np.int64),
        arrays.home[touched],
        holdings.who,
        node,
        holdings.amounts[columns],
        arrays.facts[shape.k, :, TOTAL],
    )


def _distinct(at: Numbers, positions: int) -> tuple[Numbers, Numbers]:
    """Each position once, in order, and which of these each one was."""
    there = np.zeros(positions, np.bool_)
    there[at] = True
    distinct = there.nonzero()[0]
    place = np.empty(positions, np.int64)
    place[distinct] = np.arange(len(distinct))
    return distinct, place[at]
