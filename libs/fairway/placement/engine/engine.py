"""All that is kept of a fleet between two choices, each part brought up to date when it is asked about, by what changed
since: counts of pods by shape, rules by policy, times of reports."""

from collections.abc import Mapping, Sequence

import numpy as np

from fairway.placement.change_journal import Shift, Watch
from fairway.placement.cluster import ClusterView
from fairway.placement.engine.change_log import ChangeLog, Numbers
from fairway.placement.engine.fleet_arrays import FleetArrays
from fairway.placement.engine.node_rows import NodeRows
from fairway.placement.engine.shape_counts import ShapeCounts
from fairway.placement.loops.layout import Arrays, ShapeAsked
from fairway.placement.policy_rules import Rules, WantedClusters
from fairway.placement.shapes import Shape
from fairway.placement.verdicts.table import Names
from fairway.wire.capacity import ClusterInfo

MOST_RULES = 256


class Engine:
    """`order` has the slots of the clusters in the order of `names`; `observed` says by slot when each was heard of
    last."""

    def __init__(self, views: Mapping[str, ClusterView], watch: Watch) -> None:
        self.names = Names(())
        self.slots: dict[str, int] = {}
        self.order = self.observed = self._never = np.zeros(0, np.int64)
        self._views = views
        self._watch = watch
        self._arrays = FleetArrays()
        self.rows = NodeRows(self._arrays)
        self._known: dict[int, ClusterView] = {}
        self._shapes = ShapeCounts(self._arrays, self.rows, self._known)
        self._policies = PolicyRules()
        watch.members = True
        watch.shift = self._shift

    @property
    def worn(self) -> bool:
        """More than half of it is of clusters that left or outgrew their place: time for a new one."""
        return 2 * self.rows.wasted > self.rows.used + 1024

    @property
    def arrays(self) -> Arrays:
        return self._arrays.now

    def refresh(self) -> None:
        """Reads what the watch was told since."""
        watch = self._watch
        if watch.members:
            self._enrol()
            watch.members = False
        if watch.nodes:
            there = sorted(watch.nodes & self.slots.keys())
            self.rows.follow({self.slots[name]: self._views[name] for name in there})
            watch.nodes.clear()
        if watch.infos:
            for name in watch.infos & self.slots.keys():
                info = self._views[name].info
                self.observed[self.slots[name]] = info.observed_at
                self._policies.inform(self.slots[name], info)
            watch.infos.clear()

    def counts(self, shapes: Sequence[Shape]) -> list[ShapeAsked]:
        """These shapes, current."""
        return self._shapes.of(shapes)

    def changed(self, shape: Shape) -> tuple[ShapeAsked, Numbers]:
        """This shape, and the positions at which it is not counted yet."""
        return self._shapes.changed(shape)

    def rules(self, wanted: WantedClusters) -> Rules:
        """What these rules say to every cluster, current."""
        return self._policies.of(wanted)

    def avoided(self, avoid: Mapping[str, int]) -> Numbers:
        """Until when each cluster is avoided, by slot."""
        if not avoid:
            return self._never
        until = np.zeros(len(self.observed), np.int64)
        for name, at in avoid.items():
            if name in self.slots:
                until[self.slots[name]] = at
        return until

    def _shift(self, view: ClusterView, version: int, change: Shift) -> bool:
        slot = self.slots.get(view.name, -1)
        return self._known.get(slot) is view and self.rows.shift(slot, version, change, view.version)

    def _enrol(self) -> None:
        """Clusters came or went."""
        views = dict(sorted(self._views.items()))
        for name, slot in list(self.slots.items()):
            if views.get(name) is not self._known[slot]:
                self.rows.leave(slot)
                del self.slots[name], self._known[slot]
        for name, view in views.items():
            if name not in self.slots:
                slot = self.slots[name] = self.rows.enter()
                self._known[slot] = view
                self._watch.nodes.add(name)
        self.names = Names(views)
        self.order = np.array([self.slots[name] for name in views], np.int64)
        self.observed = np.zeros(len(self.arrays.start), np.int64)
        self._never = np.zeros(len(self.arrays.start), np.int64)
        self._policies = PolicyRules({self.slots[name]: view.info for name, view in views.items()})
        self._watch.infos.update(views)


class PolicyRules:
    """What policies say to clusters, by slot."""

    def __init__(self, infos: Mapping[int, ClusterInfo] | None = None) -> None:
        self._infos = dict(infos or {})
        self._kept: dict[WantedClusters, Rules] = {}
        self._changed = ChangeLog()
        self._asks = 0

    def inform(self, slot: int, info: ClusterInfo) -> None:
        if _facts(self._infos[slot]) != _facts(info):
            self._changed.add(np.array([slot], np.int64))
        self._infos[slot] = info

    def of(self, wanted: WantedClusters) -> Rules:
        rules = self._kept.get(wanted)
        if rules is None or len(rules.answers) > 2 * len(self._infos) + 64:  # answers of facts that are no more
            while len(self._kept) >= MOST_RULES:
                del self._kept[min(self._kept, key=lambda one: self._kept[one].touched)]
            rules = self._kept[wanted] = Rules(wanted, max(self._infos, default=-1) + 1)
        self._asks = rules.touched = self._asks + 1
        if rules.seen != self._changed.version:
            changed = self._changed.since(rules.seen)
            rules.judge(self._infos if changed is None else changed.tolist(), self._infos)
            rules.seen = self._changed.version
        return rules


def _facts(info: ClusterInfo) -> tuple[object, ...]:
    """What rules look at."""
    return info.labels, info.taints, info.kinds, info.cordoned
