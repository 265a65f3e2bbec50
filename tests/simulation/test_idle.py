"""Fleets with idle resources, which come and go under the jobs that ask for them: nothing that must hold is broken."""

from collections import Counter

import pytest

from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.run import simulate
from tests.simulation.test_seeds import told

PIECES = (0, *(pytest.param(piece, marks=pytest.mark.slow) for piece in range(1, 6)))
SEEDS = {"calm": 2, "rough": 2, "hostile": 2}
# What every piece has to have.
NEEDED = {"online", "batch_fall", "batch_stale", "shed"}


def plan(seed: int, profile: str) -> RunPlan:
    return RunPlan(seed, 0.2, profile=profile, jobs=18, hub=seed % 4 == 3, idle=True)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("profile", SEEDS)
def test_jobs_end_or_wait_and_online_pods_go_first(profile: str, piece: int) -> None:
    drawn = Counter[str]()
    for seed in range(piece * SEEDS[profile], (piece + 1) * SEEDS[profile]):
        outcome = simulate(plan(seed, profile))
        assert not outcome.violations, told(outcome)
        drawn.update(outcome.drawn)
    assert {name for name, count in drawn.items() if count} >= NEEDED, drawn


def test_its_command_says_so() -> None:
    assert "--idle" in plan(1, "rough").command
