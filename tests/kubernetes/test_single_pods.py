"""A pod that is a job of one: what its owner sees on the hub, attempt by attempt, and what keeps it there."""

from typing import Any

import pytest

from tests.cases.pod_statuses import CHANGES, Change, manifest
from tests.kubernetes.support.fleet import Api, RealFleet, in_namespace, until
from tests.kubernetes.support.own import Own
from tests.kubernetes.support.tries import Json, Tried, Watch, job, tried

PODS = "v1/pods"
STEPS = "application/json-patch+json"


def pod(tenant: str, **how: str) -> Json:
    return job("Pod", tenant, **how)


def column(hub: Api, tenant: str) -> str:
    """STATUS of `kubectl get`."""
    lines = hub.kubectl("get", "pods", "-n", tenant, "--no-headers").splitlines()
    return lines[0].split()[2] if lines else ""


def test_its_owner_sees_it_run_and_end_as_in_its_member(fleet: RealFleet, tenant: str) -> None:
    one = tried(fleet, pod(tenant, run_for="4s"), "north")
    until(lambda: column(fleet.hub, tenant) == "Running", "it runs")
    there = fleet.members["north"].job("Pod", tenant, "try") or {}
    status = one.on_hub["status"]
    assert not {"podIP", "hostIP", "nominatedNodeName"} & set(status)
    assert status["containerStatuses"][0]["ready"] is True
    assert not {"schedulingGates", "volumes"} & set(there["spec"]), "neither the hub's gate nor its token"
    assert there["metadata"]["labels"]["fairway.io/hold"] == "placeholders", "its room was held for it"
    fleet.hub.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/try", "-n", tenant, "--timeout=60s")
    assert column(fleet.hub, tenant) == "Completed"


def test_a_failed_attempt_never_shows_as_an_end_while_another_one_follows(fleet: RealFleet, tenant: str) -> None:
    watch = Watch(fleet.hub, "Pod", tenant)
    one = tried(fleet, pod(tenant, run_for="2s", fail_in_cluster="north"), "north", "west")
    until(lambda: one.phase() == "Succeeded", "it ends well in west", 120)
    seen = [status.get("phase") for status in watch.end()]
    assert "Failed" not in seen
    assert "Running" in seen
    assert '"west"' in one.story()
    one.is_gone_from("north")


LAST: dict[str, tuple[Json, Json, str]] = {
    "it fails, and the member says with what": ({"run_for": "1s", "exit_code": "3"}, {}, "ExitCode:3"),
    "it never starts": ({"never_start_in_cluster": "north"}, {"start": "3s"}, "StartTimeout"),
}


@pytest.mark.parametrize(("how", "given", "want"), LAST.values(), ids=list(LAST))
def test_the_last_attempts_end_is_the_end(fleet: RealFleet, tenant: str, how: Json, given: Any, want: str) -> None:
    tried(fleet, pod(tenant, **how), "north", attempts=1, **given)
    fleet.hub.kubectl("wait", "--for=jsonpath={.status.phase}=Failed", "pod/try", "-n", tenant, "--timeout=90s")
    assert column(fleet.hub, tenant) in (want, "Error")


def test_what_is_unsafe_has_failed_with_the_reason(fleet: RealFleet, tenant: str) -> None:
    unsafe = pod(tenant)
    unsafe["spec"]["hostNetwork"] = True
    tried(fleet, unsafe, "north")
    until(lambda: column(fleet.hub, tenant) == "UnsafePod", "it is refused")


def test_what_was_refused_and_is_mended_waits_again_and_runs(fleet: RealFleet, tenant: str) -> None:
    wrong = pod(tenant)
    wrong["metadata"]["annotations"]["fairway.io/typo"] = "x"
    one = tried(fleet, wrong, "north")
    until(lambda: column(fleet.hub, tenant) == "Invalid", "it is refused")
    fleet.hub.kubectl("annotate", "pod", "try", "fairway.io/typo-", "-n", tenant)
    one.runs_in("north")
    until(lambda: column(fleet.hub, tenant) == "Running", "its failure is taken back")


HELD: dict[str, tuple[Json, str]] = {
    "of a gang": ({"metadata": {"labels": {"pod-group.scheduling.sigs.k8s.io/name": "g"}}}, "GangOfPods"),
    "behind a gate of others": (
        {"spec": {"schedulingGates": [{"name": "fairway.io/fleet"}, {"name": "of/others"}]}},
        "Suspended",
    ),
}
FREED = {"metadata": {"labels": None}, "spec": {"schedulingGates": [{"name": "fairway.io/fleet"}]}}


@pytest.mark.parametrize(("given", "code"), HELD.values(), ids=list(HELD))
def test_it_waits_on_the_hub_until_it_stands_alone(fleet: RealFleet, tenant: str, given: Json, code: str) -> None:
    made = pod(tenant)
    made["metadata"] |= given.get("metadata", {})
    made["spec"] |= given.get("spec", {})
    one = tried(fleet, made, "north")
    until(lambda: code in fleet.hub.kubectl("describe", "pod", "try", "-n", tenant), f"its owner is told {code}")
    assert fleet.where("Pod", tenant, "try") == []
    assert column(fleet.hub, tenant) == "SchedulingGated"
    fleet.hub.patch(in_namespace(PODS, tenant, "try"), FREED)
    one.runs_in("north")


def test_a_pod_that_is_deleted_is_gone_from_the_hub_at_once_and_then_from_its_member(
    fleet: RealFleet, tenant: str
) -> None:
    one = tried(fleet, pod(tenant), "north")
    one.runs_in("north")
    fleet.hub.kubectl("delete", "pod", "try", "-n", tenant, "--timeout=5s")
    one.is_gone_from("north")


def test_of_a_running_pod_nothing_is_taken_over_and_its_owner_is_told(fleet: RealFleet, tenant: str) -> None:
    one = tried(fleet, pod(tenant), "north")
    one.runs_in("north")
    fleet.hub.kubectl("set", "image", "pod/try", "main=other", "-n", tenant)
    until(lambda: "NotChangeable" in fleet.hub.kubectl("describe", "pod", "try", "-n", tenant), "it is not taken over")
    assert image(one) == "x"


def image(one: Tried) -> str:
    there = one.fleet.members["north"].job("Pod", one.namespace, one.name) or {}
    return str(there["spec"]["containers"][0]["image"])


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_an_api_server_judges_its_status_as_the_table_says(own: Own, change: Change) -> None:
    hub = own.api("hub")
    made = {**manifest("x", **(change.spec or {})), "metadata": {"generateName": "status-"}}
    name = hub.create(in_namespace(PODS, "default"), made)["metadata"]["name"]
    path = f"/api/{in_namespace(PODS, 'default', name)}/status"
    for status, refusal in ((change.before, ""), (change.after, change.refusal)):
        steps = [{"op": "add", "path": "/status", "value": status}]
        answer = hub.http.patch(path, json=steps, headers={"Content-Type": STEPS})
        assert answer.status_code == (422 if refusal else 200), answer.text
        assert refusal in answer.text
