"""The cluster port against an API server: whatever its docstrings promise, over real HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from simulated import JOB, OURS, POD, config_map, job, simulated, until

from fairway.adapters.kubernetes import KubernetesCluster
from fairway.kubesim import Cluster
from fairway.runtime.ports import Applied, ClusterRefused, Unreachable

Json = dict[str, Any]


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


async def test_an_object_is_applied_once_and_found_as_its_own_the_second_time(cluster: KubernetesCluster) -> None:
    first = await cluster.apply(JOB, job())
    assert first == Applied(first.uid) and first.uid
    assert await cluster.apply(JOB, job()) == Applied(first.uid, adopted=True)


@pytest.mark.parametrize(
    ("there", "code"),
    [
        pytest.param({}, "NameConflict", id="an object without our label"),
        pytest.param({"fairway.io/job": "j2"}, "NameConflict", id="an object of another job"),
        pytest.param(OURS | {"fairway.io/attempt": "7"}, "StaleObject", id="an object of another attempt"),
    ],
)
async def test_an_object_that_is_not_this_attempts_is_refused_and_not_touched(
    cluster: KubernetesCluster, there: Json, code: str
) -> None:
    await cluster.create(JOB, job(labels=there))
    before = await cluster.get(JOB, "team", "train")
    with pytest.raises(ClusterRefused) as refused:
        await cluster.apply(JOB, job())
    assert refused.value.code == code
    assert await cluster.get(JOB, "team", "train") == before


async def test_a_kind_that_is_not_served_is_refused_with_what_to_do(cluster: KubernetesCluster) -> None:
    with pytest.raises(ClusterRefused, match="install its operator") as refused:
        await cluster.apply("Absent.example.org/v1", job())
    assert refused.value.code == "KindNotServed"


async def test_an_invalid_object_is_refused_with_the_servers_own_words(cluster: KubernetesCluster) -> None:
    with pytest.raises(ClusterRefused) as refused:
        await cluster.apply(JOB, {**job("Not A Name"), "spec": {}})
    assert refused.value.code == "Invalid"
    assert "Not A Name" in refused.value.text


async def test_only_kinds_that_are_served_are_said_to_be(cluster: KubernetesCluster) -> None:
    assert await cluster.served() == (JOB, "PyTorchJob.kubeflow.org/v1")


async def test_a_deletion_waits_until_the_last_pod_has_stopped(cluster: KubernetesCluster, inside: Cluster) -> None:
    await cluster.apply(JOB, job(stop_after="150ms"))
    async with aclosing(cluster.watch(POD)) as pods:
        await until(pods, lambda one: one.manifest.get("status", {}).get("phase") == "Running")
    loop = asyncio.get_running_loop()
    started = loop.time()
    assert await cluster.delete(JOB, "team", "train", OURS, wait_s=5)
    assert loop.time() - started >= 0.15
    assert not list(inside.api.store.all("pods"))
    assert await cluster.get(JOB, "team", "train") is None


async def test_a_deletion_that_takes_too_long_says_so_and_goes_on(cluster: KubernetesCluster) -> None:
    await cluster.apply(JOB, job(stop_after="300ms"))
    async with aclosing(cluster.watch(POD)) as pods:
        await until(pods, lambda one: one.manifest.get("status", {}).get("phase") == "Running")
    assert not await cluster.delete(JOB, "team", "train", OURS, wait_s=0.1)
    assert await cluster.delete(JOB, "team", "train", OURS, wait_s=5)


async def test_a_pod_that_outlives_its_object_is_waited_for(cluster: KubernetesCluster) -> None:
    orphan = {"metadata": {"name": "orphan", "namespace": "team", "labels": OURS}, "spec": {}}
    await cluster.create(POD, orphan)
    assert not await cluster.delete(JOB, "team", "train", OURS, wait_s=0.1)
    assert await cluster.delete(POD, "team", "orphan", OURS, wait_s=5)
    assert await cluster.delete(JOB, "team", "train", OURS, wait_s=5)


async def test_an_object_of_another_attempt_is_not_deleted(cluster: KubernetesCluster) -> None:
    await cluster.apply(JOB, job(labels=OURS | {"fairway.io/attempt": "2"}))
    assert await cluster.delete(JOB, "team", "train", OURS, wait_s=5)
    assert await cluster.get(JOB, "team", "train") is not None


async def test_a_deletion_without_labels_is_refused(cluster: KubernetesCluster) -> None:
    with pytest.raises(ValueError, match="name the job"):
        await cluster.delete(JOB, "team", "train", {}, wait_s=1)


@pytest.mark.parametrize("mode", ["503", "reset"])
async def test_an_api_that_is_away_leaves_the_outcome_unknown(
    cluster: KubernetesCluster, inside: Cluster, mode: str
) -> None:
    inside.control.refuse(mode)
    for call in (
        cluster.apply(JOB, job()), cluster.delete(JOB, "team", "train", OURS, 1), cluster.served(),
        cluster.get(JOB, "team", "train"), cluster.patch(JOB, "team", "train", {}),
    ):  # fmt: skip
        with pytest.raises(Unreachable, match="m1"):
            await call


async def test_a_patch_of_the_status_changes_nothing_else_and_needs_the_object(cluster: KubernetesCluster) -> None:
    await cluster.apply(JOB, job())
    changed = await cluster.patch(JOB, "team", "train", {"status": {"active": 1}, "spec": {"x": 1}}, "status")
    assert changed is not None and changed["status"]["active"] == 1 and "x" not in changed["spec"]
    assert await cluster.patch(JOB, "team", "nobody", {"status": {}}, "status") is None


async def test_an_object_that_is_there_cannot_be_created_again(cluster: KubernetesCluster) -> None:
    await cluster.create("ConfigMap.v1", config_map("a"))
    with pytest.raises(ClusterRefused) as refused:
        await cluster.create("ConfigMap.v1", config_map("a"))
    assert refused.value.code == "AlreadyExists"
