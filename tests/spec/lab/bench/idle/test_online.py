"""Online pods of a day: as the trace has them, with use that is made up, and counted as Koordinator counts it."""

import numpy as np
import pytest

from fairway.lab.bench.idle.online import MINUTES, clusters, counted, day, fill
from fairway.lab.bench.idle.trace_rows import NodeRow, PodRow, TraceRows

PODS = (PodRow(8_000, 16_384, 0, 0, 90_000), PodRow(4_000, 8_192, 500, 60, 900))


def trace(nodes: int) -> TraceRows:
    return TraceRows(tuple(NodeRow(f"n{at}", 64_000, 262_144, at % 2) for at in range(nodes)), PODS, PODS)


def test_nodes_are_taken_at_equal_distances_and_dealt_out() -> None:
    found = clusters(trace(12), 2, 3)
    assert {name: [row.name for row in rows] for name, rows in found.items()} == {
        "c1": ["n0", "n4", "n8"],
        "c2": ["n2", "n6", "n10"],
    }


@pytest.mark.parametrize("gpus", [0, 1])
def test_a_node_is_filled_with_pods_that_fit_up_to_its_limits(gpus: int) -> None:
    row = NodeRow("n", 64_000, 262_144, gpus)
    found = fill(row, PODS, np.random.default_rng(1))
    asked = sum(pod.cpu_milli for pod in found)
    assert 36_800 < asked <= 44_800, "no more than 70 %, and nothing more fits"
    assert sum(pod.memory_mib for pod in found) <= 0.85 * row.memory_mib
    assert sum(pod.gpu_milli for pod in found) <= 1000 * gpus


def test_the_same_seed_gives_the_same_day_and_use_is_within_what_is_requested() -> None:
    fleet = clusters(trace(8), 2, 2)
    first, again, other = (day(trace(8), fleet, seed) for seed in (1, 1, 2))
    for name, nodes in first.items():
        for one, same, different in zip(nodes, again[name], other[name], strict=True):
            assert len(one.cpu) == MINUTES
            assert (one.cpu == same.cpu).all()
            assert (one.cpu != different.cpu).any()
            assert one.cpu.min() > 0
            assert one.cpu.max() <= 0.7 * one.row.cpu_milli
            assert one.memory.max() <= 0.6 * 0.85 * one.row.memory_mib * 2**20


def test_clusters_are_busy_at_hours_of_their_own() -> None:
    """Each of two is busier than the other for its half of the day."""
    fleet = clusters(trace(40), 2, 20)
    use = {name: sum(one.cpu for one in nodes) for name, nodes in day(trace(40), fleet, 1).items()}
    nights = slice(MINUTES * 3 // 8, MINUTES * 5 // 8)
    assert use["c1"][nights].mean() < use["c2"][nights].mean()
    assert use["c1"][: MINUTES // 8].mean() > use["c2"][: MINUTES // 8].mean()


def test_koordinator_counts_a_new_pods_request_and_then_means_of_what_was_measured() -> None:
    used = np.array([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0])
    assert counted(used, 100.0, known=False).tolist() == [100, 10, 15, 20, 25, 30, 40]
    assert counted(used, 100.0, known=True)[0] == 10
