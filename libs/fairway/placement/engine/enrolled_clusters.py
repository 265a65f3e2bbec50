"""Which cluster has which slot, and when it was heard of last."""

from collections.abc import Mapping

import numpy as np

from fairway.placement.cluster import ClusterView
from fairway.placement.engine.change_log import Numbers
from fairway.placement.engine.node_rows import NodeRows
from fairway.placement.verdicts.table import Names


class EnrolledClusters:
    """`order` has the slots of the clusters in the order of `names`; `observed` says by slot when each was heard of
    last (ms)."""

    def __init__(self, rows: NodeRows) -> None:
        self.names = Names(())
        self.slots: dict[str, int] = {}
        self.views: dict[int, ClusterView] = {}
        self.order = np.zeros(0, np.int64)
        self.observed = np.zeros(0, np.int64)
        self._never = np.zeros(0, np.int64)
        self._rows = rows

    def enrol(self, views: Mapping[str, ClusterView]) -> list[str]:
        """These are the clusters now. Returns those that are new; when each was heard of is to be written anew."""
        for name, slot in list(self.slots.items()):
            if views.get(name) is not self.views[slot]:
                self._rows.leave(slot)
                del self.slots[name], self.views[slot]
        new = sorted(views.keys() - self.slots.keys())
        for name in new:
            slot = self.slots[name] = self._rows.enter()
            self.views[slot] = views[name]
        self.names = Names(sorted(views))
        self.order = np.array([self.slots[name] for name in self.names.names], np.int64)
        self.observed = np.zeros(max(self.slots.values(), default=-1) + 1, np.int64)
        self._never = np.zeros(len(self.observed), np.int64)
        return new

    def avoided(self, avoid: Mapping[str, int]) -> Numbers:
        """Until when each cluster is avoided, by slot."""
        if not avoid:
            return self._never
        until = self._never.copy()
        for name, at in avoid.items():
            if name in self.slots:
                until[self.slots[name]] = at
        return until
