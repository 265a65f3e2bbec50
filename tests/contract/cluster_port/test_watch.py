"""Watches of the cluster port against API servers: pages, gaps, an API that is away, kinds that come and go."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from tests.support import cluster_ports as houses
from tests.support.cluster_ports import ABSENT, CRD, CRD_KIND, House
from tests.support.simulated import OURS, config_map, names, synced, until

CONFIG_MAP = "ConfigMap.v1"


WITHOUT_GAPS = pytest.mark.parametrize("house", ["kubesim", "direct"], indirect=True)


@pytest.fixture
async def house(request: pytest.FixtureRequest) -> AsyncIterator[House]:
    async with houses.house(getattr(request, "param", "kubesim")) as one:
        yield one


def mine(house: House) -> str:
    """Selects what a test makes; a real cluster makes config maps of its own."""
    return f"team={house.team}"


@WITHOUT_GAPS
async def test_a_watch_tells_what_is_there_page_by_page_and_then_each_change(house: House) -> None:
    for number in range(5):
        await house.cluster.create(CONFIG_MAP, config_map(house.team, f"c{number}", {"keep": "yes"}))
    await house.cluster.create(CONFIG_MAP, config_map(house.team, "other"))
    async with aclosing(house.cluster.watch(CONFIG_MAP, f"keep=yes,{mine(house)}")) as changes:
        told = await until(changes, synced)
        assert names(told) == ["+c0", "+c1", "+c2", "+c3", "+c4"]
        assert told[0].manifest["kind"] == "ConfigMap" and told[0].namespace == house.team
        await house.cluster.patch(CONFIG_MAP, house.team, "c3", {"data": {"a": "b"}})
        changed = await until(changes, lambda one: not one.synced)
        assert changed[-1].manifest["data"] == {"a": "b"}
        await house.cluster.patch(CONFIG_MAP, house.team, "c3", {"metadata": {"labels": {"keep": None}}})
        assert names(await until(changes, lambda one: one.gone)) == ["-c3"]


async def test_after_a_gap_that_is_too_long_a_watch_lists_anew_and_tells_who_vanished(house: House) -> None:
    for name in ("a", "b"):
        await house.cluster.create(CONFIG_MAP, config_map(house.team, name, OURS))
    async with aclosing(house.cluster.watch(CONFIG_MAP, mine(house))) as changes:
        await until(changes, synced)
        house.refuse("503")
        await house.behind("delete", CONFIG_MAP, "a")
        await house.forget()
        house.restore()
        told = await until(changes, synced)
        assert names(told) == ["+b", "-a"]
        assert told[1].manifest["metadata"]["labels"] == OURS


async def test_an_object_that_was_replaced_in_a_gap_is_told_as_gone_first(house: House) -> None:
    await house.cluster.create(CONFIG_MAP, config_map(house.team, "a"))
    async with aclosing(house.cluster.watch(CONFIG_MAP, mine(house))) as changes:
        first = (await until(changes, synced))[0]
        house.refuse("reset")
        await house.behind("delete", CONFIG_MAP, "a")
        await house.behind("create", CONFIG_MAP, "a", config_map(house.team, "a"))
        await house.forget()
        house.restore()
        told = await until(changes, synced)
        assert names(told) == ["-a", "+a"]
        assert told[0].manifest["metadata"]["uid"] == first.manifest["metadata"]["uid"]


@pytest.mark.parametrize("mode", ["503", "429", "reset"])
async def test_a_watch_survives_an_api_that_is_away_for_a_while(house: House, mode: str) -> None:
    async with aclosing(house.cluster.watch(CONFIG_MAP, mine(house))) as changes:
        await until(changes, synced)
        house.refuse(mode, for_ms=60)
        await house.behind("create", CONFIG_MAP, "late", config_map(house.team, "late"))
        assert names(await until(changes, lambda one: one.name == "late")) == ["+late"]


@WITHOUT_GAPS
async def test_a_watch_of_a_kind_that_is_not_installed_is_empty_until_it_is(house: House) -> None:
    absent = {"apiVersion": "example.org/v1", "kind": "Absent", "metadata": {"name": "first", "namespace": house.team}}
    async with aclosing(house.cluster.watch(ABSENT)) as changes:
        assert (await until(changes, synced))[-1].synced
        await house.behind("create", CRD_KIND, CRD["metadata"]["name"], CRD)
        await house.behind("create", ABSENT, "first", absent)
        assert names(await until(changes, lambda one: one.name == "first"))[-1] == "+first"
        await house.behind("delete", CRD_KIND, CRD["metadata"]["name"])
        assert names(await until(changes, lambda one: one.gone)) == ["-first"]
