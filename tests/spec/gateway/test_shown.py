"""The statuses of the hub's objects, as the narrator asks for them: of objects that are still there."""

from fairway.gateway.hub.intake import Intake
from fairway.hub.telling.pending_updates import PendingUpdates

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.tenancy.profile import SYSTEM_NAMESPACES
from fairway.gateway.submission_limiter import Limiter
from fairway.runtime.cluster_port import Change
from fairway.runtime.ports import World
from tests.spec.gateway.hub_objects import JOB, thing
from tests.support.memory.clock import ManualClock
from tests.support.memory.cluster import MemoryCluster

SHOWN = thing(JOB, "train", spec={}, status={"active": 1})


def intake() -> Intake:
    clock = ManualClock()
    world = World(bus=MemoryBus(clock), store=MemoryStore(), clock=clock, owner="gateway")
    return Intake(world, MemoryCluster("hub", clock, []), PendingUpdates(), Limiter(world, dict), SYSTEM_NAMESPACES)


def test_a_status_that_changed_is_told_once() -> None:
    one = intake()
    one.see(Change(JOB, "team-a", "train", SHOWN))
    assert one.take_shown() == {SHOWN["metadata"]["uid"]}
    one.see(Change(JOB, "team-a", "train", SHOWN))
    assert one.take_shown() == set()


def test_an_object_that_is_gone_before_its_status_is_told_has_none_to_tell() -> None:
    one = intake()
    one.see(Change(JOB, "team-a", "train", SHOWN))
    one.see(Change(JOB, "team-a", "train", SHOWN, gone=True))
    assert one.take_shown() == set()
