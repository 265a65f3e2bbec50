"""The policies beside Fairway, against tables that were worked out by hand."""

from collections.abc import Mapping

import pytest

from fairway.lab.fleet.cluster_shapes import equal_clusters
from fairway.lab.traces.policies.baselines import (
    BASELINES,
    FIFO,
    SJF,
    STATIC,
    ComparedFleet,
    split_nodes,
)
from fairway.lab.traces.policies.event_loop import JobRun
from fairway.lab.traces.trace import GPU, TraceJob

# Two nodes of eight GPUs, in one cluster.
FLEET = ComparedFleet(equal_clusters(1, nodes=2, gpus=8))
Row = tuple[str, float, float, int, int]
# Tenant, submitted, seconds, pods, GPUs of each. The second one needs both nodes, which are never free before 100.
ROWS: tuple[Row, ...] = (
    ("a", 0, 100, 1, 8),
    ("a", 10, 50, 2, 8),
    ("b", 20, 10, 1, 8),
    ("b", 25, 20, 1, 8),
    ("b", 26, 5, 1, 8),
)


def jobs(*rows: Row) -> list[TraceJob]:
    return [
        TraceJob(f"j{index}", tenant, at, seconds, pods, {"cpu": "1", GPU: str(gpus)})
        for index, (tenant, at, seconds, pods, gpus) in enumerate(rows)
    ]


@pytest.mark.parametrize(
    ("policy", "want"),
    [
        pytest.param(
            FIFO,
            [(0, 100), (100, 150), (150, 160), (150, 170), (160, 165)],
            id="FIFO: nobody passes the first, though one node is free until 100",
        ),
        pytest.param(
            SJF,
            [(0, 100), (100, 150), (20, 30), (35, 55), (30, 35)],
            id="SJF: the shortest that fits, so that the last one passes the one before it",
        ),
        pytest.param(
            STATIC,
            [(0, 100), None, (20, 30), (30, 50), (50, 55)],
            id="a static partition: a node for each, on which two of a's pods never fit",
        ),
    ],
)
def test_a_policy_runs_the_jobs_as_the_table_says(policy: str, want: list[tuple[float, float] | None]) -> None:
    runs = BASELINES[policy](jobs(*ROWS), FLEET)
    assert runs == [None if one is None else JobRun(*one) for one in want]


def test_a_gang_is_placed_in_one_cluster_and_pods_of_others_fill_what_it_leaves() -> None:
    """Two clusters of one node: a gang of two nodes fits in none, and three jobs of four GPUs share both."""
    fleet = ComparedFleet(equal_clusters(2, nodes=1, gpus=8))
    found = BASELINES[FIFO](jobs(("a", 0, 10, 2, 8), *(("a", 0, 10, 1, 4) for _ in range(5))), fleet)
    assert [run and run.started for run in found] == [None, 0, 0, 0, 0, 10]


@pytest.mark.parametrize(
    ("shares", "want"),
    [
        ({"a": 1, "b": 1}, {"a": 4, "b": 4}),
        ({"a": 3, "b": 1}, {"a": 6, "b": 2}),
        # 4.57, 2.29 and 1.14 nodes: the one that is left goes to the largest remainder.
        ({"a": 4, "b": 2, "c": 1}, {"a": 5, "b": 2, "c": 1}),
        # Equal remainders: the first name.
        ({"a": 1, "b": 1, "c": 1}, {"a": 3, "b": 3, "c": 2}),
    ],
)
def test_nodes_are_split_by_shares_with_none_left(shares: Mapping[str, int], want: dict[str, int]) -> None:
    assert split_nodes(8, shares) == want


def test_a_static_partition_follows_the_shares_of_the_trace() -> None:
    """Of four nodes three are b's: three of its jobs run at once, and of a's one."""
    fleet = ComparedFleet(equal_clusters(2, nodes=2, gpus=8), {"a": 1, "b": 3})
    found = BASELINES[STATIC](jobs(*((tenant, 0, 10, 1, 8) for tenant in "aabbbb")), fleet)
    assert [run.started for run in found if run] == [0, 10, 0, 0, 0, 10]
