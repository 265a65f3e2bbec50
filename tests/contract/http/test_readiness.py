"""What a process says of the clusters that it cannot list: which kind of which, and whether it is ready without."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from aiohttp import web

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.process.main import Process
from fairway.process.members.pull_mode import _http
from fairway.process.settings import Settings
from fairway.runtime.views.members import Members
from tests.contract.cluster_port.test_odd_answers import KIND, api
from tests.support.scripted_api import Answer

NO_LIST = web.Response(body=b"<html>", content_type="application/json")


class Bus:
    connected = True


class Parts:
    """A process of which everything works but, maybe, a list."""

    def __init__(self, hub: KubernetesCluster | None, members: list[KubernetesCluster]) -> None:
        self.hub = hub
        self.clusters = Members({one.name: one for one in members})
        self.loops: dict[str, Any] = {}
        self.bus = Bus()
        self.catalog = type("Catalog", (), {"known": asyncio.Event()})()
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


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        pytest.param({"Host": "127.0.0.1:8080"}, True, id="who is on this machine"),
        pytest.param({"Host": "fairway.example"}, True, id="a name of FAIRWAY_HTTP_HOSTS"),
        pytest.param({"Host": "10.1.2.3:8080"}, False, id="a probe by the address of the pod"),
        pytest.param({"Host": "gateway:8080"}, False, id="a health check by the name of the container"),
        pytest.param({"Host": "evil.example"}, False, id="a page of another site, whose name leads here"),
        pytest.param({"Host": "127.0.0.1", "Origin": "http://evil.example"}, False, id="a page of another site"),
    ],
)
async def test_who_asks_by_another_name_hears_whether_it_is_ready_and_not_of_what(
    headers: dict[str, str], told: bool
) -> None:
    async with unlisted(NO_LIST) as member:
        for names, status in ((("agent",), 503), (("gateway", "agent"), 200)):
            asked = Process(names, Settings(http_hosts=("fairway.example",)))
            asked.parts = Parts(None, [member])  # type: ignore[assignment]  # what readiness looks at
            async with httpx.AsyncClient(transport=httpx.ASGITransport(asked), base_url="http://127.0.0.1") as client:
                got = await client.get("/readyz", headers=headers)
                assert (got.status_code, got.json()["ready"]) == (status, status == 200)
                assert ("m1" in got.text, "ConfigMap" in got.text, "agent" in got.text) == (told, told, told)
                alive = await client.get("/healthz", headers=headers)
                assert (alive.status_code, alive.text) == (200, "alive\n")


async def test_nor_does_a_process_in_a_member_tell_a_page_of_another_site_what_it_waits_for() -> None:
    side = SimpleNamespace(waiting="m1: ConfigMap.v1 is not listed")
    app: Any = _http(side, Settings()).app  # type: ignore[arg-type]  # what readiness looks at
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        told = [await client.get("/readyz", headers={"Host": host}) for host in ("127.0.0.1", "evil.example")]
    assert [(one.status_code, "ConfigMap" in one.text) for one in told] == [(503, True), (503, False)]
