"""On a real hub: whose quota tree, queue and clusters they are, and in which namespaces no job is taken."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.kubernetes.settings.fleet import ALLOW, TENANT, House, Json, opened, policy, profile, queue, quota_tree
from tests.kubernetes.support.fleet import Api

NAMED = {"annotations": {"kube-queue/queue-name": "gold"}}


@pytest_asyncio.fixture
async def house(settings_hub: Api) -> AsyncIterator[House]:
    async with opened(settings_hub, north=(8,), south=(8,)) as one:
        yield one


def tree(namespace: str) -> Json:
    shares = [{"name": "a", "namespaces": [TENANT]}, {"name": "b", "namespaces": ["b"]}]
    return quota_tree({"children": shares}, namespace=namespace)


async def refused(house: House, name: str, code: str) -> str:
    """What the object's Event says of its job, as soon as that was refused for this reason."""

    def look() -> str:
        job = house.row(name)
        told = [one["message"] for one in house.events(name) if one["reason"] == "Rejected"]
        return told[0] if told and job and job.why and job.why.code == code else ""

    return await house.until(look, f"{name} is refused: {code}")


async def test_a_tree_or_a_queue_of_a_tenants_rules_over_nobody(house: House) -> None:
    await house.apply(tree(TENANT), queue(namespace=TENANT, allows=""), policy("free"))
    for one in (tree(TENANT), queue(namespace=TENANT, allows="")):
        condition = await house.ready(one, "False")
        assert (condition["reason"], "kube-system" in condition["message"]) == ("Forbidden", True)
    assert {one["reason"] for one in house.events("tree") + house.events("gold")} == {"Refused"}
    await house.job("free")
    await house.runs_in("free")
    assert (house.fleet.catalog.tree, house.fleet.catalog.queues) == (None, {})
    await house.apply(tree("kube-system"))
    await house.ready(tree("kube-system"))
    await house.until(lambda: house.fleet.catalog.tree, "the tree of those who run the fleet rules")


async def test_a_queue_and_a_leaf_count_for_those_that_they_are_open_to(house: House) -> None:
    await house.apply(tree("kube-system"), queue(allows=""), *(policy(name) for name in ("shut", "open", "theirs")))
    assert ALLOW in (await house.ready(queue(allows="")))["message"]
    await house.ready(tree("kube-system"))
    await house.job("shut", **NAMED)
    assert f"open to namespace {TENANT}" in await refused(house, "shut", "NotYourQuota")
    await house.job("theirs", labels={"quota.scheduling.koordinator.sh/name": "b"})
    await refused(house, "theirs", "NotYourQuota")
    await house.apply(queue())
    await house.until(lambda: house.fleet.catalog.queues["gold"].allows, "the queue is open to it")
    await house.job("open", **NAMED)
    await house.runs_in("open")


async def test_a_profile_says_which_clusters_a_namespace_may_use(house: House) -> None:
    await house.apply(profile(clusters=["south"]), policy("first"), policy("second"))
    await house.ready(profile())
    await house.until(lambda: house.fleet.catalog.tenancies.profiles, "the profile is known")
    await house.job("first")
    assert await house.runs_in("first") == "south"
    await house.job("second")
    await house.lacks("second", "WaitingForRoom")  # north has room
    house.hub.delete("fairway.io/v1alpha1/tenantprofiles/a")
    assert await house.runs_in("second") == "north"


async def test_a_namespaces_level_is_known_while_its_label_says_one(house: House) -> None:
    name = f"v1/namespaces/{TENANT}"
    key = "pod-security.kubernetes.io/enforce"
    known = house.fleet.catalog.tenancies.namespaces
    for value, want in (("restricted", {TENANT: {key: "restricted"}}), (None, {})):
        patch = {"metadata": {"labels": {key: value}}}
        headers = {"Content-Type": "application/merge-patch+json"}
        assert house.hub.http.patch(f"/api/{name}", json=patch, headers=headers).is_success
        await house.until(lambda want=want: known == want, f"the namespace says {value}")  # type: ignore[misc]  # a copy


async def test_no_job_is_taken_in_a_namespace_of_the_system(house: House) -> None:
    pods = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}}
    for name in ("theirs", "wanted"):
        meta = {"name": name, "namespace": "kube-system"}
        await house.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": pods}})
    await house.apply(policy("wanted", namespace="kube-system"))
    (told,) = await house.until(lambda: house.events("wanted", "kube-system"), "it is told so")
    assert (told["reason"], "kube-system" in told["message"]) == ("ReservedNamespace", True)
    assert house.events("theirs", "kube-system") == []
    assert house.row("wanted") is None
