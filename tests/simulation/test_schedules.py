"""Fleets whose hub has schedules: their runs are made once, when they are meant and may be, whoever makes them."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from fairway.hub.schedules import known_schedules, tend, work_due
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.run import simulate
from fairway.workloads.schedules.cron_job import CronJob
from fairway.workloads.schedules.schedule import ALLOW, Run, Schedule, ScheduleKind
from tests.simulation.test_seeds import told

PIECES = (0, *(pytest.param(piece, marks=pytest.mark.slow) for piece in range(1, 10)))
SEEDS = 2


def plan(seed: int, profile: str = "rough", replay: bool = False) -> RunPlan:
    return RunPlan(seed, 0.2, profile=profile, jobs=18, replay=replay, hub=True, schedules=True)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("profile", ("calm", "rough", "hostile"))
def test_runs_are_made_once_and_when_they_may_be(profile: str, piece: int) -> None:
    runs = set[str]()
    for seed in range(piece * SEEDS, (piece + 1) * SEEDS):
        outcome = simulate(plan(seed, profile, replay=seed % 2 == 0))
        assert not outcome.violations, told(outcome)
        runs |= {name for name in outcome.drawn if name.startswith("runs_of")}
    assert runs == {"runs_of_fairway", "runs_of_the_hub"}


def nothing_forbidden(known: Schedule, runs: Sequence[Run], now: int, before: Any = work_due.NOTHING) -> Any:
    return WORK(replace(known, concurrency=ALLOW), runs, now, before)


def never_suspended(known: Schedule, runs: Sequence[Run], now: int, before: Any = work_due.NOTHING) -> Any:
    return WORK(replace(known, suspended=False), runs, now, before)


def unwritten(self: ScheduleKind, name: str, at: int, following: int | None) -> dict[str, Any]:
    return {}


def later(self: ScheduleKind, manifest: Any, at: int) -> Any:
    return self._object(manifest, at // 60_000 + 1, {}, manifest["spec"]["jobTemplate"]["spec"])


def none_active(self: ScheduleKind, runs: Sequence[Run], namespace: str) -> list[object]:
    return []


WORK = work_due.work_due
# In which the hub's service is away for longer than a run may be late.
LONG = RunPlan(30, 0.6, profile="rough", jobs=12, hub=True, schedules=True)
# What is replaced by what, and where it is found.
FAULTS: dict[str, tuple[tuple[object, str, object], RunPlan]] = {
    "what forbids a run is not looked at": ((known_schedules, "work_due", nothing_forbidden), plan(0, "calm")),
    "a suspended schedule runs": ((known_schedules, "work_due", never_suspended), plan(0, "calm")),
    "a run is made however late it is": ((work_due, "_too_late", lambda known, late, patience: False), LONG),
    "nobody looks again": ((tend, "_again", lambda known, what, now: None), plan(0, "rough")),
    "old runs stay": ((work_due, "_old", lambda known, runs: ()), plan(0, "calm")),
    "its status does not say when it ran last": ((ScheduleKind, "made", unwritten), plan(2, "rough")),
    "its status does not say what is under way": ((ScheduleKind, "_active", none_active), plan(4, "calm")),
    "a run has the name of the next one": ((CronJob, "run_of", later), plan(0, "calm")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_it_is_found_when(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    change, where = FAULTS[fault]
    monkeypatch.setattr(*change)
    assert "run" in {one.rule for one in simulate(where).violations}
