"""Fleets whose users apply jobs on a hub, which fails like every other API: what it shows in the end is so."""

from collections import Counter

import pytest

from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.run import simulate
from tests.simulation.test_same_again import simulated
from tests.simulation.test_seeds import told

# Hours of trouble, jobs, and how many seeds.
SHORT = {"calm": (0.1, 18, 6), "rough": (0.1, 18, 6), "hostile": (0.1, 18, 4)}
PIECES = (0, *(pytest.param(piece, marks=pytest.mark.slow) for piece in range(1, 5)))
# What people do there, of which a piece has nearly everything.
DEEDS = {"apply", "edit", "hold", "let_go", "delete", "replace", "cancel", "change_policy", "change_queue"}
HARMS = {"api_loss", "flood", "malformed", "status_by_hand", "finalizers", "reserved", "huge", "settings"}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("profile", SHORT)
def test_the_hub_shows_what_is_so(profile: str, piece: int) -> None:
    hours, jobs, seeds = SHORT[profile]
    drawn = Counter[str]()
    for seed in range(piece * seeds, (piece + 1) * seeds):
        outcome = simulate(RunPlan(seed, hours, profile=profile, jobs=jobs, hub=True))
        assert not outcome.violations, told(outcome)
        drawn.update(outcome.drawn)
    done = {name.removeprefix("hub_") for name, times in drawn.items() if times and name.startswith("hub_")}
    assert len(done & DEEDS) > len(DEEDS) - 3, done
    if profile == "hostile":
        assert len(done & HARMS) > len(HARMS) - 2, done


def test_a_seed_with_a_hub_replays_exactly_whatever_the_hashes() -> None:
    first, second = (simulated(3, "hostile", hash_seed, "--hub") for hash_seed in ("1", "2"))
    assert first == second
    assert first["drawn"]["hub_apply"] > 0


def test_a_hub_that_is_away_for_an_hour_is_taken_up_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """People go on meanwhile: what they applied, changed and deleted is seen when it is back."""
    monkeypatch.setattr("fairway.lab.simulation.people.hub_users._AWAY", (3600.0,))
    away = 0
    for seed in range(4):
        outcome = simulate(RunPlan(seed, 0.1, profile="rough", jobs=18, hub=True))
        assert not outcome.violations, told(outcome)
        away += outcome.drawn.get("hub_away_an_hour", 0)
    assert away
