"""A member may speak for itself alone: what it says in another's name is not believed."""

import asyncio

import msgspec
import pytest
from msgspec import Raw

from fairway.adapters.memory.bus import MemoryBus
from fairway.reserver.service import service
from fairway.runtime.inbox import Item
from fairway.runtime.ports import Delivery, Outgoing
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet, subjects
from tests.support.memory.clock import ManualClock

NORTH = fleet.Report(cluster="north", epoch="e", sequence=1, full=True)


def heard(on: str, report: fleet.Report) -> Item:
    (consumer,) = (
        one for one in service(MemoryBus(ManualClock()), Catalog()).consumers if one.stream == subjects.CLUSTERS
    )
    return Item(Delivery("id", subjects.cluster("report", on), msgspec.json.encode(report)), consumer)


def test_a_report_of_the_cluster_itself_is_heard() -> None:
    assert heard("north", NORTH).heard().message == NORTH


def test_a_report_in_the_name_of_another_cluster_is_not() -> None:
    with pytest.raises(ValueError, match="speaks for another"):
        heard("south", NORTH).heard()


async def test_what_is_configured_in_a_place_that_belongs_to_something_else_is_passed_over() -> None:
    bus = MemoryBus(ManualClock())
    catalog = Catalog()
    place = subjects.config("Cluster", "", "south")
    forged = fleet.Configured(kind="PriorityClass", name="mine", manifest=Raw(b'{"value": 1000000}'))
    honest = fleet.Configured(kind="Cluster", name="north", manifest=Raw(b'{"labels": {}}'))
    await bus.publish(
        [
            Outgoing("1", place, msgspec.json.encode(forged)),
            Outgoing("2", subjects.config("Cluster", "", "north"), msgspec.json.encode(honest)),
        ]
    )
    following = asyncio.create_task(catalog.run(bus, ManualClock()))
    await asyncio.wait_for(catalog.known.wait(), 5)
    following.cancel()
    assert (catalog.classes.values, set(catalog.members.clusters)) == ({}, {"north"})
