"""Watches of the cluster port that break off: gaps, and an API that is away for a while."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from tests.support import cluster_ports as houses
from tests.support.cluster_ports import House
from tests.support.simulated import OURS, config_map, names, synced, until

CONFIG_MAP = "ConfigMap.v1"


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with houses.house("kubesim") as one:
        yield one


def mine(house: House) -> str:
    """Selects what a test makes; a real cluster makes config maps of its own."""
    return f"team={house.team}"


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
