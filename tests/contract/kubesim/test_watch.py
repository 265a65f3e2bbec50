"""Watches of a simulated cluster: nothing is missed, and what cannot be told is said."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import aiohttp
import pytest

from fairway.lab.kubesim import SimCluster
from fairway.lab.kubesim.api.store import Key, ObjectStore
from tests.support.kubesim import PATIENCE, TORCH, Json, served, submit, torch

ALL = "/apis/kubeflow.org/v1/pytorchjobs"


@contextlib.asynccontextmanager
async def watching(client: aiohttp.ClientSession, query: str, path: str = ALL) -> AsyncIterator["Watch"]:
    async with client.get(f"{path}?watch=true&{query}") as response:
        yield Watch(response)


class Watch:
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._content = response.content

    async def next(self) -> tuple[str, Json]:
        """(type, object); ("END", {}) when the server ended the stream."""
        line = await asyncio.wait_for(self._content.readline(), PATIENCE)
        event = json.loads(line) if line else {"type": "END", "object": {}}
        return event["type"], event["object"]

    async def names(self, count: int) -> list[str]:
        events = [await self.next() for _ in range(count)]
        return [f"{kind} {obj['metadata'].get('name', '')}" for kind, obj in events]


def label(cluster: SimCluster, name: str, value: str) -> None:
    kind = cluster.api.registry.of_kind("kubeflow.org/v1", "PyTorchJob")
    assert kind
    stored = cluster.api.get(kind, "team-a", name)
    obj = stored.copy()
    obj["metadata"]["labels"] = {"tier": value}
    cluster.api.update(kind, stored, obj)


async def test_a_watch_from_a_version_replays_what_came_after_it() -> None:
    async with served() as (cluster, client):
        submit(cluster, torch("a"))
        version = cluster.api.store.version
        submit(cluster, torch("b"))
        async with watching(client, f"resourceVersion={version}") as watch:
            submit(cluster, torch("c"))
            assert await watch.names(2) == ["ADDED b", "ADDED c"]


async def test_a_watch_without_version_starts_with_what_is_there() -> None:
    async with served() as (cluster, client):
        submit(cluster, torch("a"))
        async with watching(client, "") as watch:
            assert await watch.names(1) == ["ADDED a"]


async def test_an_object_enters_and_leaves_a_selection_as_added_and_deleted() -> None:
    async with served() as (cluster, client):
        submit(cluster, torch("a"))
        async with watching(client, "resourceVersion=1&labelSelector=tier=x") as watch:
            for value in ("x", "y"):
                label(cluster, "a", value)
            assert await watch.names(2) == ["ADDED a", "DELETED a"]


async def test_only_the_namespace_asked_for_is_told() -> None:
    async with served() as (cluster, client):
        other = torch("b")
        other["metadata"]["namespace"] = "team-b"
        submit(cluster, other)
        submit(cluster, torch("a"))
        async with watching(client, "", TORCH) as watch:
            assert await watch.names(1) == ["ADDED a"]


async def test_initial_events_end_with_a_marked_bookmark() -> None:
    async with served() as (cluster, client):
        submit(cluster, torch("a"))
        query = "sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
        async with watching(client, query) as watch:
            await watch.next()
            kind, obj = await watch.next()
            assert kind == "BOOKMARK"
            assert obj["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


async def test_a_watch_that_times_out_ends_with_a_bookmark_of_the_newest_version() -> None:
    async with served() as (cluster, client):
        submit(cluster, torch("a"))
        version = cluster.api.store.version
        query = f"resourceVersion={version}&allowWatchBookmarks=true&timeoutSeconds=0.01"
        async with watching(client, query) as watch:
            kind, obj = await watch.next()
            assert (kind, obj["metadata"]["resourceVersion"]) == ("BOOKMARK", str(version))
            assert (await watch.next())[0] == "END"


async def test_a_watch_that_times_out_with_changes_left_tells_them_before_its_bookmark() -> None:
    """Whoever goes on behind the bookmark would never hear of them."""
    async with served() as (cluster, client):
        submit(cluster, torch("a"))
        submit(cluster, torch("b"))
        query = "resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=0.000001"
        async with watching(client, query) as watch:
            assert await watch.names(3) == ["ADDED a", "ADDED b", "BOOKMARK "]
            assert (await watch.next())[0] == "END"


async def test_a_version_that_was_never_given_out_is_gone() -> None:
    async with served() as (_, client), watching(client, "resourceVersion=999999") as watch:
        kind, obj = await watch.next()
        assert (kind, obj["code"], obj["reason"]) == ("ERROR", 410, "Expired")


def test_a_version_older_than_the_history_is_gone() -> None:
    store = ObjectStore(history=2)
    for name in ("a", "b", "c"):
        store.put(Key("pods", "n", name), {"kind": "Pod", "metadata": {}})
    assert [event.new.key.name for event in store.since("pods", 2)] == ["b", "c"]
    with pytest.raises(Exception, match="too old resource version"):
        store.since("pods", 1)


async def test_an_api_that_refuses_ends_its_watches_and_comes_back() -> None:
    async with served() as (cluster, client):
        async with watching(client, "resourceVersion=1") as watch:
            async with client.post("/sim/refuse", json={"mode": "503"}) as response:
                assert response.status == 200
            assert (await watch.next())[0] == "END"
        async with client.get(ALL) as response:
            assert response.status == 503
            assert (await response.json())["reason"] == "ServiceUnavailable"
        async with client.post("/sim/restore") as response:
            assert response.status == 200
        async with client.get(ALL) as response:
            assert response.status == 200
        cluster.control.refuse("reset")
        with pytest.raises(aiohttp.ClientConnectionError):
            await client.get(ALL)


async def test_a_request_is_held_while_the_api_does_not_answer() -> None:
    async with served() as (cluster, client):
        cluster.control.refuse("timeout", for_ms=20)
        async with client.get(ALL) as response:
            assert response.status == 504
