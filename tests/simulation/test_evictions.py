"""Fleets in which jobs evict others: everybody who goes had to, whoever is guaranteed something gets it, and all that
can run ends."""

from collections import Counter

import pytest

from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.run import simulate
from tests.simulation.test_seeds import told

PIECES = (0, *(pytest.param(piece, marks=pytest.mark.slow) for piece in range(1, 6)))
SEEDS = {"calm": 3, "rough": 3, "hostile": 2}
# What every piece has to have.
NEEDED = {"burst", "claim_used"}


def plan(seed: int, profile: str) -> RunPlan:
    return RunPlan(seed, 0.2, profile=profile, jobs=40, evictions=True)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("profile", SEEDS)
def test_whoever_goes_has_to_and_whoever_is_owed_room_gets_it(profile: str, piece: int) -> None:
    drawn = Counter[str]()
    for seed in range(piece * SEEDS[profile], (piece + 1) * SEEDS[profile]):
        outcome = simulate(plan(seed, profile))
        assert not outcome.violations, told(outcome)
        drawn.update(outcome.drawn)
    assert {name for name, count in drawn.items() if count} >= NEEDED, drawn
    assert any(name.startswith("evicted_") for name in drawn), drawn


def test_applications_on_idle_resources_have_priorities_too() -> None:
    outcome = simulate(RunPlan(0, 0.05, profile="calm", jobs=10, idle=True, evictions=True))
    assert not outcome.violations, told(outcome)
    assert outcome.drawn["batch_jobs"]


def test_its_command_says_so() -> None:
    assert "--evictions" in plan(1, "rough").command
