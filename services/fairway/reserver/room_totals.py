"""What clusters have in all, for who watches them: kept from one scrape to the next, and brought up to what changed."""

from collections.abc import Iterable, Iterator, Mapping

from fairway.domain.resources import unit
from fairway.placement.cluster import ClusterView
from fairway.placement.room_sums import RoomSums
from fairway.runtime.metrics.accumulators import Sample
from fairway.runtime.metrics.label_values import Bounded

# Names of resources come from members' nodes. With so many of them 1,000 clusters stay within the budget of a page.
MOST_RESOURCES = 8
_FIRST = ("cpu", "memory", "pods")
_OPEN = "schedulable"
_CLOSED = "unschedulable"


class RoomTotals:
    def __init__(self) -> None:
        self._resources = Bounded(MOST_RESOURCES)
        for name in _FIRST:
            self._resources.value(name)

    def samples(
        self, clusters: Mapping[str, ClusterView], sums: dict[str, RoomSums], members: Iterable[str], now: int
    ) -> Iterator[Sample]:
        """Of members alone. The report of one that never came is older than anything."""
        there = {name: clusters[name] for name in members if name in clusters}
        for gone in sums.keys() - there.keys():
            del sums[gone]
        for name in members:
            seen_at = there[name].info.observed_at if name in there else 0
            age = max(0, now - seen_at) / 1000 if seen_at else float("inf")
            yield "fairway_cluster_report_age_seconds", (name,), age
        for name, view in there.items():
            totals = sums.setdefault(name, RoomSums())
            totals.follow(view.by_name)
            yield "fairway_cluster_nodes", (name, _OPEN), len(totals.counted) - totals.closed
            yield "fairway_cluster_nodes", (name, _CLOSED), totals.closed
            yield from self._amounts(name, totals)

    def _amounts(self, cluster: str, totals: RoomSums) -> Iterator[Sample]:
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
