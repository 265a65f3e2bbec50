"""What the hub's side says of a member: the facts of its join, and who said them."""

import msgspec
import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.process.members.pull_mode import JOINED_BY, announce, given_by
from fairway.runtime.views.members import Facts
from fairway.wire import fleet
from fairway.wire.envelope import Actor
from tests.support.memory.clock import ManualClock


@pytest.mark.parametrize(
    ("who", "said"),
    [
        pytest.param(JOINED_BY, "hub:fairway-system (on the hub)", id="one that joined by a Secret"),
        pytest.param(given_by("north"), "cluster:north (by its agent)", id="one of a folder"),
    ],
)
async def test_what_was_said_of_a_cluster_is_told_with_who_said_it(who: Actor, said: str) -> None:
    bus = MemoryBus()
    facts = Facts({"gpu": "a100"}, mode="pull", capacity={"cpu": 8_000})
    await announce(bus, "north", facts, ManualClock(1), who)
    told = [msgspec.json.decode(one.data, type=fleet.Message) async for one in bus.history("CONFIG")]
    assert [(one.kind, one.name, str(one.who)) for one in told] == [("Member", "north", said)]
    assert msgspec.json.decode(told[0].manifest, type=Facts) == facts
