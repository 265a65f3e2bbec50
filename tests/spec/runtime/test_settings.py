"""The catalog: whatever is on the settings' stream, the services that read it live on and keep the last good word."""

import asyncio

import msgspec
import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.system_clock import SystemClock
from fairway.runtime.ports import Outgoing
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet, subjects


def configured(name: str, value: object) -> Outgoing:
    manifest = msgspec.Raw(msgspec.json.encode({"value": value}))
    message = fleet.Configured(kind="PriorityClass", name=name, manifest=manifest)
    return Outgoing(f"{name}-{value}", subjects.config("PriorityClass", "", name), msgspec.json.encode(message))


def cluster(name: str, manifest: object) -> fleet.Configured:
    return fleet.Configured(kind="Cluster", name=name, manifest=msgspec.Raw(msgspec.json.encode(manifest)))


def test_a_cluster_that_was_withdrawn_has_left_until_it_joins_again() -> None:
    catalog = Catalog()
    catalog.take(cluster("north", {"labels": {"site": "far"}}))
    assert (catalog.members.clusters, catalog.members.left) == ({"north": {"site": "far"}}, set())
    catalog.take(cluster("north", None))
    assert (catalog.members.clusters, catalog.members.left) == ({}, {"north"})
    catalog.take(cluster("north", {}))
    assert (catalog.members.clusters, catalog.members.left) == ({"north": {}}, set())


def member(name: str, manifest: object) -> fleet.Configured:
    return fleet.Configured(kind="Member", name=name, manifest=msgspec.Raw(msgspec.json.encode(manifest)))


JOINED = {"labels": {"site": "hub"}}


@pytest.mark.parametrize(
    ("words", "clusters", "left"),
    [
        pytest.param([member("north", JOINED)], {"north": {"site": "hub"}}, set(), id="the hub's word is enough"),
        pytest.param(
            [cluster("north", {}), member("north", JOINED), cluster("north", {"labels": {"gpu": "a100"}})],
            {"north": {"site": "hub"}},
            set(),
            id="its own agent says nothing of its labels",
        ),
        pytest.param(
            [member("north", JOINED), cluster("north", None)],
            {"north": {"site": "hub"}},
            set(),
            id="its own agent does not say that it has left",
        ),
        pytest.param([member("north", None), cluster("north", {})], {}, {"north"}, id="nor that it is back"),
        pytest.param([cluster("north", {}), member("north", None)], {}, {"north"}, id="whichever is heard first"),
        pytest.param(
            [cluster("north", {}), member("north", None), member("north", JOINED)],
            {"north": {"site": "hub"}},
            set(),
            id="until it joins again",
        ),
    ],
)
def test_where_the_hub_has_spoken_of_a_cluster_its_agent_cannot_say_that_it_is_a_member_or_none(
    words: list[fleet.Configured], clusters: dict[str, dict[str, str]], left: set[str]
) -> None:
    catalog = Catalog()
    for word in words:
        catalog.take(word)
    assert (catalog.members.clusters, catalog.members.left) == (clusters, left)


@pytest.mark.parametrize(
    "poison",
    [
        pytest.param(Outgoing("bad", "fairway.config.PriorityClass.-.bad", b"nope"), id="bytes that are no message"),
        pytest.param(configured("bad", "many"), id="a value that is no number"),
        pytest.param(configured("bad", {}), id="a value of another type"),
    ],
)
async def test_a_poisoned_setting_ends_nobody_and_hides_no_other(poison: Outgoing) -> None:
    bus = MemoryBus()
    catalog = Catalog()
    await bus.publish([configured("low", 1), poison, configured("high", 9)])
    following = asyncio.create_task(catalog.run(bus, SystemClock()))
    async with asyncio.timeout(5):
        await catalog.known.wait()
    assert not following.done()
    assert catalog.classes.values == {"low": 1, "high": 9}
    following.cancel()
