"""What stands between a job and a cluster, when no cluster takes it."""

import pytest

from fairway.placement.choose import choose
from fairway.placement.cluster import ClusterView
from fairway.placement.fleet import Fleet
from fairway.placement.verdicts.sentences import what_would_help
from fairway.wire.policy import Placement
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
    why = what_would_help(choice)
    ever, text = want
    assert (why.code, why.text) == (Code.WAITING_FOR_ROOM if ever else Code.NO_CLUSTER_EVER, text)
