"""Pods that start together, as their owner applies them one by one: what each shows on the hub, and that none of them
is in a member without the others."""

from typing import Any

import pytest

from tests.kubernetes.support.fleet import Api, RealFleet, until
from tests.kubernetes.support.tries import Json, Watch, policy, template
from tests.spec.builders.gangs_of_pods import KOORDINATOR, KUEUE

NAMES = ("lead", "one", "two")
MARKS = {"Kueue": KUEUE, "Koordinator": KOORDINATOR}


def pod(tenant: str, name: str, marks: Json = KUEUE, **how: str) -> Json:
    made = template(**how)
    notes = {**made["metadata"]["annotations"], **marks["annotations"]}
    meta = {"name": name, "namespace": tenant, "labels": {"of": "g", **marks.get("labels", {})}, "annotations": notes}
    spec = {**made["spec"], "schedulingGates": [{"name": "fairway.io/fleet"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def rules(tenant: str, *first_then: str, **given: Any) -> Json:
    """Of all pods of the gang, as `tries.policy`."""
    made = policy(pod(tenant, "lead"), *first_then, **given)
    made["spec"]["resourceSelectors"] = [
        {"apiVersion": "v1", "kind": "Pod", "labelSelector": {"matchLabels": {"of": "g"}}}
    ]
    return made


def phases(api: Api, tenant: str) -> dict[str, str]:
    return {one["metadata"]["name"]: one["status"].get("phase", "") for one in api.pods(tenant)}


def all_are(api: Api, tenant: str, phase: str, seconds: float = 90) -> None:
    until(lambda: phases(api, tenant) == dict.fromkeys(NAMES, phase), f"all pods in {api.name} are {phase}", seconds)


def start(fleet: RealFleet, tenant: str, *first_then: str, how: Json | None = None, **given: Any) -> None:
    """`how` has what each pod does, by its name."""
    pods = [pod(tenant, name, **(how or {}).get(name, {})) for name in NAMES]
    fleet.hub.apply(rules(tenant, *first_then, **given), *pods)


@pytest.mark.parametrize("marks", MARKS.values(), ids=list(MARKS))
def test_they_wait_for_the_last_one_and_then_run_and_end_together(fleet: RealFleet, tenant: str, marks: Json) -> None:
    lead, one, two = (pod(tenant, name, marks, run_for="4s") for name in NAMES)
    fleet.hub.apply(rules(tenant, "north"), one, lead)
    waits = "GangOfPods: 2 of 3 pods of gang g are there"
    for name in ("lead", "one"):
        until(lambda name=name: waits in fleet.hub.kubectl("get", "pod", name, "-n", tenant, "-o", "yaml"), "it waits")
    assert fleet.members["north"].pods(tenant) == []
    fleet.hub.apply(two)
    all_are(fleet.members["north"], tenant, "Running")
    all_are(fleet.hub, tenant, "Running")
    for each in fleet.hub.pods(tenant):
        assert each["status"]["containerStatuses"][0]["ready"] is True
        assert not {"podIP", "hostIP", "nominatedNodeName"} & set(each["status"])
    all_are(fleet.hub, tenant, "Succeeded")
    assert (fleet.explained("why", tenant, "lead") or {})["state"] == "succeeded"


def test_a_gang_of_which_one_pod_fails_goes_on_elsewhere_and_nobody_sees_it_fail(fleet: RealFleet, tenant: str) -> None:
    watches = [Watch(fleet.hub, "Pod", tenant, name) for name in NAMES]
    start(fleet, tenant, "north", "west", how={"one": {"run_for": "2s", "fail_in_cluster": "north"}})
    until(lambda: len(fleet.members["west"].pods(tenant)) == len(NAMES), "it goes on in west", 120)
    all_are(fleet.members["west"], tenant, "Running")
    all_are(fleet.hub, tenant, "Running")
    seen = [status.get("phase") for watch in watches for status in watch.end()]
    assert "Failed" not in seen and "Running" in seen
    until(lambda: not fleet.members["north"].pods(tenant), "nothing is left in north")


def test_the_end_of_the_last_attempt_is_shown_by_each_as_its_own(fleet: RealFleet, tenant: str) -> None:
    start(fleet, tenant, "north", attempts=1, how={"one": {"run_for": "2s", "exit_code": "3"}})
    all_are(fleet.hub, tenant, "Failed")
    shown = {one["metadata"]["name"]: one["status"] for one in fleet.hub.pods(tenant)}
    assert shown["one"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 3
    assert (shown["lead"]["reason"], shown["two"]["reason"]) == ("JobFailed", "JobFailed")
    until(lambda: not fleet.members["north"].pods(tenant), "what was left of it is gone")


@pytest.mark.parametrize("name", ["lead", "two"])
def test_a_gang_one_of_whose_pods_is_deleted_is_cancelled(fleet: RealFleet, tenant: str, name: str) -> None:
    start(fleet, tenant, "north")
    all_are(fleet.members["north"], tenant, "Running")
    fleet.hub.kubectl("delete", "pod", name, "-n", tenant, "--timeout=10s")
    until(lambda: not fleet.members["north"].pods(tenant), "nothing is left of it in its member")
    left = {one: "Failed" for one in NAMES if one != name}
    until(lambda: phases(fleet.hub, tenant) == left, "the others show that")
    assert {one["status"]["reason"] for one in fleet.hub.pods(tenant)} == {"Cancelled"}


def test_a_gang_that_is_deleted_whole_is_gone_from_its_member(fleet: RealFleet, tenant: str) -> None:
    start(fleet, tenant, "north")
    all_are(fleet.members["north"], tenant, "Running")
    fleet.hub.kubectl("delete", "pods", "--all", "-n", tenant, "--timeout=10s")
    until(lambda: not fleet.members["north"].pods(tenant), "nothing is left of it in its member")


def test_a_gang_that_is_unsafe_is_refused_on_each_pod(fleet: RealFleet, tenant: str) -> None:
    pods = [pod(tenant, name) for name in NAMES]
    pods[1]["spec"]["hostNetwork"] = True
    fleet.hub.apply(rules(tenant, "north"), *pods)
    all_are(fleet.hub, tenant, "Failed")
    assert {one["status"]["reason"] for one in fleet.hub.pods(tenant)} == {"UnsafePod"}
