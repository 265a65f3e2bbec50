"""Workflows that refer to templates on the hub, and TrainJobs that refer to runtimes: they wait for them, and their
real controller runs what was written out, in a member that has none of them."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.kubernetes.hub.objects import Applied, applied, fairway, is_true, sent_to
from tests.kubernetes.support.fleet import RealFleet, in_namespace, until
from tests.kubernetes.support.tries import policy, template

Json = dict[str, Any]
GROUP = "argoproj.io/v1alpha1"
WIDE = f"{GROUP}/clusterworkflowtemplates"
LIB = f"{GROUP}/workflowtemplates"
TRAINER = "trainer.kubeflow.org/v1alpha1"
RUNTIMES = f"{TRAINER}/trainingruntimes"
CLUSTER_RUNTIMES = f"{TRAINER}/clustertrainingruntimes"
VALUE = {"name": "message", "value": "hello"}


def work(name: str, cpu: str) -> Json:
    made = template(run_for="500ms")
    container = {**made["spec"]["containers"][0], "resources": {"requests": {"cpu": cpu}}}
    return {"name": name, "metadata": made["metadata"], "container": container}


def runs(name: str, *steps: Json) -> Json:
    return {"name": name, "steps": [[{"name": f"s{number}", **one}] for number, one in enumerate(steps)]}


def thing(kind: str, namespace: str, name: str, **spec: Any) -> Json:
    where = {"namespace": namespace} if namespace else {}
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name, **where}, "spec": spec}


@pytest.fixture
def wide(fleet: RealFleet, tenant: str) -> Iterator[str]:
    """The name of a ClusterWorkflowTemplate that is gone afterwards."""
    yield tenant
    fleet.hub.delete(f"{WIDE}/{tenant}")


def phase(one: Applied) -> str:
    return str((one.on_hub.get("status") or {}).get("phase"))


def sent(fleet: RealFleet, what: Json) -> Applied:
    one = applied(fleet, what, policy(what, "north"))
    row = one.waits("UnknownTemplate")
    assert row["state"] == "held"
    until(lambda: one.warned("UnknownTemplate"), f"an Event warns of it; there are {one.told()}")
    return one


def test_a_workflow_from_a_template_waits_for_it_follows_its_change_and_runs(fleet: RealFleet, tenant: str) -> None:
    whole = thing("Workflow", tenant, "whole", workflowTemplateRef={"name": "lib"}, arguments={"parameters": [VALUE]})
    one = sent(fleet, whole)
    assert "no WorkflowTemplate lib" in fairway(fleet, "why", "whole", "-n", tenant)
    lib = thing("WorkflowTemplate", tenant, "lib", entrypoint="main", templates=[work("main", "1000")])
    fleet.hub.apply(lib)
    until(lambda: one.row().get("state") == "queued", f"it is taken, and waits: {one.row()}")
    first = fleet.asked(f"/{one.row()['id']}")["spec"]
    assert first["workload"]["pod_sets"][0]["requests"]["cpu"] == 1_000_000
    fleet.hub.apply({**lib, "spec": {**lib["spec"], "templates": [work("main", "100m")]}})
    until(lambda: phase(one) == "Succeeded", f"it has run; it is {one.row()}")
    spec = fleet.asked(f"/{one.row()['id']}")["spec"]
    assert spec["workload"]["pod_sets"][0]["requests"]["cpu"] == 100
    (used,) = spec["hub"]["templates"]
    found = fleet.hub.get(in_namespace(LIB, tenant, "lib"))
    assert found is not None
    assert (used["uid"], used["version"]) == (found["metadata"]["uid"], found["metadata"]["resourceVersion"])
    assert f"written out with WorkflowTemplate {tenant}/lib" in fairway(fleet, "story", "whole", "-n", tenant)


def test_steps_of_templates_of_the_cluster_and_of_the_namespace_run_in_a_member_without_them(
    fleet: RealFleet, tenant: str, wide: str
) -> None:
    named = {"templateRef": {"name": wide, "template": "outer", "clusterScope": True}}
    one = sent(fleet, thing("Workflow", tenant, "steps", entrypoint="main", templates=[runs("main", named)]))
    inner = {"templateRef": {"name": "lib", "template": "work"}}
    outer = runs("outer", inner, {"template": "work"})
    fleet.hub.apply(thing("ClusterWorkflowTemplate", "", wide, templates=[outer, work("work", "200m")]))
    until(lambda: "lib" in one.row().get("text", ""), f"it waits for the other one: {one.row()}")
    fleet.hub.apply(thing("WorkflowTemplate", tenant, "lib", templates=[work("work", "100m")]))
    until(lambda: phase(one) == "Succeeded", f"it has run; it is {one.row()}")
    pods = [node for node in one.on_hub["status"]["nodes"].values() if node["type"] == "Pod"]
    assert sorted(node["phase"] for node in pods) == ["Succeeded", "Succeeded"]
    assert {node["templateName"] for node in pods}.isdisjoint({"work"})
    north = fleet.members["north"]
    assert north.items(in_namespace(LIB, tenant)) + north.items(WIDE) == []
    spec = fleet.asked(f"/{one.row()['id']}")["spec"]
    assert [used["name"] for used in spec["hub"]["templates"]] == [wide, "lib"]


@pytest.fixture
def tune(fleet: RealFleet, tenant: str) -> Iterator[Json]:
    """A TrainJob of two nodes. It names a ClusterTrainingRuntime of its tenant's name, which is gone afterwards."""
    spec = {"runtimeRef": {"name": tenant}, "trainer": {"numNodes": 2}}
    yield {
        "apiVersion": TRAINER,
        "kind": "TrainJob",
        "metadata": {"name": "tune", "namespace": tenant},
        "spec": spec,
    }
    fleet.hub.delete(f"{CLUSTER_RUNTIMES}/{tenant}")


def runtime(name: str, cpu: str = "100m", **how: str) -> Json:
    """Of the cluster."""
    pods = template("node", **how)
    pods["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    step = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    jobs = [{"name": "node", "template": {"metadata": step, "spec": {"backoffLimit": 0, "template": pods}}}]
    spec = {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": {"replicatedJobs": jobs}}}
    head = {"apiVersion": TRAINER, "kind": "ClusterTrainingRuntime"}
    return {**head, "metadata": {"name": name}, "spec": spec}


def test_a_train_job_waits_for_its_runtime_follows_its_change_and_runs(
    fleet: RealFleet, tenant: str, tune: Json
) -> None:
    one = sent(fleet, tune)
    assert f"no ClusterTrainingRuntime {tenant}" in fairway(fleet, "why", "tune", "-n", tenant)
    fleet.hub.apply(runtime(tenant, "1000", run_for="2s"))
    until(lambda: one.row().get("state") == "queued", f"it is taken, and waits: {one.row()}")
    fleet.hub.apply(runtime(tenant, run_for="2s"))
    north = fleet.members["north"]
    (own,) = until(lambda: north.items(in_namespace(RUNTIMES, tenant)), "a runtime of its own is in its member")
    assert own["metadata"]["name"].startswith("fairway-") and north.items(CLUSTER_RUNTIMES) == []
    until(one.ended_well, f"it has run; it is {one.row()}")
    (pods,) = fleet.asked(f"/{one.row()['id']}")["spec"]["workload"]["pod_sets"]
    assert (pods["name"], pods["count"], pods["requests"]["cpu"]) == ("node", 2, 100)
    assert f"written out with ClusterTrainingRuntime {tenant}" in fairway(fleet, "story", "tune", "-n", tenant)


def test_a_train_job_waits_as_long_as_its_owner_holds_it_and_is_over_when_it_is_cancelled(
    fleet: RealFleet, tenant: str, tune: Json
) -> None:
    fleet.hub.apply(runtime(tenant))
    one = sent_to(fleet, {**tune, "spec": {**tune["spec"], "suspend": True}}, "north")
    one.waits("Suspended")
    until(lambda: is_true(one.on_hub, "Suspended"), "the hub shows that it is suspended")
    fleet.hub.kubectl("-n", tenant, "patch", "trainjobs/tune", "--type=merge", "-p", '{"spec": {"suspend": false}}')
    until(lambda: one.runs(2), f"it runs when it is let go; it is {one.row()}")
    fairway(fleet, "cancel", "tune", "-n", tenant)
    one.is_gone_from("north")
    until(lambda: not fleet.members["north"].items(in_namespace(RUNTIMES, tenant)), "its runtime is gone with it")
    until(lambda: one.row()["state"] == "cancelled", f"its story ends with it; it is {one.row()}")


def test_a_train_job_whose_node_fails_has_failed_on_the_hub(fleet: RealFleet, tenant: str, tune: Json) -> None:
    fleet.hub.apply(runtime(tenant, run_for="1s", exit_code="3"))
    one = sent_to(fleet, tune, "north", attempts=1)
    until(lambda: is_true(one.on_hub, "Failed"), f"it has failed; it is {one.row()}")
    assert "FailedJobs" in {told["reason"] for told in one.on_hub["status"]["conditions"]}
