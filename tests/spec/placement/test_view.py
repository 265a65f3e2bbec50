"""What a cluster has free: used, held and assumed amounts, each counted once."""

from fairway.placement.cluster import taken
from fairway.placement.fit import Plan, fit
from fairway.wire.capacity import Slot
from tests.spec.placement.builders import GPU, cluster, gpus, job, node, workers

KEY = "job/1"
SLOTS = (Slot("Worker", "n0", 2), Slot("Worker", "n1", 1))
REQUESTS = {"Worker": {"cpu": 1_000, GPU: 2}}


def test_an_assumed_placement_takes_what_its_pods_request_and_one_of_pods_each() -> None:
    view = cluster(gpus(8, 8))
    view.hold(KEY, SLOTS, REQUESTS)
    assert view.free("n0") == {"cpu": 62_000, "memory": 2**38, "pods": 108, GPU: 4}
    assert view.free("n1") == {"cpu": 63_000, "memory": 2**38, "pods": 109, GPU: 6}


def test_an_assumed_placement_counts_once_when_the_cache_shows_it() -> None:
    view = cluster(gpus(8, 8))
    view.hold(KEY, SLOTS, REQUESTS)
    for name, amounts in taken(SLOTS, REQUESTS).items():
        view.put(node(name, gpu=8, holds={KEY: amounts}))
    assert (view.free("n0")[GPU], view.free("n1")[GPU]) == (4, 6)


def test_an_assumption_is_dropped_everywhere_when_the_reserver_chose_other_nodes() -> None:
    view = cluster(gpus(8, 8, 8))
    view.hold(KEY, SLOTS, REQUESTS)
    view.put(node("n2", gpu=8, holds={KEY: {GPU: 6}}))
    assert [view.free(name)[GPU] for name in view.nodes] == [8, 8, 2]


def test_a_late_assumption_of_what_the_nodes_carry_changes_nothing() -> None:
    view = cluster([node("n0", gpu=8, holds={KEY: {GPU: 4}})])
    view.hold(KEY, SLOTS, REQUESTS)
    assert view.free("n0")[GPU] == 4


def test_holding_twice_is_holding_once_and_dropping_twice_is_dropping_once() -> None:
    view = cluster(gpus(8, 8))
    for _ in range(2):
        view.hold(KEY, SLOTS, REQUESTS)
    assert view.free("n0")[GPU] == 4
    for _ in range(2):
        view.drop(KEY)
    assert view.free("n0")[GPU] == 8


def test_an_assumption_on_a_node_not_yet_known_counts_when_the_node_appears() -> None:
    view = cluster([])
    view.hold(KEY, SLOTS, REQUESTS)
    view.put(gpus(8)[0])
    assert view.free("n0")[GPU] == 4


def test_what_is_held_is_not_given_away_again() -> None:
    view = cluster(gpus(8))
    plan = fit(view, job(workers(8)))
    assert isinstance(plan, Plan)
    view.hold(KEY, plan.slots, {"Worker": {GPU: 1}})
    assert not isinstance(fit(view, job(workers(1))), Plan)
    view.drop(KEY)
    assert fit(view, job(workers(8))) == plan


def test_nodes_come_in_the_order_of_names_however_they_arrived() -> None:
    view = cluster([node(name) for name in ("b", "c", "a")])
    view.remove("c")
    view.put(node("aa"))
    assert list(view.nodes) == ["a", "aa", "b"]


def test_a_shape_asked_about_after_more_changes_than_are_remembered_is_counted_anew() -> None:
    view = cluster(gpus(8, 8))
    when = job(workers(1))
    assert isinstance(fit(view, when), Plan)
    for turn in range(500):
        view.hold(f"job-{turn}/1", (Slot("Worker", f"n{turn % 2}", 1),), {"Worker": {GPU: 8}})
        if turn != 499:
            view.drop(f"job-{turn}/1")
    view.remove("n0")
    answer = fit(view, when)
    assert not isinstance(answer, Plan)
    assert (answer.by_node, answer.at_most) == (0, 8)
