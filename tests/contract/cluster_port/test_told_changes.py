"""What a watch of the cluster port tells as long as nothing breaks it: pages, changes, kinds that come and go."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from tests.support import cluster_ports as houses
from tests.support.cluster_ports import ABSENT, CRD, CRD_KIND, House
from tests.support.simulated import config_map, names, synced, until

CONFIG_MAP = "ConfigMap.v1"


@pytest.fixture(params=["kubesim", "direct"])
async def house(request: pytest.FixtureRequest) -> AsyncIterator[House]:
    async with houses.house(request.param) as one:
        yield one


def mine(house: House) -> str:
    """Selects what a test makes; a real cluster makes config maps of its own."""
    return f"team={house.team}"


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


async def test_a_watch_of_a_kind_that_is_not_installed_is_empty_until_it_is(house: House) -> None:
    absent = {"apiVersion": "example.org/v1", "kind": "Absent", "metadata": {"name": "first", "namespace": house.team}}
    async with aclosing(house.cluster.watch(ABSENT)) as changes:
        assert (await until(changes, synced))[-1].synced
        await house.behind("create", CRD_KIND, CRD["metadata"]["name"], CRD)
        await house.behind("create", ABSENT, "first", absent)
        assert names(await until(changes, lambda one: one.name == "first"))[-1] == "+first"
        await house.behind("delete", CRD_KIND, CRD["metadata"]["name"])
        assert names(await until(changes, lambda one: one.gone)) == ["-first"]
