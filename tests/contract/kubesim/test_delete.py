"""Deletion in a simulated cluster: finalizers, owners, propagation, whole collections and namespaces."""

from typing import Any

import pytest

from fairway.lab.kubesim.api.api import ClusterApi
from fairway.lab.kubesim.api.store import Key
from tests.support.kubesim import Json, remove, served, submit, torch


def config_map(name: str, owner: Key | None = None, api: ClusterApi | None = None, **metadata: Any) -> Json:
    if owner and api:
        stored = api.store.get(owner)
        assert stored
        obj = stored.obj
        reference = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "name": owner.name}
        metadata["ownerReferences"] = [{**reference, "uid": obj["metadata"]["uid"]}]
    body = {"apiVersion": "v1", "kind": "ConfigMap"}
    return {**body, "metadata": {"name": name, "namespace": "team-a", **metadata}}


def there(api: ClusterApi) -> list[str]:
    return [
        stored.key.name for storage in ("pytorchjobs.kubeflow.org", "configmaps") for stored in api.store.shelf(storage)
    ]


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        pytest.param("Background", [], id="in the background the dependents go after their owner"),
        pytest.param("Foreground", [], id="in the foreground they go before it"),
        pytest.param("Orphan", ["child", "grandchild"], id="orphans stay"),
    ],
)
async def test_dependents_follow_their_owner(policy: str, left: list[str]) -> None:
    async with served() as (cluster, _):
        owner = submit(cluster, torch("owner"))
        child = submit(cluster, config_map("child", owner, cluster.api))
        submit(cluster, config_map("grandchild", child, cluster.api))
        remove(cluster, owner, policy)
        assert there(cluster.api) == left


async def test_a_dependent_of_two_owners_stays_until_both_are_gone() -> None:
    async with served() as (cluster, _):
        first = submit(cluster, torch("first"))
        second = submit(cluster, torch("second"))
        child = config_map("child", first, cluster.api)
        other = config_map("x", second, cluster.api)["metadata"]["ownerReferences"]
        child["metadata"]["ownerReferences"] += other
        submit(cluster, child)
        remove(cluster, first)
        assert there(cluster.api) == ["second", "child"]
        remove(cluster, second)
        assert there(cluster.api) == []


async def test_a_finalizer_keeps_an_object_until_it_is_taken_off() -> None:
    async with served() as (cluster, client):
        key = submit(cluster, config_map("kept", finalizers=["fairway.io/hold"]))
        remove(cluster, key)
        stored = cluster.api.store.get(key)
        assert stored
        assert stored.obj["metadata"]["deletionTimestamp"] == "2023-11-14T22:13:20Z"
        path = "/api/v1/namespaces/team-a/configmaps/kept"
        headers = {"Content-Type": "application/merge-patch+json"}
        async with client.patch(path, json={"metadata": {"finalizers": None}}, headers=headers) as response:
            assert response.status == 200
        assert cluster.api.store.get(key) is None


async def test_an_owner_in_the_foreground_waits_for_a_dependent_with_a_finalizer() -> None:
    async with served() as (cluster, _):
        owner = submit(cluster, torch("owner"))
        child = submit(cluster, config_map("child", owner, cluster.api, finalizers=["fairway.io/hold"]))
        remove(cluster, owner, "Foreground")
        assert there(cluster.api) == ["owner", "child"]
        stored = cluster.api.store.get(child)
        kind = cluster.api.registry.of_kind("v1", "ConfigMap")
        assert stored
        assert kind
        freed = stored.copy()
        freed["metadata"]["finalizers"] = []
        cluster.api.update(kind, stored, freed)
        assert there(cluster.api) == []


async def test_a_collection_is_deleted_by_selector() -> None:
    async with served() as (cluster, client):
        for name in ("a", "b"):
            submit(cluster, config_map(name, labels={"name": name}))
        async with client.delete("/api/v1/namespaces/team-a/configmaps?labelSelector=name=a") as response:
            assert response.status == 200
        assert there(cluster.api) == ["b"]


async def test_a_namespace_exists_from_its_first_use_and_takes_all_with_it() -> None:
    async with served() as (cluster, client):
        submit(cluster, torch("a"))
        async with client.delete("/api/v1/namespaces/team-a") as response:
            assert response.status == 200
        assert there(cluster.api) == []
