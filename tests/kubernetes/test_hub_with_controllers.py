"""A hub whose kube-controller-manager would run jobs by itself: what says that they are Fairway's is left alone."""

from typing import Any

import pytest
import yaml

from tests.cases.job_statuses import LATER, START, Json, manifest, on
from tests.cases.pod_statuses import manifest as single_pod
from tests.kubernetes.support.fleet import Api, condition, in_namespace, until
from tests.kubernetes.support.own import Own
from tests.paths import ROOT

JOBS = "batch/v1/jobs"
TENANT = "ruled-tenant"
OTHER = "ruled-other"
DONE = {"startTime": START, "completionTime": LATER, "succeeded": 2, "conditions": on("SuccessCriteriaMet", "Complete")}


@pytest.fixture
def hub(own: Own) -> Api:
    """With controllers and nodes, the policy of deploy/hub, a tenant's namespace and one of nobody's."""
    hub = own.api("ruled")
    if hub.get(f"v1/namespaces/{TENANT}") is None:
        for name, labels in ((TENANT, {"fairway.io/tenant": "true"}), (OTHER, {})):
            hub.create("v1/namespaces", {"metadata": {"name": name, "labels": labels}})
        hub.apply(*yaml.safe_load_all((ROOT / "deploy/hub/managed-by.yaml").read_text()))
        until(lambda: "managedBy" in refused(hub), "the policy is in force")
    return hub


def refused(hub: Api) -> str:
    """What the hub says to a Job of the tenant that does not say whose it is."""
    job = manifest("whose")
    del job["spec"]["managedBy"]
    job["metadata"]["namespace"] = TENANT
    return hub.kubectl("apply", "--dry-run=server", "-f", "-", stdin=yaml.safe_dump(job), check=False)


def test_a_job_that_does_not_say_whose_it_is_is_refused_with_what_to_write(hub: Api) -> None:
    assert "set spec.managedBy: fairway.io/fleet" in refused(hub)


def test_a_job_of_fairways_gets_no_pods_there_and_keeps_the_status_that_is_returned(hub: Api) -> None:
    hub.create(in_namespace(JOBS, TENANT), manifest("ours"))
    steps = [{"op": "add", "path": "/status", "value": DONE}]
    path = f"/apis/{in_namespace(JOBS, TENANT, 'ours')}"
    hub.http.patch(f"{path}/status", json=steps, headers={"Content-Type": "application/json-patch+json"})
    theirs = manifest("theirs")
    del theirs["spec"]["managedBy"]
    notes = {"annotations": {"fairway.test/run-for": "100ms"}}
    theirs["spec"]["template"]["metadata"] = notes
    hub.create(in_namespace(JOBS, OTHER), theirs)
    until(lambda: condition(hub.get(in_namespace(JOBS, OTHER, "theirs")), "Complete") == "True", "the others run there")
    status = (hub.get(in_namespace(JOBS, TENANT, "ours")) or {})["status"]
    assert (hub.pods(TENANT), {**status, "conditions": on("SuccessCriteriaMet", "Complete")}) == ([], DONE)


def pod(name: str, gated: bool = True, **metadata: Any) -> Json:
    made = single_pod(name)
    made["metadata"] |= {"namespace": TENANT, **metadata}
    return made if gated else {**made, "spec": {**made["spec"], "schedulingGates": None}}


def tried(hub: Api, manifest: Json) -> str:
    return hub.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(manifest), check=False)


def test_a_pod_that_no_controller_owns_waits_behind_the_gate_that_it_has_to_have(hub: Api) -> None:
    until(lambda: "schedulingGates" in tried(hub, pod("open", gated=False)), "the policy of pods is in force")
    assert "set spec.schedulingGates: [{name: fairway.io/fleet}]" in tried(hub, pod("open", gated=False))
    assert "created" in tried(hub, pod("ours"))
    owner = {"apiVersion": "v1", "kind": "Namespace", "name": "x", "uid": "u-1", "controller": True}
    assert "created" in tried(hub, pod("owned", gated=False, ownerReferences=[owner]))
    assert "SchedulingGated" in hub.kubectl("get", "pods", "-n", TENANT)
    gone = {"spec": {"schedulingGates": None}}
    where = f"/api/{in_namespace('v1/pods', TENANT, 'ours')}"
    answer = hub.http.patch(where, json=gone, headers={"Content-Type": "application/merge-patch+json"})
    assert "leave spec.schedulingGates" in answer.json()["message"]


def test_a_pod_of_fairways_keeps_the_status_that_is_returned(hub: Api) -> None:
    hub.create(in_namespace("v1/pods", TENANT), pod("shown"))
    told = {"phase": "Succeeded", "conditions": [{"type": "PodScheduled", "status": "True"}]}
    hub.http.patch(
        f"/api/{in_namespace('v1/pods', TENANT, 'shown')}/status",
        json=[{"op": "add", "path": "/status", "value": told}],
        headers={"Content-Type": "application/json-patch+json"},
    )
    assert "Succeeded" in hub.kubectl("get", "pod", "shown", "-n", TENANT, "-o", "jsonpath={.status.phase}")
