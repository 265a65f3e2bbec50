"""The simulation finds what it is there to find: each deliberate fault breaks something, at the seed that is named."""

import pytest
from mutations import MUTATIONS, Patch

from fairway.simulation.outcome import Plan
from fairway.simulation.run import simulate

# The seed at which each was found first, of the profile.
FOUND_AT = {
    "unsaid": ("rough", 13), "unguarded": ("rough", 0), "impatient": ("rough", 1), "generous": ("rough", 0),
    "greedy": ("rough", 0), "credulous": ("hostile", 11), "trusting": ("rough", 23), "forgetful": ("rough", 1),
    "unlabelled": ("rough", 9), "keeping": ("rough", 0), "blind": ("rough", 1), "tardy": ("hostile", 6),
}  # fmt: skip


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.__name__)
def test_a_deliberate_fault_is_found(mutation, monkeypatch: Patch) -> None:  # type: ignore[no-untyped-def]  # a mutation
    profile, seed = FOUND_AT[mutation.__name__]
    plan = Plan(seed, hours=0.2, profile=profile, jobs=24)
    assert not simulate(plan).violations
    mutation(monkeypatch)
    assert simulate(plan).violations, f"{mutation.__doc__} Nobody noticed."
