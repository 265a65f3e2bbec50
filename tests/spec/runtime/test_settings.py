"""The catalog: whatever is on the settings' stream, the services that read it live on and keep the last good word."""

import asyncio

import msgspec
import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.system_clock import SystemClock
from fairway.runtime.ports import Outgoing
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet, subjects
from tests.spec.workloads.settings.cases import node, queue, tree


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


def of_class(value: int | None) -> fleet.Configured:
    manifest = msgspec.Raw(msgspec.json.encode(None if value is None else {"value": value}))
    return fleet.Configured(kind="PriorityClass", name="high", manifest=manifest)


def queue_of_class(name: str = "high", **spec: object) -> fleet.Configured:
    body = queue({"priorityClassName": name, **spec})
    return fleet.Configured(kind="Queue", name="batch", manifest=msgspec.Raw(msgspec.json.encode(body)))


@pytest.mark.parametrize(
    ("words", "want"),
    [
        pytest.param([of_class(7), queue_of_class()], 7, id="the class came first"),
        pytest.param([queue_of_class(), of_class(7)], 7, id="the queue came first"),
        pytest.param([queue_of_class()], 0, id="there is no such class"),
        pytest.param([queue_of_class(), of_class(7), of_class(-9)], -9, id="the class changes"),
        pytest.param([of_class(7), queue_of_class(), of_class(None)], 0, id="the class goes"),
        pytest.param([of_class(7), queue_of_class(), queue_of_class("low")], 0, id="the queue names another one"),
        pytest.param([of_class(7), queue_of_class(), queue_of_class("")], 0, id="the queue names none any more"),
        pytest.param([queue_of_class(priority=3), of_class(7)], 3, id="its own priority counts before its class"),
        pytest.param([of_class(7), queue_of_class(priority=0)], 0, id="that of none as well"),
    ],
)
def test_a_queue_has_the_priority_of_its_class_as_both_are_now(words: list[fleet.Configured], want: int) -> None:
    catalog = Catalog()
    for word in words:
        catalog.take(word)
    assert catalog.queues["batch"].priority == want


def test_a_tree_of_an_earlier_version_stays_in_force_with_attributes_that_this_one_would_not_take() -> None:
    catalog = Catalog()
    old = tree(node("a", 4, attributes={"alibabacloud.com/lendlimit": "all", "preempt-policy": "Sometimes"}))
    catalog.take(fleet.Configured(kind="ElasticQuotaTree", name="t", manifest=msgspec.Raw(msgspec.json.encode(old))))
    assert catalog.tree is not None and catalog.tree.children[0].max == {"cpu": 4_000}


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


def test_a_class_that_does_not_read_leaves_the_last_good_one_in_force() -> None:
    catalog = Catalog()
    catalog.classes.take("high", {"value": 9, "preemptionPolicy": "Never", "globalDefault": True})
    with pytest.raises(TypeError):
        catalog.classes.take("high", {"value": {}})
    assert (catalog.classes.values, catalog.classes.never, catalog.classes.default) == ({"high": 9}, {"high"}, "high")
