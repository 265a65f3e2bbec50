"""The simulation finds what it is there to find: each deliberate fault breaks something, at the seed that is named."""

import pytest
from mutations import MUTATIONS
from pins import plan_of

from fairway.simulation.run import simulate

# The seed at which each was found first, of the profile (pins.py finds them anew), with hours and jobs if others.
FOUND_AT = {
    "unsaid": ("rough", 3), "unguarded": ("rough", 0), "impatient": ("rough", 2), "generous": ("rough", 0),
    "greedy": ("rough", 0), "credulous": ("rough", 23), "trusting": ("rough", 24), "forgetful": ("rough", 3),
    "unlabelled": ("rough", 9), "keeping": ("rough", 0), "blind": ("rough", 2), "tardy": ("hostile", 57),
    "unmet": ("rough", 14), "chained": ("hostile", 126, 0.1, 24), "hasty": ("rough", 1),
}  # fmt: skip


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.__name__)
def test_a_deliberate_fault_is_found(mutation, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]  # a mutation
    plan = plan_of(*FOUND_AT[mutation.__name__])
    assert not simulate(plan).violations
    mutation(monkeypatch)
    found = {one.rule for one in simulate(plan).violations}
    assert found - {"failed"}, f"{mutation.__doc__} Nobody noticed."
