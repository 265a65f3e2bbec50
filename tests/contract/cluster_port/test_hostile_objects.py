"""One object that no reader can follow, or that is larger than an answer may be: all others are told all the same."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import msgspec
import pytest
from aiohttp import web
from structlog.testing import capture_logs

from fairway.adapters.kubernetes import http as kubernetes_http
from fairway.adapters.kubernetes import list_pages
from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.domain.text.foreign_json import CUT
from tests.contract.cluster_port.test_odd_answers import KIND, api, config_map, lines, page, told
from tests.support.scripted_api import Answer, json

Json = dict[str, Any]
NEVER_ENDING = lines(hang=True)


def nested(name: str, levels: int) -> Json:
    return config_map(name) | {"spec": {"x": "NESTED" * levels}}


def raw(body: Any) -> bytes:
    """A value with NESTED in it as text that no encoder of ours could write."""
    data = msgspec.json.encode(body)
    for levels in (1_500, 969, 5_000):
        data = data.replace(b'"' + b"NESTED" * levels + b'"', b'{"a":' * levels + b"1" + b"}" * levels)
    return data


def answer(body: Any) -> web.Response:
    return web.Response(body=raw(body), content_type="application/json")


@pytest.mark.parametrize("levels", [969, 1_500, 5_000])
async def test_an_object_that_is_nested_too_deeply_hides_no_other_in_a_list(levels: int) -> None:
    items = [config_map("a"), nested("deep", levels), config_map("b")]
    async with api(answer({"metadata": {"resourceVersion": "7"}, "items": items}), NEVER_ENDING) as (_, cluster):
        assert await told(cluster, syncs=1) == ["+a", "+deep", "+b", "synced"]


@pytest.mark.parametrize("levels", [969, 1_500, 5_000])
async def test_an_object_that_is_nested_too_deeply_ends_no_watch(levels: int) -> None:
    events = [raw({"type": "ADDED", "object": one}) for one in (nested("deep", levels), config_map("b"))]
    async with api(page(), lines(*events, hang=True)) as (scripted, cluster):
        found = []
        async with aclosing(cluster.watch(KIND)) as changes, asyncio.timeout(5):
            async for change in changes:
                found.append(change)
                if change.name == "b":
                    break
        assert [one.name for one in found] == ["", "deep", "b"]
        assert CUT in str(found[1].manifest["spec"])
        assert len(scripted.asked) == 2


async def test_what_is_too_deep_is_found_in_a_large_page_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_pages, "_SEARCHED", 10)
    async with store([config_map(f"c{n}") for n in range(9)] + [nested("deep", 1_500)]) as (_, cluster):
        assert await told(cluster, syncs=1) == [*(f"+c{n}" for n in range(9)), "+deep", "synced"]


async def test_an_object_that_is_asked_for_may_be_nested_too_deeply() -> None:
    async with api(answer(nested("deep", 1_500))) as (_, cluster):
        found = await cluster.get(KIND, "team", "deep")
        assert found is not None and found["metadata"] == config_map("deep")["metadata"]


async def test_an_object_that_is_no_text_is_left_out_and_named_once() -> None:
    body = raw({"metadata": {"resourceVersion": "7"}, "items": [config_map("a"), {**config_map("odd"), "x": "ODD"}]})
    odd = web.Response(body=body.replace(b'"ODD"', b'"\xff"'), content_type="application/json")
    with capture_logs() as logs:
        async with api(odd, json({"code": 410}, 410), odd, NEVER_ENDING) as (_, cluster):
            assert await told(cluster, syncs=2) == ["+a", "synced", "+a", "synced"]
    named = [line for line in logs if line["event"].startswith("left out")]
    assert [(line["namespace"], line["name"]) for line in named] == [("team", "odd")]


@asynccontextmanager
async def store(items: list[Json]) -> AsyncIterator[tuple[Any, KubernetesCluster]]:
    """An API with these objects, which gives as many at once as it is asked for."""

    async def served(request: web.BaseRequest) -> web.StreamResponse:
        if "watch" in request.query:
            return await NEVER_ENDING(request)
        at = int(request.query.get("continue", "0"))
        end = at + int(request.query["limit"])
        some = items[at:end]
        if "PartialObjectMetadataList" in request.headers["Accept"]:
            some = [{"metadata": one["metadata"]} for one in some]
        meta = {"resourceVersion": "7", "continue": str(end) if end < len(items) else ""}
        return answer({"metadata": meta, "items": some})

    script: Answer = served
    async with api(script) as (scripted, cluster):
        yield scripted, cluster


async def test_a_page_that_is_too_large_is_asked_for_in_smaller_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubernetes_http, "_MOST_BYTES", 10_000)
    items = [config_map(f"c{n}") | {"data": "x" * 2_000} for n in range(20)] + [config_map("last")]
    async with store(items) as (scripted, cluster):
        assert await told(cluster, syncs=1) == [*(f"+c{n}" for n in range(20)), "+last", "synced"]
        assert len(scripted.asked) < 40
        assert cluster.lacking() == []


async def test_one_object_that_is_too_large_is_left_out_and_not_taken_for_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [config_map("a"), config_map("big"), *(config_map(f"c{n}") for n in range(9))]
    async with store(items) as (_, cluster), aclosing(cluster.watch(KIND)) as changes, asyncio.timeout(5):
        found = []
        async for change in changes:
            found.append(("synced" if change.synced else "-" if change.gone else "+") + change.name)
            if change.synced and found.count("synced") == 1:
                monkeypatch.setattr(kubernetes_http, "_MOST_BYTES", 10_000)
                items[1]["data"] = "x" * 20_000
            elif change.synced:
                break
    assert "+big" in found[:11] and "+big" not in found[12:] and not any(one.startswith("-") for one in found)
    assert found.count("+c8") == 2
