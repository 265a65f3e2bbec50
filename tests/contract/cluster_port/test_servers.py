"""The cluster port against API servers, simulated and real: what needs pods, namespaces, validation or subresources."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from fairway.runtime.cluster_port import Applied, ClusterRefused
from tests.support import cluster_ports as houses
from tests.support.cluster_ports import House
from tests.support.simulated import JOB, OURS, POD, config_map, job, synced, until

# No scheduler is asked: nobody starts it, and it goes only when it is deleted.
SPEC = {"schedulerName": "nobody", "containers": [{"name": "main", "image": "x"}]}


@pytest.fixture(params=["kubesim", "direct"])
async def house(request: pytest.FixtureRequest) -> AsyncIterator[House]:
    async with houses.house(request.param) as one:
        yield one


async def running(house: House) -> None:
    """Until a pod of the team runs."""
    async with aclosing(house.cluster.watch(POD)) as pods:
        await until(
            pods, lambda one: one.namespace == house.team and one.manifest.get("status", {}).get("phase") == "Running"
        )


async def test_a_deletion_waits_until_the_last_pod_has_stopped(house: House) -> None:
    await house.cluster.apply(JOB, job(house.team, stop_after="150ms"))
    await running(house)
    loop = asyncio.get_running_loop()
    started = loop.time()
    assert await house.cluster.delete(JOB, house.team, "train", OURS, wait_s=20)
    assert loop.time() - started >= 0.15
    async with aclosing(house.cluster.watch(POD)) as pods:
        assert [one for one in await until(pods, synced) if one.namespace == house.team] == []
    assert await house.cluster.get(JOB, house.team, "train") is None


async def test_a_deletion_that_takes_too_long_says_so_and_goes_on(house: House) -> None:
    await house.cluster.apply(JOB, job(house.team, stop_after="300ms"))
    await running(house)
    assert not await house.cluster.delete(JOB, house.team, "train", OURS, wait_s=0.1)
    assert await house.cluster.delete(JOB, house.team, "train", OURS, wait_s=20)


async def test_a_pod_that_outlives_its_object_is_waited_for(house: House) -> None:
    orphan = {"metadata": {"name": "orphan", "namespace": house.team, "labels": OURS}, "spec": SPEC}
    await house.cluster.create(POD, orphan)
    assert not await house.cluster.delete(JOB, house.team, "train", OURS, wait_s=0.1)
    assert await house.cluster.delete(POD, house.team, "orphan", OURS, wait_s=20)
    assert await house.cluster.delete(JOB, house.team, "train", OURS, wait_s=20)


async def test_an_invalid_object_is_refused_with_the_servers_own_words(house: House) -> None:
    with pytest.raises(ClusterRefused) as refused:
        await house.cluster.apply(JOB, {**job(house.team, "Not A Name"), "spec": {}})
    assert refused.value.code == "Invalid"
    assert "Not A Name" in refused.value.text


async def test_a_patch_of_the_status_changes_nothing_else_and_needs_the_object(house: House) -> None:
    await house.cluster.apply(JOB, job(house.team))
    changed = await house.cluster.patch(JOB, house.team, "train", {"status": {"active": 1}, "spec": {"x": 1}}, "status")
    assert changed is not None and changed["status"]["active"] == 1 and "x" not in changed["spec"]
    assert await house.cluster.patch(JOB, house.team, "nobody", {"status": {}}, "status") is None


async def test_the_namespace_of_an_object_is_made_when_it_is_missing(house: House) -> None:
    new = f"{house.team}-new"
    assert (await house.cluster.apply("ConfigMap.v1", config_map(new, "a", OURS))).uid
    assert await house.cluster.get("Namespace.v1", "", new) is not None
    await house.behind("delete", "Namespace.v1", new)


async def test_a_namespace_on_its_way_out_takes_nothing_until_it_is_gone_and_then_it_is_made_anew(house: House) -> None:
    leaving = f"{house.team}-leaving"
    labels = {"fairway.io/tenant": leaving}
    metadata = {"name": leaving, "labels": labels, "finalizers": ["example.org/slow"]}
    await house.behind("create", "Namespace.v1", leaving, {"metadata": metadata})
    await house.cluster.apply(JOB, job(leaving, "before"))
    await house.behind("delete", "Namespace.v1", leaving)
    for name in ("train", "train", "another"):
        with pytest.raises(ClusterRefused, match="is being terminated") as refused:
            await house.cluster.apply(JOB, job(leaving, name))
        assert refused.value.code == "NamespaceTerminating"
    async with aclosing(house.cluster.watch("Namespace.v1")) as namespaces:
        await until(namespaces, synced)
        await house.cluster.patch("Namespace.v1", "", leaving, {"metadata": {"finalizers": None}})
        await until(namespaces, lambda one: one.gone and one.name == leaving)
    applied = await house.cluster.apply(JOB, job(leaving))
    assert (applied.adopted, await house.cluster.get(JOB, leaving, "before")) == (False, None)


async def test_who_made_an_object_is_written_in_it(house: House) -> None:
    await house.cluster.apply("ConfigMap.v1", config_map(house.team, "a", OURS))
    found = await house.cluster.get("ConfigMap.v1", house.team, "a")
    assert found is not None
    assert [one["manager"] for one in found["metadata"]["managedFields"]] == ["fairway"]


async def test_what_a_server_adds_to_an_object_is_no_reason_to_write_again(house: House) -> None:
    twice = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    manifest = job(house.team)
    manifest["spec"]["suspend"] = True
    manifest["spec"]["template"]["spec"]["containers"][0] |= {
        "resources": {"requests": {"cpu": "0.5", "memory": "1024Mi"}},
        "env": twice,
    }
    first = await house.cluster.apply(JOB, manifest)
    before = await house.cluster.get(JOB, house.team, "train")
    for _ in range(3):
        assert await house.cluster.apply(JOB, manifest) == Applied(first.uid, adopted=True)
    after = await house.cluster.get(JOB, house.team, "train")
    assert before is not None and after is not None
    assert after["metadata"]["generation"] == before["metadata"]["generation"] == 1
    assert after["spec"] == before["spec"]


async def test_a_patch_of_another_uid_is_refused_and_one_of_nothing_answers_nothing(house: House) -> None:
    await house.cluster.create("ConfigMap.v1", config_map(house.team, "a"))
    with pytest.raises(ClusterRefused) as refused:
        await house.cluster.patch("ConfigMap.v1", house.team, "a", {"metadata": {"uid": "another"}})
    assert refused.value.code == "Invalid"
    assert await house.cluster.patch("ConfigMap.v1", house.team, "absent", {"data": {}}) is None


async def test_what_carries_the_labels_is_discarded_and_nothing_else(house: House) -> None:
    for name, labels in (("a", OURS), ("b", OURS), ("c", {})):
        await house.cluster.create("ConfigMap.v1", config_map(house.team, name, labels))
    await house.cluster.discard("ConfigMap.v1", house.team, OURS, "a")
    assert await house.cluster.get("ConfigMap.v1", house.team, "a") is None
    assert await house.cluster.get("ConfigMap.v1", house.team, "b") is not None
    await house.cluster.discard("ConfigMap.v1", house.team, OURS)
    assert await house.cluster.get("ConfigMap.v1", house.team, "b") is None
    await house.cluster.drop("ConfigMap.v1", house.team, "c")
    await house.cluster.drop("ConfigMap.v1", house.team, "c")
    assert await house.cluster.get("ConfigMap.v1", house.team, "c") is None
