"""What a process says of the clusters that it cannot list: which kind of which, and whether it is ready without."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from scripted_api import Answer
from test_cluster_port_odd_answers import KIND, api

from fairway.adapters.kubernetes import KubernetesCluster
from fairway.app.process import Process
from fairway.app.settings import Settings
from fairway.runtime.members import Members

NO_LIST = web.Response(body=b"<html>", content_type="application/json")


class Bus:
    connected = True


class Parts:
    """A process of which everything works but, maybe, a list."""

    def __init__(self, hub: KubernetesCluster | None, members: list[KubernetesCluster]) -> None:
        self.hub, self.clusters = hub, Members({one.name: one for one in members})
        self.loops: dict[str, Any] = {}
        self.bus, self.catalog = Bus(), type("Catalog", (), {"known": asyncio.Event()})()
        self.catalog.known.set()


@asynccontextmanager
async def unlisted(*answers: web.Response | Answer) -> AsyncIterator[KubernetesCluster]:
    async def followed(cluster: KubernetesCluster) -> None:
        async with aclosing(cluster.watch(KIND)) as changes:
            async for _ in changes:
                pass

    async with api(*answers) as (_, cluster):
        following = asyncio.create_task(followed(cluster))
        async with asyncio.timeout(5):
            while not cluster.lacking():
                await asyncio.sleep(0.01)
        yield cluster
        following.cancel()
        await asyncio.wait([following])


def process(names: tuple[str, ...], parts: Any) -> Process:
    made = Process(names, Settings())
    made.parts = parts
    return made


async def test_a_hub_that_cannot_be_listed_is_named_and_the_process_is_not_ready() -> None:
    async with unlisted(NO_LIST) as hub:
        found = process(("gateway",), Parts(hub, []))
        assert [one.partition(" is not")[0] for one in found.waiting()] == ["m1: ConfigMap.v1"]
    assert found.waiting() == []


@pytest.mark.parametrize(("names", "ready"), [(("agent",), False), (("gateway", "agent"), True)])
async def test_a_member_that_cannot_be_listed_is_named_and_closes_no_door(names: tuple[str, ...], ready: bool) -> None:
    async with unlisted(NO_LIST) as member:
        found = process(names, Parts(None, [member]))
        assert (not found.waiting()) is ready
        assert [one.partition(" is not")[0] for one in found.members()] == ["m1: ConfigMap.v1"]
