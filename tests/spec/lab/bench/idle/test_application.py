"""What a Spark application does with the nodes that it has, and what is lost with its pods."""

import pytest

from fairway.lab.bench.idle.application import DRIVER, EXECUTOR, Application, LostTime
from fairway.lab.bench.idle.koordinator import CpuMemory
from fairway.workloads.kinds.phase import PENDING, RUNNING
from fairway.workloads.kinds.registry import read, status
from tests.spec.workloads.batch.test_demand import spark

USES = {DRIVER: CpuMemory(1_000, 1), EXECUTOR: CpuMemory(4_000, 1)}


def application(executors: int = 2, work: float = 200.0, stage: float = 0.0) -> Application:
    """On nodes from the start."""
    app = Application("u-1", work, executors, USES, [DRIVER, *[EXECUTOR] * executors], 0.0, stage=stage)
    for role in list(app.pending):
        app.bind(role, "n1", 0.0)
    return app


def test_it_is_done_when_its_executors_have_done_its_work() -> None:
    app = application()
    assert app.left() == 100
    app.settle(40.0)
    assert app.left() == 60
    app.running[0].speed = 0.5
    assert app.left() == pytest.approx(120 / 1.5)


def test_without_a_driver_nothing_is_done() -> None:
    app = Application("u-1", 100.0, 1, USES, [DRIVER, EXECUTOR], 0.0)
    app.bind(EXECUTOR, "n1", 0.0)
    app.settle(50.0)
    assert app.left() == float("inf")
    app.bind(DRIVER, "n1", 50.0)
    assert app.left() == 100


def test_with_an_executor_goes_all_that_it_did_and_another_one_is_asked_for() -> None:
    app = application()
    lost = LostTime()
    name = app.running[0].name
    assert [pod.name for pod in app.evict(name, 60.0, lost)] == [name]
    assert app.pending == [EXECUTOR]
    assert app.left() == 140, "one has done 60 of 200, and goes on alone"
    assert (lost.ran, lost.evicted, lost.core_seconds, lost.evictions, lost.drivers) == (60, 60, 240, 1, 0)


def test_with_stages_only_the_last_of_it_goes() -> None:
    app = application(stage=15.0)
    lost = LostTime()
    app.evict(app.running[0].name, 60.0, lost)
    assert (lost.ran, lost.evicted, lost.core_seconds) == (60, 15, 60)
    assert app.left() == 95, "45 of it stayed"


def test_with_a_driver_goes_everything() -> None:
    app = application(stage=15.0)
    lost = LostTime()
    app.evict(app.running[0].name, 60.0, lost)
    driver = app.driver
    assert driver is not None
    gone = app.evict(driver.name, 80.0, lost)
    assert [pod.role for pod in gone] == [DRIVER, EXECUTOR]
    assert app.pending == [DRIVER, EXECUTOR, EXECUTOR]
    assert (lost.ran, lost.evicted, lost.drivers) == (140, 15 + 45 + 80, 1)


def test_at_the_end_what_executors_were_held_up_is_lost() -> None:
    app = application()
    lost = LostTime()
    app.running[0].speed = 0.5
    app.close(100.0, lost, well=True)
    assert (lost.ran, lost.suppressed, lost.taken_back, lost.share) == (200, 50, 0, 0.25)


def test_of_an_attempt_that_is_taken_back_all_is_lost() -> None:
    app = application()
    lost = LostTime()
    app.close(100.0, lost, well=False)
    assert (lost.ran, lost.taken_back, lost.core_seconds, lost.share) == (200, 200, 800, 1)


def test_fairway_reads_of_its_status_what_it_has() -> None:
    workload = read(spark(spec__executor__instances=2))
    app = application()

    def seen() -> tuple[str, int]:
        phase = status(spark(spec__executor__instances=2), workload, app.status())
        return phase.state, phase.missing

    assert seen() == (RUNNING, 0)
    app.evict(app.running[0].name, 1.0, LostTime())
    assert seen() == (PENDING, 1)
    driver = app.driver
    assert driver is not None
    app.evict(driver.name, 2.0, LostTime())
    assert seen() == (PENDING, 3)
