"""What clusters have in all, for who watches them: kept from one scrape to the next, and brought up to what changed."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field

from fairway.domain.resources import Resources, add, unit
from fairway.placement.cluster import ClusterView
from fairway.runtime.metrics.accumulators import Sample
from fairway.runtime.metrics.label_values import Bounded
from fairway.wire.capacity import Node

# Names of resources come from members' nodes. With so many of them 1,000 clusters stay within the budget of a page.
MOST_RESOURCES = 8
_FIRST = ("cpu", "memory", "pods")
_OPEN = "schedulable"
_CLOSED = "unschedulable"


class _Totals(Struct):
    """Of one cluster. `counted` are the nodes that are in the sums."""

    counted: dict[str, Node] = field(default_factory=dict)
    allocatable: Resources = field(default_factory=dict)
    used: Resources = field(default_factory=dict)
    held: Resources = field(default_factory=dict)
    free: Resources = field(default_factory=dict)
    closed: int = 0

    def add(self, node: Node, sign: int) -> None:
        _add(self.allocatable, node.allocatable, sign)
        left = add(node.allocatable, node.margin, -1)
        for sums, amounts in ((self.used, node.used), *((self.held, one) for one in node.holds.values())):
            _add(sums, amounts, sign)
            _add(left, amounts, -1)
        self.closed += 0 if node.schedulable else sign
        if node.schedulable:
            _add(self.free, {name: max(0, left[name]) for name in node.allocatable}, sign)


def _add(sums: Resources, amounts: Mapping[str, int], sign: int) -> None:
    for name, amount in amounts.items():
        sums[name] = sums.get(name, 0) + sign * amount


class RoomTotals:
    def __init__(self) -> None:
        self._of: dict[str, _Totals] = {}
        self._resources = Bounded(MOST_RESOURCES)
        for name in _FIRST:
            self._resources.value(name)

    def samples(self, clusters: Mapping[str, ClusterView], members: Iterable[str], now: int) -> Iterator[Sample]:
        """Of members alone. The report of one that never came is older than anything."""
        there = {name: clusters[name] for name in members if name in clusters}
        for gone in self._of.keys() - there.keys():
            del self._of[gone]
        for name in members:
            seen_at = there[name].info.observed_at if name in there else 0
            age = max(0, now - seen_at) / 1000 if seen_at else float("inf")
            yield "fairway_cluster_report_age_seconds", (name,), age
        for name, view in there.items():
            totals = self._current(name, view)
            yield "fairway_cluster_nodes", (name, _OPEN), len(totals.counted) - totals.closed
            yield "fairway_cluster_nodes", (name, _CLOSED), totals.closed
            yield from self._amounts(name, totals)

    def _amounts(self, cluster: str, totals: _Totals) -> Iterator[Sample]:
        """Of what its nodes have; whatever is beyond the names that are told is one."""
        labels: dict[str, tuple[str, str, str]] = {}
        sizes: dict[str, int] = {}
        for name, amount in totals.allocatable.items():
            if amount:
                told = self._resources.value(name)
                base, sizes[name] = unit(name)
                labels[name] = (cluster, told, base if told == name else "integer")
        for what, sums in (
            ("allocatable", totals.allocatable),
            ("used", totals.used),
            ("held", totals.held),
            ("free", totals.free),
        ):
            together: dict[tuple[str, str, str], float] = {}
            for name, place in labels.items():
                together[place] = together.get(place, 0) + sums.get(name, 0) / sizes[name]
            yield from ((f"fairway_cluster_{what}", place, summed) for place, summed in together.items())

    def _current(self, name: str, view: ClusterView) -> _Totals:
        """A node that changed is another value."""
        totals = self._of.setdefault(name, _Totals())
        counted = totals.counted
        changed = [name for name, node in view.by_name.items() if counted.get(name) is not node]
        if len(counted) != len(view.by_name) or changed:
            for one in [*changed, *(counted.keys() - view.by_name.keys())]:
                if (before := counted.pop(one, None)) is not None:
                    totals.add(before, -1)
            for one in changed:
                counted[one] = view.by_name[one]
                totals.add(counted[one], 1)
        return totals
