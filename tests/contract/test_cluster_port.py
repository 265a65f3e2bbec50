"""The cluster port against an API server: whatever its docstrings promise, over real HTTP."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import pytest

from fairway.adapters.kubernetes import KubernetesCluster, Options
from fairway.adapters.kubernetes_watch import Pace
from fairway.adapters.system import SystemClock
from fairway.kubesim import Cluster, KubeSim, NodeGroup
from fairway.kubesim.registry import Resource
from fairway.kubesim.store import HISTORY
from fairway.runtime.ports import Applied, Change, ClusterRefused, Unreachable

Json = dict[str, Any]
JOB = "Job.batch/v1"
POD = "Pod.v1"
OURS = {"fairway.io/job": "j1", "fairway.io/attempt": "1"}
QUICK = Pace(first=0.01, most=0.05, absent=0.02, page=2)


def job(name: str = "train", labels: Json | None = None, **annotations: str) -> Json:
    labels = OURS if labels is None else labels
    notes = {"fairway.test/" + key.replace("_", "-"): value for key, value in annotations.items()}
    pod = {
        "metadata": {"labels": labels, "annotations": notes},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]},
    }
    return {"metadata": {"name": name, "namespace": "team", "labels": labels}, "spec": {"template": pod}}


def config_map(name: str, labels: Json | None = None) -> Json:
    return {"metadata": {"name": name, "namespace": "team", "labels": labels or {}}}


@pytest.fixture
async def sim() -> AsyncIterator[KubeSim]:
    sim = KubeSim(SystemClock(), default_run_ms=60_000)
    await sim.start_cluster("m1", nodes=[NodeGroup(1, "node", {"cpu": "4", "memory": "8Gi"})])
    yield sim
    await sim.stop()


@pytest.fixture
def inside(sim: KubeSim) -> Cluster:
    return sim.clusters["m1"]


@pytest.fixture
async def cluster(sim: KubeSim) -> AsyncIterator[KubernetesCluster]:
    kinds = (JOB, "PyTorchJob.kubeflow.org/v1", "Absent.example.org/v1", "Workflow.argoproj.io/v1alpha9")
    cluster = await KubernetesCluster.from_kubeconfig("m1", sim.kubeconfig("m1"), Options(kinds, pace=QUICK))
    yield cluster
    await cluster.close()


async def until(changes: AsyncIterator[Change], want: Callable[[Change], bool]) -> list[Change]:
    """What is told up to and with the first change that is wanted."""
    told: list[Change] = []
    async with asyncio.timeout(5):
        async for change in changes:
            told.append(change)
            if want(change):
                return told
    raise AssertionError("a watch never ends")


def synced(change: Change) -> bool:
    return change.synced


def names(changes: list[Change]) -> list[str]:
    return [("-" if change.gone else "+") + change.name for change in changes if not change.synced]


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


def _core(inside: Cluster, plural: str) -> Resource:
    found = inside.api.registry.find("", "v1", plural)
    assert found
    return found
