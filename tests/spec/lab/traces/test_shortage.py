"""GPU-hours below a guarantee, against what was worked out by hand: an hour is 3,600 s, and the reclaim time 10 min."""

import pytest

from fairway.lab.traces.comparison.shortage import Guarantees, Shortage, shortage
from fairway.lab.traces.policies.baselines import Runs
from fairway.lab.traces.policies.event_loop import JobRun
from fairway.lab.traces.trace import GPU, TraceJob

HOUR = 3_600.0
MINUTES = 60.0


def job(at: float, gpus: int, tenant: str = "a") -> TraceJob:
    return TraceJob(f"{tenant}-{at}", tenant, at, HOUR, 1, {GPU: str(gpus)})


def found(jobs: list[TraceJob], runs: Runs, mins: dict[str, int] | None = None) -> Shortage:
    return shortage(jobs, runs, Guarantees(mins or {"a": 8}, 10 * MINUTES))


@pytest.mark.parametrize(
    ("jobs", "runs", "want"),
    [
        pytest.param([job(0, 8)], [JobRun(0, HOUR)], (0, 0, 0), id="who starts at once is never below"),
        pytest.param(
            [job(0, 8)],
            [JobRun(6 * MINUTES, HOUR)],
            (0, 0.8, 0),
            id="8 GPUs wait for 6 minutes, within the reclaim time",
        ),
        pytest.param(
            [job(0, 8)],
            [JobRun(HOUR, 2 * HOUR)],
            (0, 8 / 6, 8 * 5 / 6),
            id="8 GPUs wait for an hour, 50 minutes beyond",
        ),
        pytest.param(
            [job(0, 6), job(0, 6)],
            [JobRun(0, HOUR), JobRun(HOUR, 2 * HOUR)],
            (2, 0, 0),
            id="2 GPUs are left of the min, and no whole job fits into them",
        ),
        pytest.param(
            [job(0, 16)], [JobRun(HOUR, 2 * HOUR)], (8, 0, 0), id="one larger than the min is never inside it"
        ),
        pytest.param(
            [job(0, 8), job(0, 4)],
            [JobRun(0, HOUR), JobRun(5 * HOUR, 6 * HOUR)],
            (0, 4 / 6, 4 * (4 - 1 / 6)),
            id="one comes inside when another has ended, and its time begins then",
        ),
        pytest.param(
            [job(0, 4), job(0, 4)],
            [JobRun(0, HOUR), JobRun(0, 3 * HOUR, evicted=())],
            (0, 0, 0),
            id="less demand than the min",
        ),
        pytest.param(
            [job(0, 8)],
            [JobRun(HOUR, 2 * HOUR, evicted=((0, HOUR / 2),))],
            (0, 8 / 6, 8 / 3),
            id="an evicted job asks again from then on",
        ),
        pytest.param([job(0, 8)], [None], (0, 0, 0), id="one that never ran could not be given anything"),
        pytest.param(
            [job(0, 8), job(0, 4)],
            [JobRun(HOUR, 2 * HOUR), JobRun(0, HOUR)],
            (0, 4 / 6, 4 * 5 / 6),
            id="4 of its 8 GPUs are in use by a job that is not inside the min",
        ),
        pytest.param(
            [job(0, 4), job(0, 6), job(20 * MINUTES, 4)],
            [JobRun(HOUR, 2 * HOUR), JobRun(0, HOUR), JobRun(HOUR, 2 * HOUR)],
            (2 / 3, 0, 4 / 3),
            id="no more is owed than is missing, however many wait",
        ),
        pytest.param(
            [job(0, 12), job(0, 8)],
            [JobRun(0, HOUR), JobRun(HOUR, 2 * HOUR)],
            (0, 0, 0),
            id="above its min by a job that is not inside it",
        ),
    ],
)
def test_what_is_below_the_smaller_of_min_and_demand_is_told_apart(
    jobs: list[TraceJob], runs: Runs, want: tuple[float, float, float]
) -> None:
    got = found(jobs, runs)
    assert (got.whole_jobs, got.reclaiming, got.beyond) == pytest.approx(want, abs=0.001)


def test_each_waiting_job_has_a_reclaim_time_of_its_own() -> None:
    """Of 8 GPUs, two jobs of 4 that came 10 minutes after each other wait until an hour is over."""
    jobs = [job(0, 4), job(10 * MINUTES, 4)]
    got = found(jobs, [JobRun(HOUR, 2 * HOUR), JobRun(HOUR, 2 * HOUR)])
    assert (got.reclaiming, got.beyond) == pytest.approx((8 / 6, 4 * 5 / 6 + 4 * 4 / 6), abs=0.001)


def test_tenants_are_counted_by_themselves_and_who_has_no_min_is_owed_nothing() -> None:
    jobs = [job(0, 8), job(0, 8, "b"), job(0, 8, "c")]
    late: Runs = [JobRun(HOUR, 2 * HOUR)] * 3
    got = found(jobs, late, {"a": 8, "b": 4, "c": 0})
    assert got.beyond_by_tenant == {"a": 6.667, "b": 0.0, "c": 0.0}
    assert (got.whole_jobs, got.beyond) == (4, 6.667)
