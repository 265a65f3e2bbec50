"""What the hub's settings are told: Ready or why not, by condition and Event; and who comes after one that goes."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
import pytest_asyncio

from fairway.hub.settings.ready_conditions import SettingStanding, condition_of
from fairway.wire import fleet
from fairway.workloads.hub.objects import hub_object
from tests.support.simulated_hub import PP, TREE, House, opened

Json = dict[str, Any]
QUEUE = "Queue.scheduling.x-k8s.io/v1alpha1"
ACK = "PropagationPolicy.policy.one.alibabacloud.com/v1alpha1"
CLASS = "PriorityClass.scheduling.k8s.io/v1"
ROOT = {"name": "root", "min": {"cpu": "4"}, "max": {"cpu": "4"}}
BAD = {**ROOT, "children": [{"name": "a", "max": {"cpu": "9"}}]}


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    async with opened() as one:
        yield one


async def seen(house: House, kind: str, name: str, want: Callable[[Json], bool]) -> Json:
    """The object, as soon as its condition Ready is as wanted."""

    def ready(manifest: Json) -> Json:
        conditions = (manifest.get("status") or {}).get("conditions") or []
        return next((one for one in conditions if one["type"] == "Ready"), {})

    async with asyncio.timeout(5):
        async for change in house.hub.watch(kind):
            if not change.synced and change.name == name and want(ready(change.manifest)):
                return change.manifest
    raise AssertionError("a watch never ends")


def is_ready(condition: Json) -> bool:
    return condition.get("status") == "True"


def is_not(reason: str) -> Callable[[Json], bool]:
    return lambda condition: (condition.get("status"), condition.get("reason")) == ("False", reason)


async def test_a_setting_that_is_taken_says_so_once(house: House) -> None:
    await house.wide("p")
    found = await seen(house, PP, "p", is_ready)
    (condition,) = found["status"]["conditions"]
    assert (condition["reason"], condition["observedGeneration"]) == ("InForce", found["metadata"]["generation"])
    await house.wide("q")
    await seen(house, PP, "q", is_ready)
    again = await house.hub.get(PP, "team-a", "p")
    assert again is not None
    assert again["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"]
    assert len(await house.until("q")) == 2  # the status alone is no news for the fleet


async def test_a_restart_writes_no_condition_that_is_there(house: House) -> None:
    await house.wide("p")
    found = await seen(house, PP, "p", is_ready)
    await house.stop()
    house.start()
    await house.wide("q")
    await seen(house, PP, "q", is_ready)
    again = await house.hub.get(PP, "team-a", "p")
    assert again == found


async def test_a_policy_of_named_jobs_is_written_to_only_when_something_is_wrong_or_was(house: House) -> None:
    name = {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train"}]}
    await house.apply(PP, "good", **name)
    await house.apply(PP, "bad", **name, priority="high")
    await seen(house, PP, "bad", is_not("Invalid"))
    await house.hub.patch(PP, "team-a", "bad", {"spec": {"priority": None}})
    await seen(house, PP, "bad", is_ready)
    found = await house.hub.get(PP, "team-a", "good")
    assert found is not None and "status" not in found


async def test_a_refused_setting_says_what_is_wrong_and_when_it_was_put_right(house: House) -> None:
    await house.apply(TREE, "t", root=BAD)
    found = await seen(house, TREE, "t", is_not("Invalid"))
    assert "root/a" in found["status"]["conditions"][0]["message"]
    event = await house.events(lambda one: one["reason"] == "Refused")
    assert "root/a" in event["message"]
    await house.hub.patch(TREE, "kube-system", "t", {"spec": {"root": {**ROOT, "children": []}}})
    right = await seen(house, TREE, "t", is_ready)
    assert right["status"]["conditions"][0]["observedGeneration"] == 2
    await house.hub.patch(TREE, "kube-system", "t", {"spec": {"root": BAD}})
    wrong = await seen(house, TREE, "t", is_not("Invalid"))
    assert "the last good one stays in force" in wrong["status"]["conditions"][0]["message"]


async def test_what_of_a_setting_has_no_effect_is_said_with_its_readiness(house: House) -> None:
    await house.apply(TREE, "t", root={**ROOT, "attributes": {"alibabacloud.com/lendlimit": "{}"}})
    found = await seen(house, TREE, "t", is_ready)
    (condition,) = found["status"]["conditions"]
    assert (condition["reason"], condition["message"].count("without effect: ")) == ("InForce", 1)
    assert "spec.root.attributes['alibabacloud.com/lendlimit'] (the root has no siblings" in condition["message"]


async def test_a_policy_of_one_job_is_written_to_when_something_of_it_has_no_effect(house: House) -> None:
    name = {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train"}]}
    await house.apply(PP, "one", **name, activationPreference="Lazy")
    found = await seen(house, PP, "one", is_ready)
    assert "spec.activationPreference" in found["status"]["conditions"][0]["message"]


async def test_a_field_that_nobody_knows_is_refused_by_name(house: House) -> None:
    wrong = {**ROOT, "maxx": {"cpu": "9"}}
    await house.apply(TREE, "t", root=wrong)
    found = await seen(house, TREE, "t", is_not("Invalid"))
    assert "spec.root.maxx: is not a known field" in found["status"]["conditions"][0]["message"]


async def test_a_second_tree_is_taken_when_the_first_goes(house: House) -> None:
    await house.apply(TREE, "first", root=ROOT)
    await seen(house, TREE, "first", is_ready)
    await house.apply(TREE, "second", root={**ROOT, "min": {"cpu": "8"}, "max": {"cpu": "8"}})
    found = await seen(house, TREE, "second", is_not("AnotherInForce"))
    assert "kube-system/first" in found["status"]["conditions"][0]["message"]
    await house.delete(TREE, "first")
    await seen(house, TREE, "second", is_ready)
    last = (await house.said(fleet.Configured, 3))[-1]
    assert (last.name, msgspec.json.decode(last.manifest)["spec"]["root"]["max"]) == ("second", {"cpu": "8"})


async def test_a_second_tree_is_taken_when_the_first_went_while_nobody_looked(house: House) -> None:
    await house.apply(TREE, "first", root=ROOT)
    await seen(house, TREE, "first", is_ready)
    await house.apply(TREE, "second", root=ROOT)
    await seen(house, TREE, "second", is_not("AnotherInForce"))
    await house.stop()
    await house.delete(TREE, "first")
    house.start()
    await seen(house, TREE, "second", is_ready)
    assert [one.name for one in await house.said(fleet.Configured, 3)] == ["first", "first", "second"]


async def test_one_name_in_both_groups_is_one_policy_and_the_other_waits(house: House) -> None:
    await house.wide("p")
    await seen(house, PP, "p", is_ready)
    await house.apply(ACK, "p", resourceSelectors=[{"apiVersion": "batch/v1", "kind": "Job", "name": "other"}])
    found = await seen(house, ACK, "p", is_not("AnotherInForce"))
    assert "policy.karmada.io/v1alpha1" in found["status"]["conditions"][0]["message"]
    await house.delete(PP, "p")
    await seen(house, ACK, "p", is_ready)


async def test_a_queue_is_known_by_its_name_whatever_its_namespace(house: House) -> None:
    await house.apply(QUEUE, "gold", queuePolicy="Block")
    await seen(house, QUEUE, "gold", is_ready)
    await house.apply(QUEUE, "gold", "kube-system")
    await seen(house, QUEUE, "gold", is_not("AnotherInForce"))
    await house.policy("p")
    assert [one.name for one in await house.until("p")] == ["gold", "p"]


async def test_a_priority_class_has_no_status_and_is_told_by_an_event(house: House) -> None:
    await house.hub.create(CLASS, {"metadata": {"name": "high"}, "value": "a lot"})
    event = await house.events(lambda one: one["involvedObject"]["kind"] == "PriorityClass")
    assert (event["reason"], event["metadata"]["namespace"]) == ("Refused", "default")
    await house.wide("p")
    await seen(house, PP, "p", is_ready)  # conditions are written in order: its would have come before
    found = await house.hub.get(CLASS, "", "high")
    assert found is not None
    assert "status" not in found


def test_the_time_of_a_condition_is_that_of_its_last_change_of_state() -> None:
    meta: Json = {"name": "p", "namespace": "team-a", "uid": "u", "generation": 1}
    good = SettingStanding(True, "InForce", "in force")
    bad = SettingStanding(False, "Invalid", "spec.x is missing")
    foreign = {"type": "Other", "status": "True"}
    first = condition_of(hub_object(PP, {"metadata": meta, "status": {"conditions": [foreign]}}), good, 0)
    assert first is not None
    assert first["lastTransitionTime"] == "1970-01-01T00:00:00Z"
    known = {"metadata": {**meta, "generation": 2}, "status": {"conditions": [foreign, first]}}
    second = condition_of(hub_object(PP, known), good, 60_000)
    assert second is not None
    assert (second["observedGeneration"], second["lastTransitionTime"]) == (2, first["lastTransitionTime"])
    third = condition_of(hub_object(PP, known), bad, 60_000)
    assert third is not None
    assert third["lastTransitionTime"] == "1970-01-01T00:01:00Z"
    assert condition_of(hub_object(PP, {**known, "status": {"conditions": [second]}}), good, 90_000) is None
