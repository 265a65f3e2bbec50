"""The nodes of a fleet that pods of one `Where` may be on, and what is free on them by cluster."""

import numpy as np
from numpy.typing import NDArray

from fairway.placement.columns.change_log import Numbers
from fairway.placement.columns.growing_arrays import widened
from fairway.placement.columns.nodes import PODS, UNLISTED, FleetNodes
from fairway.placement.shape_index import MAX_PODS, admits
from fairway.placement.shapes import Amounts, Where

# No kubelet takes so many pods: a node that would take more of a shape counts for this many.
MOST_PODS = (1 << 17) - 1


class EligibleNodes:
    """By position: `open` is 1 where such a pod may go now, else 0, `limit` the most of them, and `good` says where one
    may go for good (cordons and passing taints set aside). By slot: `open_nodes` and `good_nodes` count them."""

    def __init__(self, fleet_nodes: FleetNodes, where: Where) -> None:
        self.where = where
        self._fleet_nodes = fleet_nodes
        self._seen = -1
        self.limit = self.open = np.zeros(0, np.int64)
        self.good = np.zeros(0, np.bool_)
        self.forget()

    def forget(self) -> None:
        """What is kept by slot is void: clusters came or went."""
        slots = len(self._fleet_nodes.views)
        self._summed = self._summed_deep = -1
        self._stale = np.ones(slots, np.bool_)
        self._free = self._whole = np.zeros((0, slots), np.int64)
        self.open_nodes = np.zeros(slots, np.int64)
        self.good_nodes = np.zeros(slots, np.int64)
        self._unlisted = np.zeros(slots, np.int64)
        self._ever_unlisted = np.zeros(slots, np.int64)

    def refresh(self) -> None:
        """Decides anew which nodes are admitted, of those that are other nodes now."""
        fleet_nodes = self._fleet_nodes
        if self._seen == fleet_nodes.deep.version:
            return
        if len(self.limit) < fleet_nodes.used:
            self.open = widened(self.open, len(fleet_nodes.home))
            self.good = widened(self.good, len(fleet_nodes.home))
        deep = fleet_nodes.deep.since(self._seen)
        homes = fleet_nodes.home.tolist()
        for position in range(fleet_nodes.used) if deep is None else deep.tolist():
            name = fleet_nodes.who[position]
            state = fleet_nodes.views[homes[position]].states[name] if name else None
            self.open[position], self.good[position] = admits(self.where, state.node) if state else (False, False)
        self.limit = self.open * MOST_PODS
        self._seen = fleet_nodes.deep.version

    def sum(self, slots: Numbers) -> None:
        """Brings the sums of these clusters up to date; needed only where there is no room."""
        fleet_nodes = self._fleet_nodes
        if len(self._free) < len(fleet_nodes.free):
            more = np.zeros((len(fleet_nodes.free) - len(self._free), len(fleet_nodes.views)), np.int64)
            self._free = np.vstack((self._free, more))
            self._whole = np.vstack((self._whole, more))
        if self._summed_deep != fleet_nodes.deep.version:
            for some, at in fleet_nodes.changed(fleet_nodes.deep.since(self._summed_deep)):
                self._sum_deep(some, at)
            self._summed_deep = fleet_nodes.deep.version
        if self._summed != fleet_nodes.touched.version:
            touched = fleet_nodes.touched.since(self._summed)
            self._stale[slice(None) if touched is None else fleet_nodes.home[touched]] = True
            self._summed = fleet_nodes.touched.version
        late = slots[self._stale[slots] & (fleet_nodes.size[slots] > 0)]
        if len(late):
            self._sum_free(late)

    def _sum_free(self, late: Numbers) -> None:
        """An overcommitted resource counts as nothing free."""
        fleet_nodes = self._fleet_nodes
        for some, at in fleet_nodes.changed(fleet_nodes.start[late]):
            self._free[:, some] = (np.maximum(fleet_nodes.free.take(at, axis=1), 0) * self.open[at]).sum(axis=2)
        self._stale[late] = False

    def _sum_deep(self, slots: Numbers, at: Numbers) -> None:
        whole = self._fleet_nodes.whole[:, at]
        open_ = self.open[at]
        good = self.good[at]
        unlisted = whole[PODS] == UNLISTED
        self._whole[:, slots] = (np.maximum(whole, 0) * good).sum(axis=2)
        self.open_nodes[slots] = open_.sum(axis=1)
        self.good_nodes[slots] = good.sum(axis=1)
        self._unlisted[slots] = (unlisted & open_).sum(axis=1)
        self._ever_unlisted[slots] = (unlisted & good).sum(axis=1)

    def pods(self, requests: Amounts, slots: Numbers, ever: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
        """For each slot how many pods fit if its nodes were one, free or (`ever`) empty; and which ends first:
        0 for `pods`, else 1 and the place among the requests."""
        rows, amounts = self._fleet_nodes.rows(requests)
        sums = self._free.take(slots, axis=1)
        if ever.any():
            sums = np.where(ever, self._whole.take(slots, axis=1), sums)
        counts = sums[rows] // amounts[:, None]
        if self._ever_unlisted.any():
            unlisted = np.where(ever, self._ever_unlisted[slots], self._unlisted[slots]) > 0
            most = UNLISTED if requests else MAX_PODS * np.where(ever, self.good_nodes[slots], self.open_nodes[slots])
            counts[0] = np.where(unlisted, most, counts[0])
        first = counts.argmin(axis=0)
        return np.maximum(counts.min(axis=0), 0), first
