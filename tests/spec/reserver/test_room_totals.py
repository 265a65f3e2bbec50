"""What is known of a cluster's room is what a count of all its nodes would give, however they came and went."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairway.domain.reservations import left_on
from fairway.placement.cluster import ClusterView
from fairway.placement.room_sums import RoomSums
from fairway.reserver.room_totals import RoomTotals
from fairway.wire.capacity import ClusterInfo, Node, Slot

amounts = st.dictionaries(st.sampled_from(["cpu", "memory", "gpu"]), st.integers(1, 9), min_size=1)
nodes = st.builds(
    Node,
    name=st.sampled_from(["n1", "n2", "n3"]),
    allocatable=amounts,
    schedulable=st.booleans(),
    used=amounts,
    holds=st.dictionaries(st.sampled_from(["a/1", "b/1"]), amounts),
)
PLACED = ((Slot("Worker", "n1", 1),), {"Worker": {"cpu": 1}})
steps = st.lists(st.one_of(nodes, st.sampled_from(["n1", "n2", "n3", "assume", "forget", "look"])), max_size=20)


@given(steps)
def test_kept_totals_are_counted_ones(taken: list[Any]) -> None:
    view = ClusterView(ClusterInfo("c", observed_at=1))
    kept: dict[str, RoomSums] = {}
    for step in taken:
        match step:
            case Node():
                view.put(step)
            case "assume":
                view.hold("z/1", *PLACED)
            case "forget":
                view.drop("z/1")
            case "look":
                assert told(kept, view) == told({}, view)
            case _:
                view.remove(step)
    found = told(kept, view)
    assert found == told({}, view)
    assert found.get(("fairway_cluster_nodes", ("c", "unschedulable"))) == sum(
        not node.schedulable for node in view.nodes.values()
    )
    assert found.get(("fairway_cluster_allocatable", ("c", "memory", "byte")), 0) == sum(
        node.allocatable.get("memory", 0) for node in view.nodes.values()
    )


def told(sums: dict[str, RoomSums], view: ClusterView) -> dict[tuple[str, tuple[str, ...]], float]:
    """Zeros of resources that no node has are left out in both."""
    return {(name, labels): value for name, labels, value in RoomTotals().samples({"c": view}, sums, ["c"], 1)}


@given(st.lists(st.dictionaries(st.sampled_from(["n1", "n2", "n3"]), nodes, max_size=3), min_size=1, max_size=8))
def test_what_is_free_is_counted_too(states: list[dict[str, Node]]) -> None:
    """In all, and on the node that has most."""
    kept = RoomSums()
    for state in states:
        kept.follow(state)
        free = [left_on(node) for node in state.values() if node.schedulable]
        names = {name for one in free for name in one}
        in_all = {name: sum(max(0, one.get(name, 0)) for one in free) for name in names}
        most = {name: max(0, *(one.get(name, 0) for one in free)) for name in names}
        assert kept.free_now() == (in_all, most)
