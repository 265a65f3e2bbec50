"""watcher: a job whose batch resources became less is taken back, and pays nothing for it."""

from typing import Any

import pytest

from fairway.domain.attempts.cluster_avoidance import MOST_SHRUNK
from fairway.domain.resources import BATCH_CPU
from fairway.watcher.batch_shrunk import is_down, is_up
from fairway.watcher.decide import Late, decide
from fairway.watcher.missing import Down
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from fairway.wire.workload import PodSet, Workload
from fairway.workloads.kinds.phase import Phase
from fairway.workloads.kinds.registry import status
from tests.spec.builders.lives import GPU, SLOTS, Life, S, dispatched, running
from tests.spec.builders.views import events, of, told, verbs
from tests.spec.workloads.batch.test_demand import spark

TAKEN_BACK = ["lost", "recall", "queue"]


def work(resource: str = BATCH_CPU, executors: int = 8) -> Workload:
    sets = (PodSet("driver", 1, {resource: 1}), PodSet("executor", executors, {resource: 1}))
    return Workload("sparkoperator.k8s.io/v1beta2", "SparkApplication", "team-a", "llm", sets, 1 + executors)


def phase(up: int, executors: int = 8, **spec: Any) -> Phase:
    """Of a driver that runs with so many of its executors."""
    shown = {f"e{one}": "RUNNING" for one in range(up)} | {"gone": "FAILED"}
    manifest = spark(spec__executor__instances=executors, **spec)
    state = {"applicationState": {"state": "RUNNING"}, "executorState": shown}
    return status(manifest, work(executors=executors), state)


def after(life: Life, seconds: int, **view: Any) -> Any:
    return decide(of(life, overdue=["llm-1"], **view), told(Late()), life.at + seconds * S)


@pytest.mark.parametrize(("up", "down"), [(8, False), (6, False), (5, True), (0, True)])
def test_more_than_a_quarter_of_the_executors_is_too_much(up: int, down: bool) -> None:
    assert is_down(running(workload=work()).now, phase(up)) == down


@pytest.mark.parametrize(
    ("resource", "up", "started"),
    [(BATCH_CPU, 8, True), (BATCH_CPU, 6, True), (BATCH_CPU, 5, False), ("cpu", 8, True), ("cpu", 7, False)],
)
def test_it_has_started_with_as_much_as_it_goes_on_with(resource: str, up: int, started: bool) -> None:
    assert is_up(dispatched(workload=work(resource)).now, phase(up)) == started


def test_a_driver_alone_is_no_start_whatever_spark_keeps() -> None:
    dynamic = {"enabled": True, "minExecutors": 0, "initialExecutors": 8, "maxExecutors": 9}
    assert not is_up(dispatched(workload=work()).now, phase(0, spec__dynamicAllocation=dynamic))


def test_on_other_resources_executors_may_come_and_go() -> None:
    assert not is_down(running(workload=work("cpu")).now, phase(0))


@pytest.mark.parametrize(("least", "down"), [(0, False), (4, False), (6, True)])
def test_with_dynamic_allocation_those_count_that_spark_always_keeps(least: int, down: bool) -> None:
    dynamic = {"enabled": True, "minExecutors": least, "initialExecutors": 8, "maxExecutors": 9}
    assert is_down(running(workload=work()).now, phase(4, spec__dynamicAllocation=dynamic)) == down


@pytest.mark.parametrize("state", ["PENDING_RERUN", "SUBMITTED", "SUBMISSION_FAILED"])
def test_a_driver_that_is_to_be_run_again_is_missing_with_all_of_its_executors(state: str) -> None:
    shown = status(spark(), work(), {"applicationState": {"state": state}, "executorState": {}})
    assert is_down(running(workload=work()).now, shown)
    assert not is_down(running(workload=work("cpu")).now, shown)


def test_a_gang_of_another_kind_needs_all_of_its_pods() -> None:
    sets = (PodSet("Worker", 4, {BATCH_CPU: 1}),)
    job = running(workload=Workload("kubeflow.org/v1", "PyTorchJob", "team-a", "llm", sets, 4)).now
    assert is_down(job, Phase("pending"))
    assert not is_down(job, Phase("running"))


@pytest.mark.parametrize(("seconds", "want"), [(59, []), (60, TAKEN_BACK)])
def test_what_lacks_them_for_a_minute_is_taken_back_whatever_its_start_timeout(seconds: int, want: list[str]) -> None:
    life = running(workload=work(), start_timeout=900 * S)
    decision = after(life, seconds, down={"llm-1": Down(1, life.at, "5 of 8 executors are up", 9)})
    assert verbs(decision) == want
    if want:
        why = events(decision)[0].why
        assert (why.code, why.text) == (
            Code.BATCH_SHRUNK,
            "no longer up in c1 for 60 s: 5 of 8 executors are up",
        )


def test_a_driver_that_pends_for_longer_than_its_policy_says_is_taken_back_too() -> None:
    decision = after(dispatched(workload=work(), start_timeout=60 * S), 60)
    assert verbs(decision) == TAKEN_BACK
    assert events(decision)[0].why.code is Code.BATCH_SHRUNK
    assert events(after(dispatched(start_timeout=60 * S), 60))[0].why.code is Code.START_TIMEOUT


def shrunk(life: Life) -> None:
    """Taken back from c1, and started there once more."""
    taken = after(life, 900)
    assert verbs(taken) == TAKEN_BACK
    why = events(taken)[0].why
    number = life.now.attempt
    life.then(wire.Lost, cluster="c1", why=why).then(wire.Recall, cluster="c1", why=why)
    life.then(wire.Queue, attempt=number + 1, queue="gold", leaf=("root",), enqueued_at=1)
    life.then(wire.Removed, cluster="c1", attempt=number).then(wire.Dequeued, charge={GPU: 1})
    life.then(wire.Placed, cluster="c1", slots=SLOTS).then(wire.Reserved, cluster="c1", slots=SLOTS, expires_at=0)
    life.then(wire.Dispatched, cluster="c1", uid="u-9")


def test_it_spends_no_attempt_and_its_cluster_is_avoided_for_ten_minutes() -> None:
    life = dispatched(workload=work(), attempts=1, avoid=1)
    taken = after(life, 900)
    assert verbs(taken) == TAKEN_BACK
    lost = events(taken)[0]
    life.then(wire.Lost, cluster="c1", why=lost.why)
    assert life.now.avoid["c1"] == life.at + 600 * S


def test_a_job_that_starts_nowhere_ends_at_last() -> None:
    life = dispatched(workload=work(), attempts=1)
    for _ in range(MOST_SHRUNK):
        shrunk(life)
    assert verbs(after(life, 900)) == ["lost", "recall"]
