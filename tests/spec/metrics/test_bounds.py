"""However large the fleet is, and whatever others call their things, a page has so many series and no more."""

from fairway.domain.resources import Resources
from fairway.lab.bench.runs import ScrapeRun
from fairway.lab.bench.scrape.load import LargeFleet, series
from fairway.placement.cluster import ClusterView
from fairway.reserver.room_totals import MOST_RESOURCES, RoomTotals
from fairway.runtime.metrics.label_values import OTHER, Bounded
from fairway.wire.capacity import ClusterInfo, Node
from tests.exposition import complaints

BUDGET = 60_000


def test_a_thousand_clusters_and_two_hundred_queues_are_within_the_budget() -> None:
    page = LargeFleet(ScrapeRun(nodes=1, jobs=1_000)).page()
    assert 30_000 < series(page) < BUDGET
    assert complaints(page.decode()) == []


def test_resources_that_members_invent_are_told_together() -> None:
    """The dearest page: each cluster has every resource that is told by name, and others."""
    view = ClusterView(ClusterInfo("c", observed_at=1))
    amounts: Resources = {"cpu": 8_000, "memory": 1 << 30, "pods": 9, **{f"example.com/{at}": 2 for at in range(100)}}
    view.put(Node("n", amounts))
    told = [*RoomTotals().samples({"c": view}, {}, ["c"], 1_000)]
    free = {labels[1]: value for name, labels, value in told if name == "fairway_cluster_free"}
    assert len(free) == MOST_RESOURCES + 1
    assert (free["cpu"], free["memory"], free[OTHER]) == (8, 1 << 30, 2 * (100 - MOST_RESOURCES + 3))
    rest = series(LargeFleet(ScrapeRun(clusters=1, nodes=1, jobs=1_000)).page())
    assert rest + 1_000 * (len(told) + 6) < BUDGET


def test_beyond_so_many_values_all_others_are_one() -> None:
    names = Bounded(2)
    assert [names.value(text) for text in ("a", "b", "c", "a", "d")] == ["a", "b", OTHER, "a", OTHER]
