"""The shape index kept up to date says what an index built from nothing says, whatever happened before."""

from fairway.placement.shape_index import room
from hypothesis import given, settings
from hypothesis import strategies as st

from fairway.placement import cluster as module
from fairway.placement.cluster import ClusterView
from fairway.placement.shapes import shape
from fairway.wire.capacity import ClusterInfo, Node
from fairway.wire.workload import PodSet
from tests.properties.models.placement import PODS, STEPS, Model, apply


def known(view: ClusterView) -> list[object]:
    """All that the index knows, for every shape; a sum of zero is the same as none."""
    facts: list[object] = [list(view.nodes.items())]
    for pods in PODS:
        row = view.row(shape(pods))
        facts += [row.counts, row.fixed, row.total, row.plain, row.ever, row.tiers, row.sizes]
        region = view.region(row.where)
        for one in (region.free, region.whole):
            facts += [one.nodes, one.unlisted, {name: left for name, left in one.amounts.items() if left}]
    return facts


@given(STEPS)
def test_an_index_kept_up_to_date_equals_one_built_from_nothing(steps: list[tuple[object, ...]]) -> None:
    view = ClusterView(ClusterInfo("c"))
    model = Model()
    for what, *words in steps:
        apply(view, str(what), *words)
        model.step(str(what), *words)
    assert {name: view.free(name) for name in view.nodes} == {
        name: model.free(name) for name in sorted(model.nodes)
    }
    assert known(view) == known(model.fresh(ClusterInfo("c")))


@given(STEPS)
def test_the_sum_of_a_shape_is_the_sum_of_what_each_open_node_takes(steps: list[tuple[object, ...]]) -> None:
    view = ClusterView(ClusterInfo("c"))
    model = Model()
    for what, *words in steps:
        apply(view, str(what), *words)
        model.step(str(what), *words)
    bare = [one for one in model.nodes.values() if one.schedulable and not one.taints]
    for pods in PODS[:3]:
        assert view.row(shape(pods)).total == sum(
            room(tuple(sorted(pods.requests.items())), model.free(node.name)) for node in bare
        )


@settings(max_examples=20)
@given(st.integers(1, 40))
def test_shapes_beyond_the_bound_are_forgotten_and_counted_again_when_asked(extra: int) -> None:
    view = ClusterView(ClusterInfo("c"))
    view.put(Node("n", {"cpu": 1000, "pods": 1000}))
    for cpu in range(1, module.MOST_SHAPES + extra):
        assert view.row(shape(PodSet("p", 1, {"cpu": cpu}))).total == 1000 // cpu
    view.put(Node("n", {"cpu": 500, "pods": 1000}))
    assert view.row(shape(PodSet("p", 1, {"cpu": 1}))).total == 500
    assert len(view._rows) <= module.MOST_SHAPES
