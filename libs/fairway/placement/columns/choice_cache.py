"""All that is kept of a fleet between two choices: counts by shape, rules by policy, each brought up to date when it
is asked about, by what changed since."""

from collections.abc import Mapping

import numpy as np

from fairway.placement.change_journal import Watch
from fairway.placement.cluster import ClusterView
from fairway.placement.columns.change_log import ChangeLog
from fairway.placement.columns.eligible_nodes import EligibleNodes
from fairway.placement.columns.nodes import FleetNodes
from fairway.placement.columns.pod_counts import PodCounts
from fairway.placement.policy_rules import Rules, WantedClusters
from fairway.placement.shapes import Shape, Where
from fairway.placement.verdicts.table import Names
from fairway.wire.capacity import ClusterInfo

# Shapes and rules kept; real traces have tens (design/scale.md), a hostile tenant can invent any number. Shapes are
# fewer where the fleet is large: 13 bytes for each of their nodes, 200 MiB in all.
MOST_SHAPES = 256
MOST_CELLS = 1 << 24
MOST_RULES = 256


class ChoiceCache:
    """Clusters are counted in the order of `names`; `observed` says when each was heard of last, `earliest` the least
    of that."""

    def __init__(self, views: Mapping[str, ClusterView], watch: Watch) -> None:
        self._views = views
        self._watch = watch
        self.fleet_nodes = FleetNodes()
        self.names = Names(())
        self.all = self.observed = np.zeros(0, np.int64)
        self.earliest = 0
        self._infos: list[ClusterInfo] = []
        self._facts = ChangeLog()
        self._pod_counts: dict[Shape, PodCounts] = {}
        self._reaches: dict[Where, EligibleNodes] = {}
        self._rules: dict[WantedClusters, Rules] = {}
        self._asked = 0
        self._known: dict[str, ClusterView] = {}
        watch.members = True

    @property
    def worn(self) -> bool:
        """More than half of it is of clusters that left or outgrew their place: time for a new one."""
        return 2 * self.fleet_nodes.wasted > self.fleet_nodes.used + 1024

    def refresh(self) -> None:
        """Reads what the watch was told since."""
        watch = self._watch
        if watch.members:
            self._muster()
            watch.members = False
        if watch.nodes:
            self.fleet_nodes.follow(sorted(watch.nodes & self.fleet_nodes.slots.keys()))
            watch.nodes.clear()
        if watch.infos:
            self._inform(sorted(watch.infos & self.fleet_nodes.slots.keys()))
            watch.infos.clear()

    def pod_count(self, shape: Shape) -> PodCounts:
        """The counts of this shape, current."""
        pod_count = self._pod_counts.get(shape) or self._new_gauge(shape)
        self._asked = pod_count.touched = self._asked + 1
        pod_count.refresh()
        return pod_count

    def rules(self, wanted: WantedClusters) -> Rules:
        """What these rules say to every cluster, current."""
        slots = len(self._infos)
        rules = self._rules.get(wanted)
        if rules is None or len(rules.answers) > 2 * slots + 64:  # answers of facts that are no more
            if len(self._rules) >= MOST_RULES:
                del self._rules[min(self._rules, key=lambda one: self._rules[one].touched)]
            rules = self._rules[wanted] = Rules(wanted, slots)
        self._asked = rules.touched = self._asked + 1
        if rules.seen != self._facts.version:
            changed = self._facts.since(rules.seen)
            rules.judge(range(slots) if changed is None else changed.tolist(), self._infos)
            rules.seen = self._facts.version
        return rules

    def _new_gauge(self, shape: Shape) -> PodCounts:
        while len(self._pod_counts) >= max(16, min(MOST_SHAPES, MOST_CELLS // (self.fleet_nodes.used + 1))):
            del self._pod_counts[min(self._pod_counts, key=lambda one: self._pod_counts[one].touched)]
            used = {one.where for one in self._pod_counts}
            self._reaches = {where: one for where, one in self._reaches.items() if where in used}
        if shape.where not in self._reaches:
            self._reaches[shape.where] = EligibleNodes(self.fleet_nodes, shape.where)
        pod_count = self._pod_counts[shape] = PodCounts(self.fleet_nodes, self._reaches[shape.where], shape)
        return pod_count

    def _muster(self) -> None:
        """Clusters came or went: what is kept by their number is void."""
        before = dict(self._known)
        self._known = dict(sorted(self._views.items()))
        views = list(self._known.values())
        self.fleet_nodes.muster(views)
        self.names = Names(self._known)
        self.all = np.arange(len(views))
        self._infos = [view.info for view in views]
        self.observed = np.zeros(len(views), np.int64)
        self._pod_counts.clear()
        self._rules.clear()
        for eligible in self._reaches.values():
            eligible.forget()
        self._watch.infos.update(self._known)
        self._watch.nodes.update(name for name, view in self._known.items() if before.get(name) is not view)

    def _inform(self, names: list[str]) -> None:
        changed = []
        for name in names:
            slot = self.fleet_nodes.slots[name]
            info = self._views[name].info
            self.observed[slot] = info.observed_at
            old = self._infos[slot]
            self._infos[slot] = info
            if _facts(old) != _facts(info):
                changed.append(slot)
        self.earliest = int(self.observed.min()) if len(self.observed) else 0
        if changed:
            self._facts.add(np.array(changed, np.int64))


def _facts(info: ClusterInfo) -> tuple[object, ...]:
    """What rules look at."""
    return info.labels, info.taints, info.kinds, info.cordoned
