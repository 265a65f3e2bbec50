"""A day of idle resources through the real services, with nodes whose use is written by hand."""

from typing import Any

import numpy as np
import pytest

from fairway.lab.bench.idle.application import DRIVER, EXECUTOR, SparkPod
from fairway.lab.bench.idle.figures import compared, counts, figures
from fairway.lab.bench.idle.jobs import SparkJob
from fairway.lab.bench.idle.koordinator import CpuMemory
from fairway.lab.bench.idle.node import NodeTotals, idle_core_seconds, idle_node
from fairway.lab.bench.idle.online import MINUTES, NodeDay
from fairway.lab.bench.idle.run import IdleOutcome, IdlePlan, simulate_day
from fairway.lab.bench.idle.trace_rows import NodeRow

HOUR = 3_600.0
BOTH = ("c1", "c2")


def node(name: str, **millicores_from: int) -> NodeDay:
    """Of 100 cores; online pods use so many millicores `from_N` minutes on, and 20 cores before."""
    cpu = np.full(MINUTES, 20_000.0)
    for start, millicores in millicores_from.items():
        cpu[int(start.removeprefix("from_")) :] = millicores
    memory = np.full(MINUTES, 100.0 * 2**30)
    return NodeDay(NodeRow(name, 100_000, 400 * 1024, 0), cpu, memory, cpu, memory)


def job(index: int, executors: int = 4, seconds: float = HOUR, at: float = 120.0) -> SparkJob:
    return SparkJob(f"spark-{index}", "team", at, seconds, executors, 4_000, 4_096)


def simulated(
    days: dict[str, list[NodeDay]], *jobs: SparkJob, homes: tuple[str, ...] = BOTH, **more: Any
) -> IdleOutcome:
    return simulate_day(IdlePlan(days, jobs, {"team": homes}, **more))


def test_a_job_runs_for_as_long_as_it_says_and_uses_what_it_asks_for() -> None:
    outcome = simulated({"c1": [node("a")], "c2": [node("b")]}, job(0))
    assert outcome.completions[0] == pytest.approx(HOUR, abs=1)
    assert outcome.lost.ran == pytest.approx(4 * HOUR, abs=1)
    assert outcome.lost.share == 0
    # Seen minute by minute: four executors of four cores and a driver of one.
    assert outcome.totals.batch == pytest.approx(17 * HOUR, rel=0.02)
    assert (outcome.shrunk, outcome.failed, outcome.violations) == (0, 0, ())


def test_a_job_whose_node_shrinks_is_taken_back_and_runs_elsewhere() -> None:
    """Only c1 has room at first; after half an hour its online pods want all of that, and then c2 has some."""
    days = {"c1": [node("a", from_30=78_000)], "c2": [node("b", from_0=60_000, from_20=20_000)]}
    outcome = simulated(days, job(0))
    assert (outcome.shrunk, outcome.failed, len(outcome.completions)) == (1, 0, 1)
    assert outcome.lost.evictions > 1
    assert outcome.lost.taken_back + outcome.lost.evicted == pytest.approx(4 * 28 * 60, rel=0.1)
    assert outcome.completions[0] == pytest.approx(28 * 60 + HOUR, abs=120)
    assert outcome.violations == ()


def test_where_nobody_evicts_executors_are_slower() -> None:
    days = {"c1": [node("a", from_30=54_000)], "c2": [node("b", from_0=60_000)]}
    outcome = simulated(days, job(0, executors=8), evict=False)
    assert (outcome.shrunk, outcome.lost.evictions) == (0, 0)
    # 65 % of 100 cores, less 54, less 2 of the system: 9 cores are left for 33.
    assert outcome.completions[0] == pytest.approx(28 * 60 + 32 * 60 * 33 / 9, rel=0.02)
    assert outcome.lost.suppressed == pytest.approx(outcome.lost.ran - 8 * HOUR, rel=0.01)


def test_the_same_plan_gives_the_same_outcome() -> None:
    plan = IdlePlan({"c1": [node("a", from_30=60_000)], "c2": [node("b")]}, tuple(map(job, range(4))), {"team": BOTH})
    first = simulate_day(plan)
    again = simulate_day(plan)
    first.seconds = again.seconds
    assert first == again


def test_online_use_lacks_what_spark_pods_keep_from_it_until_they_are_suppressed() -> None:
    made = idle_node(node("a", from_0=80_000))
    made.taken = CpuMemory(30_000, 0)
    made.suppress()
    totals = NodeTotals()
    made.count(totals, 60.0)
    # 80 and 2 of the system and 30 are 12 more than there are; koordlet leaves 2 after a second.
    assert (totals.unsuppressed, totals.delayed) == (12 * 60, 12)
    assert (totals.batch, totals.idle) == (pytest.approx(2 * 60), 0)


def test_koordlet_takes_executors_that_work_before_a_driver_that_waits() -> None:
    made = idle_node(node("a", from_0=60_000))
    for index, role in enumerate((DRIVER, EXECUTOR, EXECUTOR)):
        made.put(f"pod-{index}", SparkPod(f"pod-{index}", role, "a", CpuMemory(10_000, 1), 0.0))
    made.suppress()
    # 3 cores are left for 30: all but 6 have to go, and the driver would be the last.
    assert sorted(made.to_evict()[:2]) == ["pod-1", "pod-2"]
    assert made.to_evict()[2:] == ["pod-0"]
    made.evicts = False
    assert made.to_evict() == []


def test_a_node_takes_pods_up_to_what_it_lists_and_may_have_given_out_more() -> None:
    made = idle_node(node("a", from_1=50_000))
    pod = SparkPod("p", EXECUTOR, "a", CpuMemory(30_000, 1), 0.0)
    assert made.fits(pod.use)
    made.put("p", pod)
    assert made.free.cpu == 8_000
    assert made.pass_to(1, 60.0), "more than a tenth less"
    assert made.free.cpu == -22_000
    assert not made.fits(CpuMemory(1, 1))
    made.drop("p")
    assert made.free.cpu == 8_000


def test_what_is_idle_is_what_the_formula_leaves() -> None:
    """60 cores less 20 less 2; from noon on nothing."""
    assert idle_core_seconds(node("a")) == pytest.approx(38 * 86_400)
    assert idle_core_seconds(node("a", from_720=70_000)) == pytest.approx(38 * 43_200)


def outcome(*seconds: float, **more: Any) -> IdleOutcome:
    made = simulated({"c1": [node("a")], "c2": [node("b")]}, job(0, seconds=60.0))
    made.completions = {index: one for index, one in enumerate(seconds) if one}
    for name, value in more.items():
        setattr(made.totals if hasattr(made.totals, name) else made.lost, name, value)
    return made


def test_figures_are_shares_of_what_there_was() -> None:
    one = outcome(60.0, size=1_000.0, online=300.0, idle=400.0, batch=250.0, delayed=0.5, core_seconds=50.0)
    one.lost.ran = 100.0
    one.lost.evicted = 2.0
    one.lost.taken_back = 1.0
    one.lost.suppressed = 0.5
    assert figures(one) == {
        "unused_without_percent": 70.0,
        "unused_percent": 45.0,
        "idle_core_hours": 0.1,
        "used_core_hours": 0.1,
        "used_percent": 50.0,
        "lost_percent": 3.5,
        "online_delayed_core_seconds": 0.5,
    }
    assert counts(one)["succeeded"] == 1


def test_completions_are_compared_of_jobs_that_ended_under_both() -> None:
    found = compared(outcome(60.0, 120.0, 600.0), outcome(240.0, 120.0, 0.0))
    assert found == {
        "completion_mean_minutes_fleet": 1.5,
        "completion_p95_minutes_fleet": 2.0,
        "completion_mean_minutes_home": 3.0,
        "completion_p95_minutes_home": 4.0,
        "completion_mean_fleet_to_home": 0.5,
    }
