"""The simulation finds what it is there to find: each deliberate fault breaks something, at the seed that is named."""

import pytest
from mutations import MUTATIONS, Patch
from pins import plan_of

from fairway.simulation.run import simulate

# The seed at which each was found first, of the profile (pins.py finds them anew), with hours and jobs if others.
FOUND_AT = {
    "unsaid": ("rough", 5), "unguarded": ("rough", 0), "impatient": ("rough", 3), "generous": ("rough", 0),
    "greedy": ("rough", 0), "credulous": ("rough", 5), "trusting": ("rough", 4), "forgetful": ("rough", 9),
    "unlabelled": ("rough", 5), "keeping": ("rough", 0), "blind": ("rough", 0), "tardy": ("hostile", 34),
    "unmet": ("rough", 18), "chained": ("hostile", 62, 0.1, 24),
}  # fmt: skip


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.__name__)
def test_a_deliberate_fault_is_found(mutation, monkeypatch: Patch) -> None:  # type: ignore[no-untyped-def]  # a mutation
    plan = plan_of(*FOUND_AT[mutation.__name__])
    assert not simulate(plan).violations
    mutation(monkeypatch)
    assert simulate(plan).violations, f"{mutation.__doc__} Nobody noticed."
