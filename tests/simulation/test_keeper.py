"""Fleets whose manifests are removed a few minutes after the end of their jobs: nothing else changes, whatever fails;
and a keeper that does too much, or too little, is found."""

import pytest

from fairway.keeper.memory import DueManifests, KeeperMemory, rest_of
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.run import simulate
from fairway.runtime.ports import Delivery
from fairway.wire import jobs as wire
from tests.simulation.test_seeds import told

PIECES = (0, *(pytest.param(piece, marks=pytest.mark.slow) for piece in range(1, 6)))
SEEDS = {"calm": 2, "rough": 3, "hostile": 2}


def plan(seed: int, profile: str) -> RunPlan:
    return RunPlan(seed, 0.2, profile=profile, jobs=18, hub=seed % 2 == 1, keeper=True)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("profile", SEEDS)
def test_jobs_go_on_and_none_is_left_of_those_that_have_ended(profile: str, piece: int) -> None:
    for seed in range(piece * SEEDS[profile], (piece + 1) * SEEDS[profile]):
        outcome = simulate(plan(seed, profile))
        assert not outcome.violations, told(outcome)


def test_its_command_says_so() -> None:
    assert "--keeper" in plan(1, "rough").command


def _at_once(self: KeeperMemory, one: Delivery, message: wire.Manifested, bundled: bool) -> list[DueManifests]:
    return [DueManifests(message.job, message.tenant, one.id, (rest_of(one, message),))]


def _never(self: KeeperMemory, place: int, job: str) -> None:
    return None


FAULTS = {"it asks nobody whether the job has ended": ("_came", _at_once), "it forgets whose it is": ("_use", _never)}


@pytest.mark.parametrize(("name", "fault"), FAULTS.values(), ids=list(FAULTS))
def test_a_keeper_that_errs_is_found(monkeypatch: pytest.MonkeyPatch, name: str, fault: object) -> None:
    monkeypatch.setattr(KeeperMemory, name, fault)
    found = [simulate(plan(seed, "rough")).violations for seed in range(3)]
    assert [one.rule for one in found for one in one if one.rule == "manifest"]
