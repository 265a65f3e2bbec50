"""Whatever goes wrong in a simulated fleet, every decision of every stage is the same again."""

import re

import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.run import simulate
from fairway.operate.replay.decisions import DecisionFilter, replay
from fairway.operate.replay.report import DecisionReport
from fairway.runtime.ports import Outgoing


@pytest.mark.parametrize("hub", [False, True], ids=["without a hub", "with a hub"])
@pytest.mark.parametrize("profile", ["calm", "rough", "hostile"])
@pytest.mark.parametrize("seed", [1, 4])
def test_every_decision_is_the_same_again(seed: int, profile: str, hub: bool) -> None:
    outcome = simulate(RunPlan(seed, hours=0.2, profile=profile, jobs=24, replay=True, hub=hub))
    assert [one for one in outcome.violations if one.rule == "replay"] == []
    again = dict(outcome.decided_again)
    assert (again.pop("hub") > 0) == hub
    assert again.pop("unknown") >= 0
    assert again.pop("unsaid") >= 0
    assert min(again.values()) > 0


async def silent(bus: MemoryBus, only: DecisionFilter) -> DecisionReport:
    """The replay of a fleet whose services never stored what they knew."""
    bare = MemoryBus()
    for one in bus.stored("JOBS"):
        await bare.publish([Outgoing(one.id, one.subject, one.data)])
    return await replay(bare, only)


def test_a_run_of_which_nearly_nothing_can_be_decided_again_is_a_breach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairway.lab.simulation.run.replay", silent)
    outcome = simulate(RunPlan(1, hours=0.1, profile="calm", jobs=12, replay=True))
    told = [one.text for one in outcome.violations if one.rule == "replay"]
    assert [text.split()[0] for text in told][:3] == ["admission", "quota", "queue"]
    assert all(re.search(r"cannot decide (\d+) of \1 again", text) for text in told)


def test_a_replay_changes_nothing_of_a_run() -> None:
    plain, again = (simulate(RunPlan(2, hours=0.1, jobs=12, replay=replay)) for replay in (False, True))
    assert plain.state_hash == again.state_hash
