"""How many pods of one shape every cluster of a fleet takes, and on how many nodes so many of them would be.

What `index.Row` is to one cluster: exact, kept up to date by what was touched. The nodes of each cluster are also
kept in the order in which `pack` fills them (those without anything the pod does not ask for first, the largest
first), as a running sum: the first place where it reaches k is the number of nodes for k pods.
"""

import numpy as np
from numpy.typing import NDArray

from fairway.placement.columns.change_log import Numbers
from fairway.placement.columns.eligible_nodes import MOST_PODS, EligibleNodes
from fairway.placement.columns.growing_arrays import widened
from fairway.placement.columns.nodes import PODS, UNLISTED, FleetNodes
from fairway.placement.node_packing import Placed
from fairway.placement.shape_index import MAX_PODS
from fairway.placement.shapes import Shape

# Counts are kept negative, so that the largest sort first; a plain node's are lower than all others'.
_PLAIN = np.int32(MOST_PODS + 1)
# Where a block's running sums begin, those of all blocks before it have ended: 2 M nodes of the most pods.
_SHIFT = 38
# Ranks of nodes within a cluster.
_RANKS = 24


class PodCounts:
    """By slot: `total` pods fit now, `most` of them on one node, and `plain` on nodes that have nothing else (counted
    only if there are other nodes, `mixed`); `ever` on the empty cluster, and `largest` on the largest node when empty
    (at least 1). The meaning is that of `index.Row`."""

    def __init__(self, fleet_nodes: FleetNodes, eligible: EligibleNodes, shape: Shape) -> None:
        self.eligible = eligible
        self.requests = shape.requests
        self.touched = 0
        self._fleet_nodes = fleet_nodes
        self._seen = self._seen_deep = -1
        self._used = 0
        self._minus = np.zeros(0, np.int32)
        self._sums = np.zeros(0, np.int64)
        self._mixed = np.zeros(0, np.bool_)
        self.mixed = False
        slots = len(fleet_nodes.views)
        self.total = np.zeros(slots, np.int64)
        self.plain = np.zeros(slots, np.int64)
        self.most = np.zeros(slots, np.int64)
        self.ever = np.zeros(slots, np.int64)
        self.largest = np.zeros(slots, np.int64)
        self._base = self.total

    def refresh(self) -> None:
        fleet_nodes = self._fleet_nodes
        if self._seen == fleet_nodes.touched.version:
            return
        touched = fleet_nodes.touched.since(self._seen)
        if self._seen_deep != fleet_nodes.deep.version:
            self.eligible.refresh()
            self._fit()
            for slots, at in fleet_nodes.changed(fleet_nodes.deep.since(self._seen_deep)):
                self._resize(slots, at)
            if bool(self._mixed.any()) != self.mixed:
                # `plain` is only counted where there are mixed nodes
                self.mixed = not self.mixed
                touched = None
            self._base = fleet_nodes.start << _SHIFT
            self._seen_deep = fleet_nodes.deep.version
        at = np.arange(fleet_nodes.used) if touched is None else touched
        self._minus[at] = -np.minimum(self._room(fleet_nodes.free, at), self.eligible.limit[at])
        for slots, at in fleet_nodes.changed(touched):
            self._arrange(slots, at)
        self._seen = fleet_nodes.touched.version

    def nodes(self, slots: Numbers, pods: Numbers | int) -> Numbers:
        """On how many nodes `pack` would put that many pods, which must fit."""
        sums = self._sums[: self._fleet_nodes.used]
        return sums.searchsorted(self._base[slots] + pods) - self._fleet_nodes.start[slots] + 1

    def pack(self, slot: int, amount: int) -> Placed:
        """As `pack.pack` does, for an amount that fits."""
        minus = self._minus[self._fleet_nodes.block(slot)]
        if not self.mixed:
            return self._fill(slot, minus, amount)
        mixed = self._mixed[self._fleet_nodes.block(slot)]
        plain = min(amount, int(self.plain[slot]))
        placed = self._fill(slot, minus * ~mixed, plain)
        return placed + self._fill(slot, minus * mixed, amount - plain)

    def _fill(self, slot: int, minus: NDArray[np.int32], amount: int) -> Placed:
        """The largest nodes whole, by name among equals, then the smallest one that takes the rest."""
        if not amount:
            return []
        names = self._fleet_nodes.names(slot)
        keys = np.sort((minus.astype(np.int64) << _RANKS) | self._fleet_nodes.rank[self._fleet_nodes.block(slot)])
        sizes = -(keys >> _RANKS)
        sums = sizes.cumsum()
        whole = int(sums.searchsorted(amount, "right"))
        # What nodes without room add to the sums is nothing: they may be counted as whole when the amount is all.
        placed = [(names[key & ((1 << _RANKS) - 1)], -(key >> _RANKS)) for key in keys[:whole].tolist() if key < 0]
        rest = amount - (int(sums[whole - 1]) if whole else 0)
        if rest:
            enough = int((-sizes).searchsorted(-rest, "right"))  # so many nodes hold the rest
            first = max(whole, int((-sizes).searchsorted(-sizes[enough - 1])))
            placed.append((names[int(keys[first]) & ((1 << _RANKS) - 1)], rest))
        return placed

    def _room(self, amounts: Numbers, at: Numbers) -> Numbers:
        """How many such pods fit in these amounts at each position; what `index.room` says."""
        if not self.requests:
            count = amounts[PODS][at]
            return np.maximum(np.where(count == UNLISTED, MAX_PODS, count), 0)
        rows, asked = self._fleet_nodes.rows(self.requests)
        found = amounts.take(at, axis=1)  # of all resources: rows and positions in one index take three times as long
        least: Numbers = (found[rows] // asked.reshape(-1, *[1] * at.ndim)).min(axis=0)
        return np.maximum(least, 0)

    def _resize(self, slots: Numbers, at: Numbers) -> None:
        """Nodes of these clusters are others now: how much they take when empty, and what they have besides."""
        asked = dict(self.requests)
        besides = [row for name, row in self._fleet_nodes.resources.items() if "/" in name and name not in asked]
        self._mixed[at] = (self._fleet_nodes.whole[besides][:, at] > 0).any(axis=0)
        ever = np.minimum(self._room(self._fleet_nodes.whole, at), MOST_PODS) * self.eligible.good[at]
        self.ever[slots] = ever.sum(axis=1)
        self.largest[slots] = np.maximum(ever.max(axis=1), 1)

    def _arrange(self, slots: Numbers, at: Numbers) -> None:
        minus = self._minus[at]
        if self.mixed:
            mixed = self._mixed[at]
            self.most[slots] = -minus.min(axis=1)
            self.plain[slots] = -(minus * ~mixed).sum(axis=1)
            minus = np.sort(minus - _PLAIN * (~mixed & (minus < 0)), axis=1)
            minus += _PLAIN * (minus < -MOST_PODS)
        else:
            minus.sort(axis=1)
            self.most[slots] = -minus[:, 0]
        sums = minus.cumsum(axis=1, dtype=np.int64)
        self.total[slots] = -sums[:, -1]
        self._sums[at] = self._base[slots][:, None] - sums

    def _fit(self) -> None:
        """As many positions as there are nodes, the sums of all in order: also where a block was left meanwhile."""
        size = len(self._fleet_nodes.home)
        used = self._fleet_nodes.used
        if len(self._minus) < size:
            self._minus = widened(self._minus, size)
            self._sums = widened(self._sums, size)
            self._mixed = widened(self._mixed, size)
        self._sums[self._used : used] = self._fleet_nodes.first[self._used : used] << _SHIFT
        self._used = used
