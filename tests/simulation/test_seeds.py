"""Fleets under trouble, seed by seed: nothing that must always hold is broken, and what can run ends."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairway.lab.simulation.outcome import RunOutcome, RunPlan
from fairway.lab.simulation.run import simulate

_FOUND = Path(__file__).with_name("seeds.txt")
# Short runs with few jobs, so that many seeds can be had; `make simulate` has the long ones.
SHORT = {"calm": (0.1, 12), "rough": (0.05, 8), "hostile": (0.05, 8)}
PIECE = 10
# Those of `make test`; the others run before a release.
PIECES = (*range(3), *(pytest.param(piece, marks=pytest.mark.slow) for piece in range(3, 7)))
# So many kinds of trouble at least has every piece. Little comes in calm runs, and what does is chance: seeds 10 to
# 19 draw cancellations and strangers alone.
KINDS = {"calm": 2, "rough": 9, "hostile": 15}
# What every piece has to have, however few of these there are in an hour.
NEEDED = {"hostile": {"forge", "squat", "lie"}}
TROUBLES = {
    "cancel",
    "change_tree",
    "move",
    "kill",
    "pause",
    "silence",
    "wipe",
    "failover",
    "outage",
    "api_loss",
    "node_loss",
    "stranger",
    "hand",
    "forge",
    "squat",
    "lie",
}


def told(outcome: RunOutcome) -> str:
    lines = [f"{one.at / 1000} s {one.rule} {one.job}: {one.text}" for one in outcome.violations]
    return "\n".join([f"replay it with: {outcome.plan.command}", *lines, *outcome.story])


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("profile", SHORT)
def test_nothing_breaks_and_everything_ends(profile: str, piece: int) -> None:
    hours, jobs = SHORT[profile]
    drawn: set[str] = set()
    for seed in range(piece * PIECE, (piece + 1) * PIECE):
        outcome = simulate(RunPlan(seed, hours=hours, profile=profile, jobs=jobs))
        assert not outcome.violations, told(outcome)
        assert outcome.jobs > 0
        assert outcome.attempts > 0
        drawn |= outcome.drawn.keys()
    assert len(drawn & TROUBLES) >= KINDS[profile], drawn
    assert NEEDED.get(profile, set()) <= drawn


def found_once() -> Iterator[Any]:
    """Lines of seeds.txt: profile, seed, hours, clusters, jobs, pace, "hub" where there is one, and behind # what it
    found. Those of several hours are for `make faults`."""
    for line in _FOUND.read_text().splitlines():
        words = line.partition("#")[0].split()
        if words:
            profile, seed, hours, clusters, jobs, pace, *hub = words
            assert hub in ([], ["hub"]), line
            size = (float(hours), int(clusters), profile, int(jobs), float(pace))
            plan = RunPlan(int(seed), *size, hub=hub == ["hub"])
            slow = [pytest.mark.slow] if plan.hours > 1 else []
            yield pytest.param(plan, id="-".join((profile, seed, *hub)), marks=slow)


@pytest.mark.parametrize("plan", list(found_once()))
def test_what_was_found_once_stays_mended(plan: RunPlan) -> None:
    outcome = simulate(plan)
    assert not outcome.violations, told(outcome)
    assert ("hub_apply" in outcome.drawn) == plan.hub
