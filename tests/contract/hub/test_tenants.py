"""Whose the hub's settings are: trees and queues of tenants, their profiles, the labels of their namespaces, and
namespaces in which no job may be."""

from collections.abc import AsyncIterator

import msgspec
import pytest_asyncio

from fairway.runtime.ports import Outgoing
from fairway.wire import fleet, subjects
from fairway.wire import jobs as wire
from tests.contract.hub.test_settings import QUEUE, ROOT, is_not, is_ready, seen
from tests.support.simulated_hub import PP, TREE, House, opened

PROFILE = "TenantProfile.fairway.io/v1alpha1"
NAMESPACE = "Namespace.v1"
ENFORCE = "pod-security.kubernetes.io/enforce"


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


async def said(house: House, until: str) -> list[tuple[str, str, str]]:
    """Kind, namespace and name of all that is in force, up to the policy of that name; withdrawn ones with a minus."""
    await house.wide(until)
    found = await house.until(until)
    return [(f"{'' if bytes(one.manifest) != b'null' else '-'}{one.kind}", one.namespace, one.name) for one in found][
        :-1
    ]


async def test_the_first_tree_on_a_fresh_hub_does_not_rule_from_a_tenants_namespace(house: House) -> None:
    await house.apply(TREE, "t", "team-a", root=ROOT)
    found = await seen(house, TREE, "t", is_not("Forbidden"))
    message = found["status"]["conditions"][0]["message"]
    assert "kube-system" in message and "FAIRWAY_ADMIN_NAMESPACES" in message
    event = await house.events(lambda one: one["reason"] == "Refused")
    assert "kube-system" in event["message"]
    (refused,) = await house.said(fleet.ConfigRefused)
    assert (refused.kind, refused.namespace, refused.reasons[0].field) == (
        "ElasticQuotaTree",
        "team-a",
        "metadata.namespace",
    )
    await house.apply(TREE, "t", root=ROOT)
    assert await said(house, "p") == [("ElasticQuotaTree", "kube-system", "t")]


async def test_a_queue_of_a_tenants_is_none_and_what_was_one_before_gives_way(house: House) -> None:
    await house.stop()
    old = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "Queue", "metadata": {"name": "gold"}, "spec": {}}
    word = fleet.Configured(
        kind="Queue", namespace="team-a", name="gold", manifest=msgspec.Raw(msgspec.json.encode(old))
    )
    subject = subjects.config("Queue", "team-a", "gold")
    await house.bus.publish([Outgoing("old", subject, msgspec.json.encode(word))])
    await house.apply(QUEUE, "gold", "team-a")
    house.start()
    found = await seen(house, QUEUE, "gold", is_not("Forbidden"))
    assert "the last good one stays in force" in found["status"]["conditions"][0]["message"]
    await house.apply(QUEUE, "gold", queuePolicy="Block")
    assert await said(house, "p") == [
        ("Queue", "team-a", "gold"),
        ("-Queue", "team-a", "gold"),
        ("Queue", "kube-queue", "gold"),
    ]


async def test_a_queue_that_is_open_to_nobody_says_what_to_write(house: House) -> None:
    await house.apply(QUEUE, "gold")
    found = await seen(house, QUEUE, "gold", is_ready)
    assert "fairway.io/allow-namespaces" in found["status"]["conditions"][0]["message"]
    await house.hub.patch(
        QUEUE, "kube-queue", "gold", {"metadata": {"annotations": {"fairway.io/allow-namespaces": "team-a"}}}
    )
    await seen(house, QUEUE, "gold", lambda one: one.get("message") == "in force in the whole fleet")


async def test_a_profile_is_a_setting_like_others(house: House) -> None:
    await house.apply(PROFILE, "a", namespaces=["team-a"], queues=["gold"])
    await seen(house, PROFILE, "a", is_ready)
    await house.hub.patch(PROFILE, "", "a", {"spec": {"cluster": ["c1"]}})
    found = await seen(house, PROFILE, "a", is_not("Invalid"))
    assert "spec.cluster" in found["status"]["conditions"][0]["message"]
    await house.delete(PROFILE, "a")
    await house.said(fleet.Configured, 2)
    assert await said(house, "p") == [("TenantProfile", "", "a"), ("-TenantProfile", "", "a")]


async def label(house: House, name: str, value: str | None, key: str = ENFORCE) -> None:
    await house.hub.patch(NAMESPACE, "", name, {"metadata": {"labels": {key: value}}})


async def test_a_namespaces_labels_are_said_as_far_as_they_are_about_pods(house: House) -> None:
    await house.apply(NAMESPACE, "team-b", labels={ENFORCE: "restricted", "by": "test"})
    await house.apply(NAMESPACE, "team-c")
    (word,) = await house.said(fleet.Configured)
    meta = msgspec.json.decode(word.manifest)["metadata"]
    assert (word.kind, word.namespace, word.name, meta["labels"]) == (
        "Namespace",
        "",
        "team-b",
        {ENFORCE: "restricted"},
    )
    await label(house, "team-b", "other", key="by")  # is no news
    await label(house, "team-b", "baseline")
    await house.said(fleet.Configured, 2)
    await label(house, "team-b", "restricted")  # back again
    assert len(await house.said(fleet.Configured, 3)) == 3
    await label(house, "team-b", None)
    await house.said(fleet.Configured, 4)
    await label(house, "team-c", "privileged", key="fairway.io/pod-security")
    await house.said(fleet.Configured, 5)
    assert (await said(house, "p"))[3:] == [("-Namespace", "", "team-b"), ("Namespace", "", "team-c")]
    await house.apply(NAMESPACE, "team-d", labels={"fairway.io/plain-env": "deny"})
    last = (await house.said(fleet.Configured, 7))[-1]
    assert (last.name, b"fairway.io/plain-env" in bytes(last.manifest)) == ("team-d", True)
    found = await house.hub.get(NAMESPACE, "", "team-b")
    assert found is not None and not (found.get("status") or {}).get("conditions")


async def test_after_a_restart_labels_are_said_once_and_what_went_meanwhile_is_withdrawn(house: House) -> None:
    for name in ("team-b", "team-c"):
        await house.apply(NAMESPACE, name, labels={ENFORCE: "restricted"})
    await house.said(fleet.Configured, 2)
    await house.stop()
    await label(house, "team-b", None)
    house.start()
    await house.said(fleet.Configured, 3)
    assert (await said(house, "p"))[2:] == [("-Namespace", "", "team-b")]


async def test_a_job_of_the_system_is_nothing_of_fairways(house: House) -> None:
    await house.job("theirs", "kube-system")
    await house.policy()
    await house.job()
    await house.said(wire.Submitted)
    await house.job("waits")  # for a policy: it is told so, after the other would have been
    event = await house.events(lambda one: one["reason"] == "NoPolicy")
    assert event["involvedObject"]["name"] == "waits"
    assert house.count(wire.Submitted) == 1


async def test_a_job_of_the_system_that_a_policy_selects_is_refused_and_told_so(house: House) -> None:
    selects = [{"apiVersion": "batch/v1", "kind": "Job", "name": "theirs"}]
    await house.apply(PP, "theirs", "kube-system", resourceSelectors=selects)
    uid = await house.job("theirs", "kube-system")
    event = await house.events(lambda one: one["reason"] == "ReservedNamespace")
    assert (event["involvedObject"]["uid"], "kube-system" in event["message"]) == (uid, True)
    assert house.count(wire.Submitted) == 0
