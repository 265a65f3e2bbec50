"""An AppWrapper: what the hub shows of one, what of it comes to the record, and what may stand in it."""

from typing import Any

import msgspec
import pytest

from fairway.wire.reasons import Code, Refused
from fairway.workloads.appwrapper.appwrapper import AppWrapper
from fairway.workloads.appwrapper.components import may_be_wrapped
from fairway.workloads.companions.apart import apart
from fairway.workloads.hub.objects import HubObject, hub_object
from fairway.workloads.hub_status import StatusWord
from fairway.workloads.kinds.generic import load_generic
from fairway.workloads.kinds.in_place import fixed
from fairway.workloads.kinds.kind import Kind
from fairway.workloads.kinds.registry import APPWRAPPER, KINDS, read
from tests.cases.good_jobs import app_wrapper, batch_job, job
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.hub.hub_objects import Json, policy, thing

MOMENT = 300
WORD = StatusWord("InsufficientCapacity", "no cluster has room", "2026-01-01T00:00:00Z")
SECRET: Json = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"}, "data": {"a": "Y2FuYXJ5"}}
ALL = policy("all", {"apiVersion": APPWRAPPER.api_version, "kind": "AppWrapper"})
CLONES = """
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
plural: clonesets
podSets: [{name: pod, count: [spec.replicas], template: [spec.template]}]
status: {running: [{path: status.readyReplicas, atLeast: pods}]}
"""


def of_hub(*templates: Json) -> HubObject:
    return hub_object(
        APPWRAPPER.key, thing(APPWRAPPER.key, "one", spec={"components": [{"template": one} for one in templates]})
    )


def test_the_bytes_of_a_secret_do_not_come_to_the_record() -> None:
    one = HubDriver()
    what = of_hub(batch_job(), SECRET)
    one.apply(ALL, what)
    one.run(2 * MOMENT)
    (said,) = one.submissions(what)
    manifest = msgspec.json.decode(said.manifest)
    assert "Y2FuYXJ5" not in str(manifest)
    with pytest.raises(Refused) as refused:
        read(manifest)
    (reason,) = (one for one in refused.value.reasons if one.code == Code.UNKNOWN_KIND)
    assert reason.field == "spec.components[1].template.kind"
    assert "Secret 'key'" in reason.text
    why = apart({**app_wrapper(), "spec": {"components": [{"template": SECRET}]}})
    assert why is not None and "Y2FuYXJ5" not in why.text


@pytest.mark.parametrize("odd", [None, 7, [], [7], [{}], [{"template": 7}], {"template": SECRET}])
def test_components_that_are_none_hold_nothing(odd: Any) -> None:
    assert apart({**app_wrapper(), "spec": {"components": odd}}) is None
    assert apart({**app_wrapper(), "spec": odd}) is None
    for spec in (odd, {"components": odd}):
        assert APPWRAPPER.as_written({**app_wrapper(), "spec": spec})["spec"] == spec


def test_its_cluster_has_to_serve_the_kinds_of_its_components_too() -> None:
    pods = {"spec": {"containers": [{"name": "main"}]}}
    components = [
        {"template": {"metadata": {"name": name}, "apiVersion": "batch/v1", "kind": "Job", "spec": {"template": pods}}}
        for name in ("a", "b")
    ]
    components.append({"template": {"metadata": {"name": "c"}, "apiVersion": "v1", "kind": "Pod", **pods}})
    found = read({**app_wrapper(), "spec": {"components": components}})
    assert found.served_kinds == (APPWRAPPER.key, "Job.batch/v1", "Pod.v1")


def test_what_is_shown_of_one_that_waits_is_taken_for_nobodys_wish() -> None:
    ends = APPWRAPPER.ends
    assert ends.queued is not None
    waits = ends.queued({}, WORD)
    assert waits["phase"] == "Suspended"
    assert [(one["type"], one["status"], one["reason"]) for one in waits["conditions"]] == [
        ("QuotaReserved", "False", "InsufficientCapacity")
    ]
    assert ends.untouched(waits) and ends.untouched({})
    assert not ends.untouched({**waits, "phase": "Running"})
    assert not ends.untouched({**waits, "componentStatus": []})


def test_no_component_changes_while_it_runs() -> None:
    before = app_wrapper()
    after = app_wrapper()
    after["spec"]["components"][0]["template"]["spec"]["parallelism"] = 2
    assert fixed(APPWRAPPER, before, after) == ("spec.components[0].template.spec.parallelism",)


def test_between_two_attempts_nothing_is_left_of_the_first() -> None:
    true = {
        name: {"type": name, "status": "True"}
        for name in ("QuotaReserved", "ResourcesDeployed", "PodsReady", "Unhealthy")
    }
    shown = {"phase": "Running", "resettingCount": 1, "componentStatus": [{}], "conditions": list(true.values())}
    waits = APPWRAPPER.ends.waits(shown, WORD)
    assert {one["type"]: one["status"] for one in waits["conditions"]} == {
        "ResourcesDeployed": "False",
        "PodsReady": "False",
        "QuotaReserved": "False",
    }
    assert "componentStatus" not in waits


def test_components_are_of_kinds_whose_pods_come_from_their_manifests() -> None:
    other = {key for key, kind in KINDS.items() if not may_be_wrapped(kind)}
    assert other == {
        "AppWrapper.workload.codeflare.dev/v1beta2",
        "Job.batch.volcano.sh/v1alpha1",
        "SparkApplication.sparkoperator.k8s.io/v1beta2",
        "TrainJob.trainer.kubeflow.org/v1alpha1",
        "Workflow.argoproj.io/v1alpha1",
    }


@pytest.mark.parametrize("declared", [True, False])
def test_a_component_may_be_of_a_declared_kind(declared: bool) -> None:
    clones = load_generic(CLONES)
    known: dict[str, Kind] = {clones.key: clones}
    kind = AppWrapper(known)
    template = batch_job()["spec"]["template"]
    inside = job("apps.kruise.io/v1alpha1", "CloneSet", {"replicas": 3, "template": template})
    component: Json = {"template": inside}
    if declared:
        component["podSets"] = [{"path": "template.spec.template", "replicas": 3}]
    manifest = job(kind.api_version, kind.name, {"components": [component]})
    if declared:
        assert read(manifest, {kind.key: kind}).pods == 3
    else:
        with pytest.raises(Exception, match="AppWrapper would not wait for its pods"):
            read(manifest, {kind.key: kind})
