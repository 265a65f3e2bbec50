"""What is counted of a policy, against figures that were worked out by hand."""

import pytest

from fairway.lab.traces.comparison.fairness import fairness
from fairway.lab.traces.comparison.figures import compare
from fairway.lab.traces.comparison.run import FAIRWAY, ComparisonReport
from fairway.lab.traces.comparison.shortage import Guarantees, Shortage
from fairway.lab.traces.comparison.table import below_min, table
from fairway.lab.traces.comparison.usage import usage
from fairway.lab.traces.policies.baselines import FIFO, STATIC
from fairway.lab.traces.policies.event_loop import JobRun
from fairway.lab.traces.trace import GPU, TraceJob

NOTHING = Guarantees({}, 0)


def job(tenant: str, at: float, seconds: float, gpus: int = 4) -> TraceJob:
    return TraceJob(f"{tenant}-{at}", tenant, at, seconds, 1, {GPU: str(gpus)})


def test_rho_is_the_time_in_the_shared_fleet_over_that_on_the_own_share() -> None:
    """a takes 10 + 30 s of 20 + 60, b 30 of 20, c as long either way; d has nothing that runs on its own share."""
    jobs = [job("a", 0, 10), job("a", 5, 10), job("b", 0, 20), job("c", 10, 5), job("d", 0, 5)]
    shared = [JobRun(0, 10), JobRun(25, 35), JobRun(10, 30), JobRun(10, 15), JobRun(0, 5)]
    alone = [JobRun(10, 20), JobRun(55, 65), JobRun(0, 20), JobRun(10, 15), None]
    found = fairness(jobs, shared, alone)
    assert found.rho == {"a": 0.5, "b": 1.5, "c": 1.0}
    assert (found.worst, found.median) == ("b", "c")


def test_of_two_tenants_the_better_one_is_in_the_middle() -> None:
    jobs = [job("a", 0, 10), job("b", 0, 10)]
    found = fairness(jobs, [JobRun(0, 10), JobRun(10, 20)], [JobRun(0, 10), JobRun(0, 10)])
    assert (found.worst, found.median) == ("b", "a")


@pytest.mark.parametrize(
    ("began", "ended", "want"),
    [
        pytest.param(0, 50, [4, 0], id="the first half"),
        pytest.param(25, 75, [2, 2], id="half of each"),
        pytest.param(90, 500, [0, 0.8], id="only what is before the end"),
        pytest.param(100, 200, [0, 0], id="nothing before the end"),
        pytest.param(50, 50, [0, 0], id="no time at all"),
    ],
)
def test_gpus_in_use_are_the_mean_of_each_part_of_the_time(began: float, ended: float, want: list[float]) -> None:
    found = usage([job("a", 0, 0), job("a", 0, 9)], [JobRun(began, ended), None], until=100, parts=2)
    assert found == pytest.approx(want)


def compared_jobs() -> list[TraceJob]:
    """The last comes at 100 s."""
    return [job("a", 0, 50, 8), job("a", 0, 100, 4), job("b", 100, 100, 8)]


def test_figures_are_of_the_jobs_that_every_policy_ran_and_usage_is_of_all() -> None:
    runs = {
        STATIC: [JobRun(0, 50), None, JobRun(150, 250)],
        FIFO: [JobRun(0, 50), JobRun(50, 150), JobRun(100, 200)],
    }
    found = compare(compared_jobs(), runs, gpus=8, guarantees=NOTHING)
    assert (found.jobs, found.compared, found.arriving_seconds) == (3, 2, 100)
    static, fifo = found.policies.values()
    assert (static.ran, static.never, fifo.ran, fifo.never) == (2, 1, 3, 0)
    assert static.wait_seconds == {"mean": 25, "p50": 0, "p95": 50}
    assert fifo.wait_seconds == {"mean": 0, "p50": 0, "p95": 0}
    assert static.completion_seconds == {"mean": 100, "p50": 50, "p95": 150}
    # Until 100 s 8 GPUs run for 50 s, and under FIFO 4 for 50 s more; in all 8 for 150 s, and 4 for 100.
    assert (static.gpu_utilisation_while_arriving, fifo.gpu_utilisation_while_arriving) == (0.5, 0.75)
    assert (fifo.last_end_seconds, fifo.gpu_utilisation) == (200, 1.0)
    assert static.finish_time_fairness.rho == {"a": 1.0, "b": 1.0}
    assert fifo.finish_time_fairness.rho == {"a": 1.0, "b": 0.6667}


def test_waits_are_told_apart_by_how_many_gpus_a_job_has() -> None:
    sizes = (1, 4, 4, 8, 16)
    jobs = [job("a", 0, 10, gpus) for gpus in sizes]
    runs = [JobRun(wait, wait + 10) for wait in (1, 2, 6, 8, 16)]
    found = compare(jobs, {STATIC: list(runs)}, gpus=32, guarantees=NOTHING)
    assert found.policies[STATIC].mean_wait_seconds_by_gpus == {"0-1": 1, "2-4": 4, "5-8": 8, "9 and more": 16}


def test_the_table_has_a_line_for_each_policy_with_its_worst_and_median_tenant() -> None:
    runs = {STATIC: [JobRun(0, 50), None, JobRun(150, 250)], FIFO: [JobRun(0, 50), JobRun(0, 100), JobRun(100, 200)]}
    _, head, static, fifo = table(compare(compared_jobs(), runs, gpus=8, guarantees=NOTHING))
    assert head.split() == ["policy", "mean", "p50", "p95", "mean", "p50", "p95", "in", "use", "worst", "median", "ran"]
    assert static.split()[:3] == ["static", "partition", "25"]
    assert static.endswith("1")
    assert fifo.split()[-6:] == ["100.0%", "1.00", "a", "0.67", "b", "0"]


def test_what_is_below_a_min_is_told_by_its_cause() -> None:
    told = below_min(Shortage(1_234.4, 5.6, 0.2, {}))
    assert told.endswith("1,234 since no whole job fits into what is left of it, 6 within the reclaim time, 0 beyond")


@pytest.mark.parametrize(
    ("last", "violations", "ok"),
    [
        pytest.param(JobRun(100, 200), 0, True, id="every job succeeded"),
        pytest.param(None, 0, False, id="one has not"),
        pytest.param(JobRun(100, 200), 1, False, id="an invariant was broken"),
    ],
)
def test_all_is_well_when_every_job_succeeded_and_nothing_was_broken(
    last: JobRun | None, violations: int, ok: bool
) -> None:
    runs = [JobRun(0, 50), JobRun(0, 100), last]
    found = compare(compared_jobs(), {FAIRWAY: runs, STATIC: list(runs)}, gpus=8, guarantees=NOTHING)
    assert ComparisonReport("philly", 100, 0, {"violations": violations}, found, ()).ok is ok
