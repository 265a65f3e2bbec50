"""A plan is a proof: nobody can overfill a node with it, and a gang is all there or not at all."""

import itertools
from collections import Counter

from hypothesis import assume, given
from hypothesis import strategies as st

from fairway.placement.choose import choose
from fairway.placement.cluster import ClusterView, taken
from fairway.placement.fit import Plan, Shortfall, fit
from fairway.placement.fleet import Fleet
from fairway.placement.recheck import recheck
from fairway.placement.verdicts.verdict import Context
from fairway.wire.capacity import ClusterInfo, Node
from fairway.wire.policy import Placement
from fairway.wire.reasons import Code
from fairway.wire.workload import PodSet, Workload
from tests.properties.models.plain_choice import room

AMOUNTS = st.fixed_dictionaries(
    {"cpu": st.integers(0, 8), "gpu.example/a": st.integers(0, 4)}, optional={"pods": st.integers(0, 5)}
)
NODE_LISTS = st.lists(st.tuples(AMOUNTS, st.one_of(st.just({}), AMOUNTS), st.booleans()), max_size=5).map(
    lambda rows: [
        Node(f"n{index}", have, used=used, schedulable=index == 0 or not closed)
        for index, (have, used, closed) in enumerate(rows)
    ]
)
REQUESTS = st.fixed_dictionaries({"cpu": st.integers(0, 3)}, optional={"gpu.example/a": st.integers(0, 2)})
POD_SETS = st.lists(st.tuples(st.integers(1, 4), REQUESTS), min_size=1, max_size=3).map(
    lambda sets: tuple(PodSet(f"s{index}", count, asks) for index, (count, asks) in enumerate(sets))
)


@st.composite
def workloads(draw: st.DrawFn, sets: st.SearchStrategy[tuple[PodSet, ...]] = POD_SETS) -> Workload:
    pod_sets = draw(sets)
    minimum = draw(st.integers(1, sum(pods.count for pods in pod_sets)))
    return Workload("batch/v1", "Job", "ns", "job", pod_sets, minimum)


def view(nodes: list[Node], name: str = "c") -> ClusterView:
    cluster = ClusterView(ClusterInfo(name, kinds=("Job.batch/v1",), observed_at=1))
    for node in nodes:
        cluster.put(node)
    return cluster


def requests(workload: Workload) -> dict[str, dict[str, int]]:
    return {pods.name: pods.requests for pods in workload.pod_sets}


def assert_room(cluster: ClusterView, workload: Workload, plan: Plan) -> None:
    for name, amounts in taken(plan.slots, requests(workload)).items():
        free = cluster.free(name)
        assert cluster.nodes[name].schedulable
        for one, amount in amounts.items():
            unlimited = one == "pods" and one not in free
            assert not amount or unlimited or amount <= free.get(one, 0)


@given(NODE_LISTS, workloads())
def test_a_plan_never_takes_more_than_a_node_has_free(nodes: list[Node], workload: Workload) -> None:
    cluster = view(nodes)
    plan = fit(cluster, workload)
    if isinstance(plan, Plan):
        assert_room(cluster, workload, plan)


@given(NODE_LISTS, workloads())
def test_a_gang_is_placed_whole_or_not_at_all(nodes: list[Node], workload: Workload) -> None:
    plan = fit(view(nodes), workload)
    if isinstance(plan, Shortfall):
        assert plan.needed == workload.gang_minimum
        assert plan.by_node <= plan.by_sum
        return
    counts: Counter[str] = Counter()
    for slot in plan.slots:
        assert slot.count > 0
        counts[slot.pods] += slot.count
    assert workload.gang_minimum <= plan.pods == counts.total() <= workload.pods
    left = workload.gang_minimum
    for pods in workload.pod_sets:
        assert min(pods.count, left) <= counts[pods.name] <= pods.count
        left -= min(pods.count, left)
    assert len({(slot.pods, slot.node) for slot in plan.slots}) == len(plan.slots)


@given(NODE_LISTS, st.integers(1, 8), REQUESTS, st.integers(1, 8))
def test_one_pod_set_fits_exactly_when_counting_every_node_says_so(
    nodes: list[Node], count: int, asks: dict[str, int], minimum: int
) -> None:
    workload = Workload("batch/v1", "Job", "ns", "job", (PodSet("s", count, asks),), gang_minimum=min(minimum, count))
    cluster = view(nodes)
    plain = tuple((name, amount) for name, amount in asks.items() if amount)
    total = sum(room(plain, cluster.free(node.name)) for node in nodes if node.schedulable)
    plan = fit(cluster, workload)
    assert isinstance(plan, Plan) == (total >= workload.gang_minimum)
    if isinstance(plan, Plan):
        assert plan.pods == min(count, total)
    else:
        assert plan.by_node == total


def possible(cluster: ClusterView, workload: Workload, empty: bool) -> bool:
    """Every way to put every pod of the gang on every node, tried one after another."""
    pods = [
        {name: amount for name, amount in one.requests.items() if amount}
        for one in workload.pod_sets
        for _ in range(one.count)
    ][: workload.gang_minimum]
    nodes = [node for node in cluster.nodes.values() if empty or node.schedulable]
    free = [node.allocatable if empty else cluster.free(node.name) for node in nodes]
    for where in itertools.product(range(len(nodes)), repeat=len(pods)):
        left = [dict(one) for one in free]
        for index, asks in zip(where, pods, strict=True):
            for name, amount in (*asks.items(), *((("pods", 1),) if "pods" in left[index] else ())):
                left[index][name] = left[index].get(name, 0) - amount
        if all(left[index][name] >= 0 for index, asks in zip(where, pods, strict=True) for name in asks) and all(
            left[index].get("pods", 0) >= 0 for index in where
        ):
            return True
    return False


SMALL = st.lists(st.tuples(st.integers(1, 2), REQUESTS), min_size=2, max_size=3).map(
    lambda sets: tuple(PodSet(f"s{index}", count, asks) for index, (count, asks) in enumerate(sets))
)


@given(NODE_LISTS.filter(lambda nodes: len(nodes) <= 3), workloads(SMALL))
def test_several_pod_sets_are_never_said_to_fit_or_never_to_fit_wrongly(nodes: list[Node], workload: Workload) -> None:
    assume(all(pods.requests.get("cpu") for pods in workload.pod_sets))
    cluster = view(nodes)
    plan = fit(cluster, workload)
    if isinstance(plan, Plan):
        assert possible(cluster, workload, empty=False)
    elif plan.code is Code.NEVER_FITS:
        assert not possible(cluster, workload, empty=True)


@given(st.lists(NODE_LISTS, min_size=1, max_size=4), workloads(), st.randoms(use_true_random=False))
def test_the_order_in_which_things_arrived_changes_nothing(fleet, workload, shuffle) -> None:  # type: ignore[no-untyped-def]  # the table above has the types
    one = {f"c{index}": view(nodes, f"c{index}") for index, nodes in enumerate(fleet)}
    names = list(one)
    shuffle.shuffle(names)
    other = {}
    for name in names:
        nodes = list(one[name].nodes.values())
        shuffle.shuffle(nodes)
        other[name] = view(nodes, name)
    context = Context(now=10)
    assert choose(Fleet(one), workload, Placement(), context) == choose(Fleet(other), workload, Placement(), context)


@given(st.lists(NODE_LISTS, min_size=1, max_size=4), workloads())
def test_a_chosen_cluster_has_a_plan_and_a_verdict_agrees_with_the_fit(
    fleet: list[list[Node]], workload: Workload
) -> None:
    clusters = {f"c{index}": view(nodes, f"c{index}") for index, nodes in enumerate(fleet)}
    choice = choose(Fleet(clusters), workload, Placement(), Context(now=10))
    assert [one.cluster for one in choice.verdicts] == sorted(clusters)
    fitting = {one.cluster for one in choice.verdicts if one.code is Code.FITS}
    assert fitting == {name for name, one in clusters.items() if isinstance(fit(one, workload), Plan)}
    assert (choice.cluster in fitting) == bool(fitting)
    if choice.plan:
        assert choice.plan == fit(clusters[choice.cluster], workload)
        totals = {one.cluster: one.score.total for one in choice.verdicts if one.score}
        assert totals[choice.cluster] == max(totals.values())


@given(NODE_LISTS, NODE_LISTS, workloads())
def test_a_recheck_on_fresh_data_keeps_a_plan_that_stands_and_never_overfills(
    before: list[Node], after: list[Node], workload: Workload
) -> None:
    proposed = fit(view(before), workload)
    assume(isinstance(proposed, Plan))
    assert isinstance(proposed, Plan)
    assert recheck(view(before), workload, proposed.slots) == proposed
    fresh = view(after)
    again = recheck(fresh, workload, proposed.slots)
    if isinstance(again, Shortfall):
        assert again == fit(fresh, workload)
        return
    assert_room(fresh, workload, again)
