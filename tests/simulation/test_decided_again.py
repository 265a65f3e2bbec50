"""Whatever goes wrong in a simulated fleet, every decision of every stage is the same again; another one is named."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec import structs

from fairway.adapters.memory.bus import MemoryBus
from fairway.domain.decision import Decision, Heard, Say
from fairway.lab.simulation.outcome import RunPlan
from fairway.lab.simulation.run import simulate
from fairway.operate.replay.decisions import DecisionFilter, replay
from fairway.operate.replay.report import DecisionReport
from fairway.replay.stages import STAGES
from fairway.runtime.ports import Outgoing
from fairway.wire.preemption.evictions import Evict


@pytest.mark.parametrize("hub", [False, True], ids=["without a hub", "with a hub"])
@pytest.mark.parametrize("profile", ["calm", "rough", "hostile"])
@pytest.mark.parametrize("seed", [1, 3])
def test_every_decision_is_the_same_again(seed: int, profile: str, hub: bool) -> None:
    outcome = simulate(RunPlan(seed, hours=0.2, profile=profile, jobs=24, replay=True, hub=hub))
    assert [one for one in outcome.violations if one.rule == "replay"] == []
    again = dict(outcome.decided_again)
    assert (again.pop("hub") > 0) == hub
    assert again.pop("unknown") >= 0
    assert again.pop("unsaid") >= 0
    assert min(again.values()) > 0


def test_so_it_is_where_jobs_evict_others() -> None:
    outcome = simulate(RunPlan(2, hours=0.05, profile="rough", jobs=24, replay=True, evictions=True))
    assert outcome.drawn.keys() >= {"claim_used", "claim_NoVictims", "evicted_Reclaim", "evicted_Preemption"}
    assert [one for one in outcome.violations if one.rule == "replay"] == []
    again = dict(outcome.decided_again)
    assert again["queue"] > again["admission"] > 0
    assert min(again["global-scheduler"], again["reserver"], again["propagator"]) > 0


def evicts_one_less(made: Decision) -> Decision:
    return structs.replace(made, steps=tuple(structs.replace(one, events=_one_less(one.events)) for one in made.steps))


def _one_less(events: Sequence[Say]) -> tuple[Say, ...]:
    return tuple(
        structs.replace(one, message=structs.replace(one.message, victims=one.message.victims[1:]))
        if isinstance(one.message, Evict)
        else one
        for one in events
    )


def test_a_scheduler_that_would_evict_others_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[DecisionReport] = []

    def otherwise(memory: Any, heard: Heard[Any], now: int) -> Decision:
        return evicts_one_less(STAGES["global-scheduler"].decide(memory, heard, now))

    async def by_another_scheduler(bus: MemoryBus, only: DecisionFilter) -> DecisionReport:
        found.append(await replay(bus, only, {"global-scheduler": otherwise}))
        return found[0]

    monkeypatch.setattr("fairway.lab.simulation.run.replay", by_another_scheduler)
    simulate(RunPlan(2, hours=0.05, profile="rough", jobs=24, replay=True, evictions=True))
    different = found[0].stages["global-scheduler"].different
    assert {name for one in different for name in one.fields} == {"relief"}
    assert all(told[0].startswith("evict ") for one in different for told in one.fields["relief"])


def says_nothing(made: Decision) -> Decision:
    return structs.replace(made, steps=())


def asks_elsewhere(made: Decision) -> Decision:
    return structs.replace(made, calls=tuple(structs.replace(one, cluster="elsewhere") for one in made.calls))


def forgets_to_tell(made: Decision) -> Decision:
    return structs.replace(made, reminders=())


def acknowledges_at_once(made: Decision) -> Decision:
    return structs.replace(made, kept=False)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (says_nothing, "steps"),
        (asks_elsewhere, "calls"),
        (forgets_to_tell, "reminders"),
        (acknowledges_at_once, "kept"),
    ],
)
def test_a_hub_that_decides_otherwise_is_named_and_no_other_stage(
    change: Callable[[Decision], Decision], field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[DecisionReport] = []

    def otherwise(memory: Any, heard: Heard[Any], now: int) -> Decision:
        return change(STAGES["hub"].decide(memory, heard, now))

    async def by_another_hub(bus: MemoryBus, only: DecisionFilter) -> DecisionReport:
        found.append(await replay(bus, only, {"hub": otherwise}))
        return found[0]

    monkeypatch.setattr("fairway.lab.simulation.run.replay", by_another_hub)
    outcome = simulate(RunPlan(1, hours=0.1, profile="calm", jobs=12, replay=True, hub=True))
    assert {one.rule for one in outcome.violations} == {"replay"}
    stages = found[0].stages
    assert [name for name, stage in stages.items() if stage.different or stage.rows] == ["hub"]
    assert min(stage.identical for stage in stages.values()) > 0
    assert field in stages["hub"].different[0].fields


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
