"""What stands between a job and a cluster, when no cluster takes it."""

import pytest

from fairway.placement.choose import choose
from fairway.placement.cluster import ClusterView
from fairway.placement.fleet import Fleet
from fairway.placement.verdicts.sentences import what_would_help
from fairway.wire.policy import Affinity, Placement
from fairway.wire.reasons import Code
from fairway.wire.workload import Workload
from tests.spec.placement.builders import NOW, cluster, context, gpus, job, node, workers


@pytest.mark.parametrize(
    ("given", "when", "want"),
    [
        pytest.param(
            [cluster(gpus(8, 4, 4), "a"), cluster(gpus(4, 3), "b")],
            job(workers(2, gpu=8)),
            (
                True,
                "none of 2 clusters can take it now; nearest is a: needs 2 pods of 1 cpu, 8 nvidia.com/gpu; "
                "node by node 1 fit, by sum of free resources 2 would (nvidia.com/gpu ends first)",
            ),
            id="the cluster that holds most of it",
        ),
        pytest.param(
            [cluster(gpus(8), "a"), cluster(gpus(8, 8), "b", observed_at=NOW - 60_000)],
            job(workers(2, gpu=8)),
            (
                True,
                "none of 2 clusters can take it now; nearest is b: its last report is 60 s old; 30 s is the limit",
            ),
            id="a silent cluster may still take it",
        ),
        pytest.param(
            [cluster(gpus(8), "a"), cluster(gpus(8, 8), "b"), cluster(gpus(8, 8, 8, 8), "c", kinds=())],
            job(workers(4, gpu=8)),
            (
                False,
                "none of 3 clusters could hold it even when empty; nearest is b: needs 4 pods of 1 cpu, "
                "8 nvidia.com/gpu; even empty the cluster would hold 2 node by node, 2 by sum of resources",
            ),
            id="too big for every cluster that serves it",
        ),
        pytest.param(
            [cluster([node("n0", gpu=8, schedulable=False), node("n1", gpu=4)], "a")],
            job(workers(1, gpu=8)),
            (
                True,
                "none of 1 clusters can take it now; nearest is a: needs 1 pod of 1 cpu, 8 nvidia.com/gpu; "
                "node by node 0 fit, by sum of free resources 0 would (nvidia.com/gpu ends first); closed now (not "
                "ready, cordoned or under pressure): 1 of its matching nodes",
            ),
            id="the room is there, on a node that is not ready",
        ),
        pytest.param([], job(workers(1)), (True, "no cluster has joined the fleet yet"), id="no cluster yet"),
    ],
)
def test_what_would_help(given: list[ClusterView], when: Workload, want: tuple[bool, str]) -> None:
    choice = choose(Fleet({view.name: view for view in given}), when, Placement(), context())
    why = what_would_help(choice, Placement())
    ever, text = want
    assert (why.code, why.text) == (Code.WAITING_FOR_ROOM if ever else Code.NO_CLUSTER_EVER, text)


FREE = [cluster(gpus(8), "a"), cluster(gpus(8), "b")]
FULL = [cluster(gpus(0), "a"), cluster(gpus(8), "b")]
MANY = tuple(f"x{number}" for number in range(7))
LESS = "needs 1 pod of 1 cpu, 8 nvidia.com/gpu; node by node 0 fit, by sum of free resources 0 would"


@pytest.mark.parametrize(
    ("given", "names", "code", "text"),
    [
        pytest.param(
            FREE, (("z",),), Code.UNKNOWN_CLUSTER, "the policy names z, which is not in the fleet", id="no such cluster"
        ),
        pytest.param(
            [],
            (("z",),),
            Code.UNKNOWN_CLUSTER,
            "the policy names z, which is not in the fleet, and no cluster has joined the fleet yet",
            id="no cluster at all",
        ),
        pytest.param(
            FREE,
            (("z", "y"),),
            Code.UNKNOWN_CLUSTER,
            "the policy names y, z, which are not in the fleet",
            id="two that are not there",
        ),
        pytest.param(
            FREE,
            (MANY,),
            Code.UNKNOWN_CLUSTER,
            "the policy names x0, x1, x2, x3, x4 and 2 more, which are not in the fleet",
            id="many that are not there",
        ),
        pytest.param(
            [cluster(gpus(8), "a", kinds=()), cluster(gpus(8), "b")],
            (("a", "z"),),
            Code.UNKNOWN_CLUSTER,
            "the policy names z, which is not in the fleet; of the 2 that are none could hold it even when empty; "
            "nearest is a: it does not serve PyTorchJob.kubeflow.org/v1",
            id="one that is there and will never do",
        ),
        pytest.param(
            FULL,
            (("a", "z"),),
            Code.WAITING_FOR_ROOM,
            f"none of 2 clusters can take it now; nearest is a: {LESS} (nvidia.com/gpu ends first); the policy also "
            "names z, which is not in the fleet",
            id="one that is there and is full",
        ),
        pytest.param(
            FULL,
            (("z",), ("a",)),
            Code.WAITING_FOR_ROOM,
            f"none of 2 clusters can take it now; nearest is a: {LESS} (nvidia.com/gpu ends first); the policy also "
            "names z, which is not in the fleet",
            id="the next tier is there and is full",
        ),
    ],
)
def test_what_would_help_a_job_whose_policy_names_clusters_that_are_not_there(
    given: list[ClusterView], names: tuple[tuple[str, ...], ...], code: Code, text: str
) -> None:
    placement = Placement(affinities=tuple(Affinity(cluster_names=tier) for tier in names))
    choice = choose(Fleet({view.name: view for view in given}), job(workers(1, gpu=8)), placement, context())
    why = what_would_help(choice, placement)
    assert (why.code, why.text, "join" in why.remedy) == (code, text, code is Code.UNKNOWN_CLUSTER)


def test_one_of_several_named_clusters_is_used_although_the_other_is_not_there() -> None:
    placement = Placement(affinities=(Affinity(cluster_names=("z", "b")),))
    choice = choose(Fleet({view.name: view for view in FREE}), job(workers(1, gpu=8)), placement, context())
    assert choice.cluster == "b"


def test_a_cluster_that_the_policy_excludes_as_well_is_not_waited_for() -> None:
    placement = Placement(affinities=(Affinity(cluster_names=("z",), exclude=("z",)),))
    choice = choose(Fleet({view.name: view for view in FREE}), job(workers(1, gpu=8)), placement, context())
    assert what_would_help(choice, placement).code is Code.NO_CLUSTER_EVER
