"""Watches of the cluster port against an API server: pages, gaps, an API that is away, kinds that come and go."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
from simulated import OURS, config_map, names, simulated, synced, until

from fairway.adapters.kubernetes import KubernetesCluster
from fairway.kubesim import Cluster
from fairway.kubesim.registry import Resource
from fairway.kubesim.store import HISTORY


@pytest.fixture
async def both() -> AsyncIterator[tuple[KubernetesCluster, Cluster]]:
    async with simulated() as both:
        yield both


@pytest.fixture
def cluster(both: tuple[KubernetesCluster, Cluster]) -> KubernetesCluster:
    return both[0]


@pytest.fixture
def inside(both: tuple[KubernetesCluster, Cluster]) -> Cluster:
    return both[1]


async def test_a_watch_tells_what_is_there_page_by_page_and_then_each_change(cluster: KubernetesCluster) -> None:
    for number in range(5):
        await cluster.create("ConfigMap.v1", config_map(f"c{number}", {"keep": "yes"}))
    await cluster.create("ConfigMap.v1", config_map("other"))
    async with aclosing(cluster.watch("ConfigMap.v1", "keep=yes")) as changes:
        told = await until(changes, synced)
        assert names(told) == ["+c0", "+c1", "+c2", "+c3", "+c4"]
        assert told[0].manifest["kind"] == "ConfigMap" and told[0].namespace == "team"
        await cluster.patch("ConfigMap.v1", "team", "c3", {"data": {"a": "b"}})
        changed = await until(changes, lambda one: not one.synced)
        assert changed[-1].manifest["data"] == {"a": "b"}
        await cluster.patch("ConfigMap.v1", "team", "c3", {"metadata": {"labels": {"keep": None}}})
        assert names(await until(changes, lambda one: one.gone)) == ["-c3"]


async def test_after_a_gap_that_is_too_long_a_watch_lists_anew_and_tells_who_vanished(
    cluster: KubernetesCluster, inside: Cluster
) -> None:
    for name in ("a", "b"):
        await cluster.create("ConfigMap.v1", config_map(name, OURS))
    async with aclosing(cluster.watch("ConfigMap.v1")) as changes:
        await until(changes, synced)
        store = inside.api.store
        inside.control.refuse("503")
        there = {stored.key.name: stored for stored in store.all("configmaps")}
        store.remove(there["a"].key)
        for _ in range(HISTORY + 1):
            store.put(there["b"].key, there["b"].obj)
        inside.control.restore()
        told = await until(changes, synced)
        assert names(told) == ["+b", "-a"]
        assert told[1].manifest["metadata"]["labels"] == OURS


async def test_an_object_that_was_replaced_in_a_gap_is_told_as_gone_first(
    cluster: KubernetesCluster, inside: Cluster
) -> None:
    await cluster.create("ConfigMap.v1", config_map("a"))
    async with aclosing(cluster.watch("ConfigMap.v1")) as changes:
        first = (await until(changes, synced))[0]
        inside.control.refuse("reset")
        store = inside.api.store
        stored = next(iter(store.all("configmaps")))
        store.remove(stored.key)
        renewed = {**stored.obj, "metadata": {**stored.obj["metadata"], "uid": "another"}}
        for _ in range(HISTORY + 1):
            store.put(stored.key, renewed)
        inside.control.restore()
        told = await until(changes, synced)
        assert names(told) == ["-a", "+a"]
        assert told[0].manifest["metadata"]["uid"] == first.manifest["metadata"]["uid"]


@pytest.mark.parametrize("mode", ["503", "429", "reset"])
async def test_a_watch_survives_an_api_that_is_away_for_a_while(
    cluster: KubernetesCluster, inside: Cluster, mode: str
) -> None:
    async with aclosing(cluster.watch("ConfigMap.v1")) as changes:
        await until(changes, synced)
        inside.control.refuse(mode, for_ms=60)
        inside.api.create(_core(inside, "configmaps"), "team", config_map("late"))
        assert names(await until(changes, lambda one: one.name == "late")) == ["+late"]


async def test_a_watch_of_a_kind_that_is_not_installed_is_empty_until_it_is(
    cluster: KubernetesCluster, inside: Cluster
) -> None:
    resource = Resource("example.org", "v1", "Absent", "absents")
    async with aclosing(cluster.watch("Absent.example.org/v1")) as changes:
        assert (await until(changes, synced))[-1].synced
        inside.api.registry.add(resource)
        manifest = {"apiVersion": "example.org/v1", "kind": "Absent", "metadata": {"name": "first"}}
        inside.api.create(resource, "team", manifest)
        assert names(await until(changes, lambda one: one.name == "first"))[-1] == "+first"
        inside.api.registry.remove(resource)
        inside.faults.refuse("503", for_ms=1)
        assert names(await until(changes, lambda one: one.gone)) == ["-first"]


def _core(inside: Cluster, plural: str) -> Resource:
    found = inside.api.registry.find("", "v1", plural)
    assert found
    return found
