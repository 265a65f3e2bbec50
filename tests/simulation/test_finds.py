"""The simulation finds what it is there to find: each deliberate fault breaks something, at the seed that is named."""

import pytest
from mutations import MUTATIONS, Patch
from pins import plan_of

from fairway.simulation.run import simulate

# The seed at which each was found first, of the profile (pins.py finds them anew).
FOUND_AT = {
    "unsaid": ("rough", 2), "unguarded": ("rough", 0), "impatient": ("rough", 1), "generous": ("rough", 0),
    "greedy": ("rough", 0), "credulous": ("hostile", 1), "trusting": ("rough", 14), "forgetful": ("rough", 10),
    "unlabelled": ("rough", 1), "keeping": ("rough", 0), "blind": ("rough", 1), "tardy": ("hostile", 6),
}  # fmt: skip


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.__name__)
def test_a_deliberate_fault_is_found(mutation, monkeypatch: Patch) -> None:  # type: ignore[no-untyped-def]  # a mutation
    profile, seed = FOUND_AT[mutation.__name__]
    plan = plan_of(profile, seed)
    assert not simulate(plan).violations
    mutation(monkeypatch)
    assert simulate(plan).violations, f"{mutation.__doc__} Nobody noticed."
