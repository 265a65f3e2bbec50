"""The simulation finds what it is there to find: each deliberate fault breaks something, at the seed that is named."""

from typing import Any

import pytest
from mutations import MUTATIONS
from pins import plan_of

from fairway.simulation.run import simulate

# The profile and the seed at which each was found first, and the rule that broke first (pins.py finds them anew); with
# hours and jobs if they are others.
FOUND_AT: dict[str, tuple[str, tuple[Any, ...]]] = {
    "unsaid": ("lost", ("rough", 3)), "early": ("reason", ("rough", 25)), "unguarded": ("rev", ("rough", 0)),
    "chained": ("room", ("hostile", 2, 0.05, 24)), "stale": ("reason", ("rough", 0)),
    "forgetful": ("room", ("rough", 1)), "tardy": ("reason", ("hostile", 16)), "unmet": ("room", ("rough", 5)),
    "impatient": ("one attempt", ("rough", 3)), "generous": ("quota", ("rough", 0)), "greedy": ("quota", ("rough", 0)),
    "hasty": ("quota", ("rough", 9)), "uncharged": ("quota", ("rough", 0)), "credulous": ("truth", ("rough", 17)),
    "trusting": ("room", ("rough", 9)), "dateless": ("room", ("hostile", 94)), "unlabelled": ("liveness", ("rough", 1)),
    "keeping": ("liveness", ("rough", 0)), "blind": ("liveness", ("rough", 1)), "deaf": ("cancel", ("rough", 1)),
    "mute": ("reason", ("rough", 2)), "fearless": ("frozen", ("rough", 19)),
    "hopeful": ("frozen", ("rough", 38, 0.5, 40)),
}  # fmt: skip


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.__name__)
def test_a_deliberate_fault_is_found(mutation, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]  # a mutation
    rule, where = FOUND_AT[mutation.__name__]
    plan = plan_of(*where)
    assert not simulate(plan).violations
    mutation(monkeypatch)
    broken = [one.rule for one in simulate(plan).violations]
    assert broken, f"{mutation.__doc__} Nobody noticed."
    assert broken[0] == rule
