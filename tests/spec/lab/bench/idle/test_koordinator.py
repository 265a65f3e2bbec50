"""What Koordinator makes of the use of a node, by figures that its own formulas give."""

import pytest

from fairway.domain.resources import BATCH_CPU, BATCH_MEMORY
from fairway.lab.bench.idle.koordinator import CpuMemory, batch, evicted, is_written, satisfaction

GIB = 1 << 30
NODE = CpuMemory(100_000, 400 * GIB)
SYSTEM = CpuMemory(2_000, 10 * GIB)


def test_batch_resources_are_what_is_left_below_the_reclaim_threshold() -> None:
    """60 % of processors and 65 % of memory, less the system, less online pods."""
    assert batch(NODE, CpuMemory(30_000, 100 * GIB), SYSTEM) == {BATCH_CPU: 28_000, BATCH_MEMORY: 150 * GIB}
    assert batch(NODE, CpuMemory(70_000, 300 * GIB), SYSTEM) == {BATCH_CPU: 0, BATCH_MEMORY: 0}


@pytest.mark.parametrize(
    ("before", "now", "age", "written"),
    [
        pytest.param({}, {BATCH_CPU: 0}, 0, True, id="the first time"),
        pytest.param({BATCH_CPU: 1_000}, {BATCH_CPU: 900}, 60, False, id="a tenth less"),
        pytest.param({BATCH_CPU: 1_000}, {BATCH_CPU: 899}, 60, True, id="more than a tenth less"),
        pytest.param({BATCH_CPU: 1_000}, {BATCH_CPU: 1_101}, 60, True, id="more than a tenth more"),
        pytest.param({BATCH_CPU: 1_000}, {BATCH_CPU: 1_000}, 300, False, id="five minutes old"),
        pytest.param({BATCH_CPU: 1_000}, {BATCH_CPU: 1_000}, 301, True, id="older"),
        pytest.param({BATCH_CPU: 0}, {BATCH_CPU: 1}, 0, True, id="anything where nothing was"),
    ],
)
def test_a_node_is_written_when_figures_differ_enough_or_are_old(
    before: dict[str, int], now: dict[str, int], age: float, written: bool
) -> None:
    assert is_written(before, now, age) == written


@pytest.mark.parametrize(
    ("online", "asked", "want"),
    [
        pytest.param(30_000, 33_000, 1.0, id="all of it: 65 % less the use"),
        pytest.param(30_000, 66_000, 0.5, id="half of it"),
        pytest.param(90_000, 4_000, 0.5, id="two processors at least"),
        pytest.param(90_000, 0, 1.0, id="nobody asks"),
    ],
)
def test_best_effort_pods_are_kept_to_what_the_suppress_threshold_leaves(online: int, asked: int, want: float) -> None:
    assert satisfaction(NODE, CpuMemory(online, 0), SYSTEM, asked) == want


def pods(*sizes: tuple[int, int]) -> list[tuple[str, CpuMemory]]:
    return [(f"p{index}", CpuMemory(cpu, memory * GIB)) for index, (cpu, memory) in enumerate(sizes)]


@pytest.mark.parametrize(
    ("satisfied", "want"),
    [
        pytest.param(0.61, [], id="above the lower limit"),
        pytest.param(0.60, ["p0"], id="at it: a fifth of 20 cores is one pod"),
        pytest.param(0.30, ["p0", "p1"], id="far below: half of 20 cores are two pods"),
    ],
)
def test_pods_are_evicted_for_processors_until_the_rest_has_four_fifths(satisfied: float, want: list[str]) -> None:
    assert evicted(pods(*[(5_000, 1)] * 4), NODE, CpuMemory(60_000, 100 * GIB), satisfied) == want


@pytest.mark.parametrize(
    ("rest", "want"),
    [
        pytest.param(240, [], id="70 % of memory"),
        pytest.param(241, ["p0", "p1"], id="above it: to 68 %, which is 9 GiB"),
    ],
)
def test_pods_are_evicted_for_memory(rest: int, want: list[str]) -> None:
    assert evicted(pods(*[(1_000, 5)] * 8), NODE, CpuMemory(0, rest * GIB), 1.0) == want
