"""Counts kept up to date say what counts of everything read anew say, whatever happened before."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fairway.placement.cluster import ClusterView
from fairway.placement.engine import shape_counts
from fairway.placement.loops.judging import take_sums
from fairway.placement.loops.layout import TOTAL
from fairway.placement.shapes import shape
from fairway.wire.capacity import ClusterInfo, Node
from fairway.wire.workload import PodSet
from tests.properties.models.placement import PODS, STEPS, Model, apply
from tests.properties.models.plain_choice import room


def known(view: ClusterView) -> list[object]:
    """All that an engine knows of its only cluster, for every shape."""
    facts: list[object] = [list(view.nodes.items())]
    for pods in PODS:
        engine = view.engine()
        (asked,) = engine.counts([shape(pods)])
        take_sums(engine.arrays, asked.e, 0)
        nodes = slice(engine.arrays.start[0], engine.arrays.start[0] + engine.arrays.size[0])
        columns = [column for _, column in sorted(engine.rows.columns.by_name.items())]
        sums = engine.arrays.sums[asked.e, 0]
        facts += [engine.arrays.pods[asked.k, nodes].tolist(), engine.arrays.kind[asked.k, nodes].tolist()]
        facts += [engine.arrays.facts[asked.k, 0].tolist(), asked.tally[0].sum(axis=1).tolist()]
        facts += [[one for one in sums[:, columns].T.tolist() if any(one)], sums[:, -2:].tolist()]
    return facts


def total(view: ClusterView, pods: PodSet) -> int:
    engine = view.engine()
    (asked,) = engine.counts([shape(pods)])
    return int(engine.arrays.facts[asked.k, 0, TOTAL])


@given(STEPS)
def test_counts_kept_up_to_date_equal_those_from_nothing(steps: list[tuple[object, ...]]) -> None:
    view = ClusterView(ClusterInfo("c"))
    model = Model()
    for what, *words in steps:
        apply(view, str(what), *words)
        model.step(str(what), *words)
    assert {name: view.free(name) for name in view.nodes} == {name: model.free(name) for name in sorted(model.nodes)}
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
        assert total(view, pods) == sum(
            room(tuple(sorted(pods.requests.items())), model.free(node.name)) for node in bare
        )


@settings(max_examples=20)
@given(st.integers(1, 40))
def test_shapes_beyond_the_bound_are_forgotten_and_counted_again_when_asked(extra: int) -> None:
    view = ClusterView(ClusterInfo("c"))
    view.put(Node("n", {"cpu": 1000, "pods": 1000}))
    for cpu in range(1, shape_counts.MOST_SHAPES + extra):
        assert total(view, PodSet("p", 1, {"cpu": cpu})) == 1000 // cpu
    view.put(Node("n", {"cpu": 500, "pods": 1000}))
    assert total(view, PodSet("p", 1, {"cpu": 1})) == 500
    assert len(view.engine().shapes) <= shape_counts.MOST_SHAPES


@given(st.integers(1, 10**18), st.integers(1, 10**18), st.integers(1, 60))
def test_amounts_up_to_the_largest_that_a_door_takes_are_counted_exactly(has: int, asks: int, nodes: int) -> None:
    """More than 1 PiB of anything on a node counts as that much."""
    view = ClusterView(ClusterInfo("c"))
    for at in range(nodes):
        view.put(Node(f"n{at}", {"memory": has}))
    pods = min(min(has, 1 << 50) // asks, (1 << 17) - 1)
    assert total(view, PodSet("p", 1, {"memory": asks})) == nodes * pods
