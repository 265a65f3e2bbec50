"""Whatever goes wrong in a simulated fleet, every decision of every stage is the same again."""

import pytest

from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.run import simulate

# Of killed processes the last moments are not stored, and of a lost working set what was never said: few of many.
_LEAST_KNOWN = 0.9


@pytest.mark.parametrize("hub", [False, True], ids=["without a hub", "with a hub"])
@pytest.mark.parametrize("profile", ["calm", "rough", "hostile"])
@pytest.mark.parametrize("seed", [1, 4])
def test_every_decision_is_the_same_again(seed: int, profile: str, hub: bool) -> None:
    outcome = simulate(RunPlan(seed, hours=0.2, profile=profile, jobs=24, replay=True, hub=hub))
    assert [one for one in outcome.violations if one.rule == "replay"] == []
    again = dict(outcome.decided_again)
    assert (again.pop("hub") > 0) == hub
    unknown = again.pop("unknown")
    assert again.pop("unsaid") >= 0
    assert min(again.values()) > 0
    assert sum(again.values()) > _LEAST_KNOWN * (sum(again.values()) + unknown)


def test_a_replay_changes_nothing_of_a_run() -> None:
    plain, again = (simulate(RunPlan(2, hours=0.1, jobs=12, replay=replay)) for replay in (False, True))
    assert plain.state_hash == again.state_hash
