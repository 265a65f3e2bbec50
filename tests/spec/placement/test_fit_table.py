"""What fits where, and what is said when it does not."""

import pytest

from fairway.placement.fit import Plan, Shortfall, fit
from fairway.placement.recheck import recheck
from fairway.wire.capacity import Node, Slot
from fairway.wire.reasons import Code
from fairway.wire.workload import Workload
from tests.spec.placement.builders import GPU, cluster, gpus, job, node, workers


def slots(plan: Plan | Shortfall) -> list[tuple[str, str, int]]:
    assert isinstance(plan, Plan)
    return [(slot.pods, slot.node, slot.count) for slot in plan.slots]


@pytest.mark.parametrize(
    ("given", "when", "want"),
    [
        pytest.param(
            gpus(8, 3, 2), job(workers(2)), [("Worker", "n2", 2)], id="the tightest node that takes all of it"
        ),
        pytest.param(
            gpus(8, 8, 2),
            job(workers(10)),
            [("Worker", "n0", 8), ("Worker", "n2", 2)],
            id="whole nodes first, and the rest on the tightest",
        ),
        pytest.param(gpus(4, 4, 4), job(workers(1)), [("Worker", "n0", 1)], id="equal nodes go by name"),
        pytest.param(
            [node("a", gpu=8), node("b")],
            job(workers(1, gpu=0)),
            [("Worker", "b", 1)],
            id="a pod without GPUs stays off GPU nodes while it can",
        ),
        pytest.param(
            [node("a", gpu=8, used={"cpu": 62_000})],
            job(workers(2, gpu=0)),
            [("Worker", "a", 2)],
            id="a pod without GPUs goes on a GPU node when nothing else is left",
        ),
        pytest.param(
            gpus(8),
            job(workers(1, name="Master"), workers(3)),
            [("Master", "n0", 1), ("Worker", "n0", 3)],
            id="pod sets of one shape share nodes and keep their names",
        ),
        pytest.param(
            gpus(3),
            job(workers(1, name="Master"), workers(8), gang=2),
            [("Master", "n0", 1), ("Worker", "n0", 2)],
            id="an elastic job gets its gang and what more fits, first sets first",
        ),
        pytest.param(
            [node("a", cpu=4_000, gpu=4), node("b", cpu=4_000)],
            job(workers(1, gpu=0, cpu=4_000, name="Launcher"), workers(4)),
            [("Launcher", "b", 1), ("Worker", "a", 4)],
            id="two shapes keep out of each other's way",
        ),
        pytest.param(
            [node("a", cpu=5_000, gpu=4)],
            job(workers(1, gpu=0, name="Launcher"), workers(6), gang=3),
            [("Launcher", "a", 1), ("Worker", "a", 4)],
            id="two shapes, the second elastic: one slot per set and node",
        ),
        pytest.param(
            [node("a", allocatable={"cpu": 9_000, "pods": 3}, used={"pods": 1}), node("b", allocatable={"cpu": 9_000})],
            job(workers(11, gpu=0)),
            [("Worker", "b", 9), ("Worker", "a", 2)],
            id="a node that counts pods takes no more than it lists",
        ),
    ],
)
def test_where_pods_go(given: list[Node], when: Workload, want: list[tuple[str, str, int]]) -> None:
    assert slots(fit(cluster(given), when)) == want


@pytest.mark.parametrize(
    ("given", "when", "code", "want"),
    [
        pytest.param(
            gpus(4, 4),
            job(workers(1, gpu=8)),
            Code.FRAGMENTED,
            "needs 1 pod of 1 cpu, 8 nvidia.com/gpu; node by node 0 fit, "
            "by sum of free resources 1 would (nvidia.com/gpu ends first)",
            id="enough in all, on no node",
        ),
        pytest.param(
            gpus(4, 3),
            job(workers(8, gpu=2)),
            Code.NOT_ENOUGH,
            "needs 8 pods of 1 cpu, 2 nvidia.com/gpu; node by node 3 fit, "
            "by sum of free resources 3 would (nvidia.com/gpu ends first)",
            id="not enough in all",
        ),
        pytest.param(
            gpus(8, 8),
            job(workers(3, gpu=8)),
            Code.NEVER_FITS,
            "needs 3 pods of 1 cpu, 8 nvidia.com/gpu; even empty the cluster would hold 2 node by node, "
            "2 by sum of resources",
            id="more than there is",
        ),
        pytest.param(
            gpus(8, 8),
            job(workers(1, gpu=16)),
            Code.NEVER_FITS,
            "needs 1 pod of 1 cpu, 16 nvidia.com/gpu; none of the 2 matching nodes is large enough for one",
            id="a pod larger than any node",
        ),
        pytest.param(
            gpus(8),
            job(workers(1, node_selector={"gpu": "h100"})),
            Code.NEVER_FITS,
            "needs 1 pod of 1 cpu, 1 nvidia.com/gpu; no node there is one that all these pods may be on",
            id="no node with the label",
        ),
        pytest.param(
            [],
            job(workers(1)),
            Code.NEVER_FITS,
            "needs 1 pod of 1 cpu, 1 nvidia.com/gpu; no node there is one that all these pods may be on",
            id="no node at all",
        ),
        pytest.param(
            [node("a", gpu=8, used={"pods": 110})],
            job(workers(1)),
            Code.NOT_ENOUGH,
            "needs 1 pod of 1 cpu, 1 nvidia.com/gpu; node by node 0 fit, "
            "by sum of free resources 0 would (pods ends first)",
            id="the node takes no more pods",
        ),
        pytest.param(
            [node("a", cpu=4_000, gpu=4)],
            job(workers(1, gpu=0, name="Launcher"), workers(4)),
            Code.NEVER_FITS,
            "needs 1 pod of 1 cpu and 4 pods of 1 cpu, 1 nvidia.com/gpu; even empty the cluster would hold "
            "4 node by node, 4 by sum of resources",
            id="two shapes that are too much together",
        ),
        pytest.param(
            [node("a", cpu=4_000, gpu=4, used={"cpu": -1_000, GPU: 9})],
            job(workers(2)),
            Code.NOT_ENOUGH,
            "needs 2 pods of 1 cpu, 1 nvidia.com/gpu; node by node 0 fit, "
            "by sum of free resources 0 would (nvidia.com/gpu ends first)",
            id="an overcommitted node has nothing, not less",
        ),
    ],
)
def test_what_is_said_when_it_does_not_fit(given: list[Node], when: Workload, code: Code, want: str) -> None:
    answer = fit(cluster(given), when)
    assert isinstance(answer, Shortfall)
    assert (answer.code, answer.text) == (code, want)


def test_two_shapes_on_different_nodes_do_not_count_against_each_other() -> None:
    nodes = [
        node("a", labels={"pool": "a"}, used={"cpu": 64_000}),
        node("b", labels={"pool": "b"}, used={"cpu": 64_000}),
    ]
    sets = [workers(64, gpu=0, name=pool, node_selector={"pool": pool}) for pool in ("a", "b")]
    answer = fit(cluster(nodes), job(*sets))
    assert isinstance(answer, Shortfall)
    assert (answer.code, answer.at_most) == (Code.NOT_ENOUGH, 128)


def test_a_job_without_pods_fits_anywhere_and_takes_nothing() -> None:
    assert fit(cluster([]), job(gang=1)) == Plan((), 0)


PROPOSED = (Slot("Worker", "n0", 2),)


@pytest.mark.parametrize(
    ("given", "when", "want"),
    [
        pytest.param(gpus(8, 2), PROPOSED, [("Worker", "n0", 2)], id="still free: kept, though n1 were tighter"),
        pytest.param(gpus(1, 2), PROPOSED, [("Worker", "n1", 2)], id="taken meanwhile: placed afresh"),
        pytest.param(
            [node("n0", gpu=8, schedulable=False), node("n1", gpu=8)],
            PROPOSED,
            [("Worker", "n1", 2)],
            id="cordoned meanwhile: placed afresh",
        ),
        pytest.param(gpus(8), (Slot("Worker", "gone", 2),), [("Worker", "n0", 2)], id="the node is gone"),
        pytest.param(gpus(8), (Slot("Worker", "n0", 1),), [("Worker", "n0", 2)], id="less than the gang"),
        pytest.param(gpus(8), (Slot("Worker", "n0", 3),), [("Worker", "n0", 2)], id="more than the job"),
        pytest.param(gpus(8), (Slot("Other", "n0", 2),), [("Worker", "n0", 2)], id="pods that are not the job's"),
        pytest.param(
            gpus(8), (Slot("Worker", "n0", 3), Slot("Worker", "n0", -1)), [("Worker", "n0", 2)], id="negative slots"
        ),
    ],
)
def test_the_reserver_looks_again(given: list[Node], when: tuple[Slot, ...], want: list[object]) -> None:
    assert slots(recheck(cluster(given), job(workers(2)), when)) == want


def test_a_recheck_that_finds_no_room_says_what_is_missing() -> None:
    answer = recheck(cluster(gpus(1)), job(workers(2)), PROPOSED)
    assert isinstance(answer, Shortfall)
    assert (answer.code, answer.by_node) == (Code.NOT_ENOUGH, 1)


def test_slots_with_the_right_sum_but_no_master_are_not_the_gang() -> None:
    two = job(workers(1, name="Master", cpu=2_000), workers(2), gang=2)
    assert slots(recheck(cluster(gpus(8)), two, (Slot("Worker", "n0", 2),))) == [
        ("Master", "n0", 1),
        ("Worker", "n0", 2),
    ]
