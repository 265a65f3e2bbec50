"""What of a cluster is named as not listed, and is not named any more once that is over: readiness shows it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from tests.contract.cluster_port.test_odd_answers import KIND, api, config_map, lines, page, told
from tests.support.scripted_api import ScriptedApi, json, status

NO_LIST = web.Response(body=b"<html>", content_type="application/json")
FIRST_OF_MORE = json({"metadata": {"resourceVersion": "7", "continue": "more"}, "items": [config_map("a")]})
NEVER = lines(hang=True)
CRD_KIND = "Absent.example.org/v1"


@asynccontextmanager
async def watched(cluster: KubernetesCluster, kind: str = KIND) -> AsyncIterator[None]:
    seen = asyncio.create_task(told(cluster, syncs=99, kind=kind))
    try:
        yield
    finally:
        seen.cancel()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(4):
        while not holds():
            await asyncio.sleep(0.01)


async def asked(scripted: ScriptedApi, times: int) -> None:
    await until(lambda: len(scripted.asked) >= times)


async def test_a_kind_that_cannot_be_listed_is_named() -> None:
    async with api(NO_LIST) as (_, cluster), watched(cluster):
        await until(lambda: bool(cluster.lacking()))
        assert cluster.lacking()[0].startswith("m1: ConfigMap.v1 is not listed: ")


async def test_one_that_could_not_be_listed_and_is_gone_is_not_named_any_more() -> None:
    resource = {"resource": "absents", "responseKind": {"kind": "Absent"}, "scope": "Namespaced"}
    version = {"version": "v1", "resources": [resource]}
    served = [{"metadata": {"name": "example.org"}, "versions": [version]}]

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        discovery = request.path == "/apis"
        return json({"kind": "APIGroupDiscoveryList", "items": served}) if discovery else web.Response(body=b"<html>")

    async with api(answer) as (_, cluster), watched(cluster, CRD_KIND):
        await until(lambda: "the API's answer is no list" in "".join(cluster.lacking()))
        served.clear()
        await until(lambda: not cluster.lacking())


async def test_an_api_that_is_away_lacks_nothing() -> None:
    async with api(json({"message": "down"}, 500)) as (scripted, cluster), watched(cluster):
        await asked(scripted, 5)
        assert cluster.lacking() == []


async def test_nor_does_one_that_goes_away_between_two_pages() -> None:
    async with api(FIRST_OF_MORE, json({"message": "down"}, 500)) as (scripted, cluster), watched(cluster):
        await asked(scripted, 5)
        assert cluster.lacking() == []


async def test_a_first_list_that_does_not_end_is_named() -> None:
    async with api(FIRST_OF_MORE, NEVER) as (scripted, cluster), watched(cluster):
        await asked(scripted, 2)
        assert cluster.lacking() == ["m1: ConfigMap.v1 is not listed: not all pages of it have been read yet"]


async def test_a_list_made_anew_is_not_missed_while_its_pages_come() -> None:
    gone = status(410, "Expired")
    async with api(page(config_map("a")), gone, FIRST_OF_MORE, NEVER) as (scripted, cluster), watched(cluster):
        await asked(scripted, 4)
        assert cluster.lacking() == []
