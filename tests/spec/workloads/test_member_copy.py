"""The copy for a member: our labels on every pod, nothing of the hub, ready to start and to be seen finished."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from fairway.workloads.kinds import registry
from fairway.workloads.member_copy import Terms, job_labels, member_copy
from tests.spec.workloads.builders import batch_job, with_at

CASES = [
    case
    for file in sorted((Path(__file__).parent / "fixtures").glob("*.yaml"))
    for case in yaml.safe_load(file.read_text())
]
JOB_SET = "runtime.template.spec"
POD_SET = "fairway.io/pod-set"
LABELS = {"fairway.io/job": "j-1", "fairway.io/attempt": "2", "fairway.io/managed": "true"}


def copied(manifest: dict[str, Any]) -> dict[str, Any]:
    return member_copy(manifest, "j-1", 2)


def containers_without_labels(value: Any, labelled: bool = False) -> list[str]:
    """The containers found below places whose pods do not carry our labels."""
    if isinstance(value, list):
        return [name for one in value for name in containers_without_labels(one, labelled)]
    if not isinstance(value, dict):
        return []
    here = (value.get("metadata") or {}).get("labels") or {} if "spec" in value else None
    labelled = labelled if here is None else LABELS.items() <= here.items()
    own = [] if labelled else [one.get("name", "?") for one in value.get("containers", [])]
    return own + [
        name for key, one in value.items() if key != "metadata" for name in containers_without_labels(one, labelled)
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['manifest']['kind']}: {case['case']}")
def test_every_pod_template_carries_our_labels(case: dict[str, Any]) -> None:
    manifest = case["manifest"]
    before = copy.deepcopy(manifest)
    found = copied(manifest)
    assert manifest == before
    assert found == copied(manifest)
    assert LABELS.items() <= found["metadata"]["labels"].items()
    assert job_labels("j-1", 2) == LABELS
    kind = registry.KINDS[f"{manifest['kind']}.{manifest['apiVersion']}"]
    assert list(kind.label_paths(found))
    if manifest["kind"] not in ("SparkApplication", "Workflow"):
        pods = found if manifest["kind"] == "Pod" else found["spec"]
        assert containers_without_labels(pods) == []


def test_spark_and_workflow_carry_the_labels_where_their_operators_look() -> None:
    spark, workflow = (
        copied(next(case["manifest"] for case in CASES if case["manifest"]["kind"] == kind))["spec"]
        for kind in ("SparkApplication", "Workflow")
    )
    for role in ("driver", "executor"):
        assert spark[role]["labels"] == {**LABELS, POD_SET: role}
    assert workflow["podMetadata"]["labels"] == LABELS
    assert [template["metadata"]["labels"].get(POD_SET) for template in workflow["templates"]] == [None, "small", "big"]
    assert all(LABELS.items() <= template["metadata"]["labels"].items() for template in workflow["templates"])


def pod_sets_named(value: Any) -> set[str]:
    """The pod sets that labels anywhere in a copy name."""
    if isinstance(value, list):
        return {name for one in value for name in pod_sets_named(one)}
    if not isinstance(value, dict):
        return set()
    own = {value[POD_SET]} if POD_SET in value else set()
    return own | {name for one in value.values() for name in pod_sets_named(one)}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['manifest']['kind']}: {case['case']}")
def test_every_pod_set_is_named_on_its_pods(case: dict[str, Any]) -> None:
    """Only roles of no replicas may be named beyond what the workload holds."""
    named = pod_sets_named(copied(case["manifest"]))
    asked = {pods.name for pods in registry.read_unchecked(case["manifest"]).pod_sets}
    assert asked <= named
    assert named - asked <= {"Evaluator", "executor"}


def test_a_pod_set_may_have_the_name_of_a_field_on_the_way_to_it() -> None:
    """`spec` is a name that a role of a JobSet may have."""
    manifest = copy.deepcopy(next(case["manifest"] for case in CASES if case["manifest"]["kind"] == "JobSet"))
    manifest["spec"]["replicatedJobs"][0]["name"] = "spec"
    jobs = copied(manifest)["spec"]["replicatedJobs"]
    pods = [one["template"]["spec"]["template"]["metadata"]["labels"][POD_SET] for one in jobs]
    assert pods == ["spec", "workers"]


def test_nothing_of_the_hub_reaches_the_member() -> None:
    hub = {
        "uid": "u",
        "resourceVersion": "7",
        "generation": 1,
        "creationTimestamp": "2025-01-01T00:00:00Z",
        "managedFields": [{}],
        "ownerReferences": [{}],
        "finalizers": ["x"],
        "selfLink": "/x",
        "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
            "scheduling.x-k8s.io/suspend": "true",
        },
    }
    found = copied({**batch_job(**hub), "status": {"active": 1}})
    assert found["metadata"] == {"name": "one", "namespace": "team-data", "labels": LABELS}
    assert "status" not in found


@pytest.mark.parametrize(
    ("kind", "suspend", "gone"),
    [
        ("Job.batch/v1", "spec.suspend", ["spec.managedBy", "spec.ttlSecondsAfterFinished"]),
        ("JobSet.jobset.x-k8s.io/v1alpha2", "spec.suspend", ["spec.managedBy", "spec.ttlSecondsAfterFinished"]),
        (
            "TrainJob.trainer.kubeflow.org/v1alpha1",
            "spec.suspend",
            [f"spec.{one}" for one in ("managedBy", f"{JOB_SET}.managedBy", f"{JOB_SET}.ttlSecondsAfterFinished")],
        ),
        ("AppWrapper.workload.codeflare.dev/v1beta2", "spec.suspend", ["spec.managedBy"]),
        (
            "PyTorchJob.kubeflow.org/v1",
            "spec.runPolicy.suspend",
            ["spec.runPolicy.managedBy", "spec.runPolicy.ttlSecondsAfterFinished"],
        ),
        ("SparkApplication.sparkoperator.k8s.io/v1beta2", "spec.suspend", ["spec.timeToLiveSeconds"]),
        ("Workflow.argoproj.io/v1alpha1", "spec.suspend", ["spec.ttlStrategy"]),
        ("RayJob.ray.io/v1", "spec.suspend", ["spec.managedBy"]),
        ("RayCluster.ray.io/v1", "spec.suspend", ["spec.managedBy"]),
        ("Job.batch.volcano.sh/v1alpha1", "", ["spec.ttlSecondsAfterFinished"]),
    ],
)
def test_the_copy_starts_and_stays(kind: str, suspend: str, gone: list[str]) -> None:
    manifest = copy.deepcopy(
        next(c["manifest"] for c in CASES if f"{c['manifest']['kind']}.{c['manifest']['apiVersion']}" == kind)
    )
    for path in gone:
        with_at(manifest, path, {"any": 1})
    if suspend:
        with_at(manifest, suspend, True)
    found = copied(manifest)
    assert [at(found, path) for path in gone] == [None] * len(gone)
    assert not suspend or at(found, suspend) is False


def test_what_stands_in_an_appwrapper_starts_and_stays_as_well() -> None:
    manifest = copy.deepcopy(next(case["manifest"] for case in CASES if case["case"] == "a pod and a set of Jobs"))
    pod, jobs = (one["template"] for one in manifest["spec"]["components"])
    pod["metadata"] |= {"finalizers": ["x/y"], "ownerReferences": [{}], "uid": "u"}
    pod["spec"]["schedulingGates"] = [{"name": "fairway.io/fleet"}]
    jobs["spec"] |= {"ttlSecondsAfterFinished": 1, "managedBy": "x"}
    pod, jobs = (one["template"] for one in copied(manifest)["spec"]["components"])
    assert pod["metadata"] == {"name": "etl", "labels": {**LABELS, POD_SET: "0-pod"}}
    assert "schedulingGates" not in pod["spec"]
    assert jobs["spec"].keys() == {"replicatedJobs"}
    assert jobs["metadata"]["labels"] == LABELS


def at(manifest: Any, path: str) -> Any:
    for key in path.split("."):
        manifest = (manifest or {}).get(key)
    return manifest


def test_a_job_stored_by_the_hub_is_not_refused_by_the_member() -> None:
    """The selector and its labels are generated by each API server for itself."""
    manifest = batch_job()
    manifest["spec"]["selector"] = {"matchLabels": {"controller-uid": "u"}}
    manifest["spec"]["template"]["metadata"] = {"labels": {"controller-uid": "u", "job-name": "one", "app": "x"}}
    spec = copied(manifest)["spec"]
    assert "selector" not in spec
    assert spec["template"]["metadata"]["labels"] == {"app": "x", POD_SET: "pod", **LABELS}
    manifest["spec"]["manualSelector"] = True
    assert copied(manifest)["spec"]["selector"] == manifest["spec"]["selector"]


def test_the_default_submitter_of_ray_is_written_out_to_carry_labels() -> None:
    manifest = next(case["manifest"] for case in CASES if case["manifest"]["kind"] == "RayJob")
    submitter = copied(manifest)["spec"]["submitterPodTemplate"]
    assert submitter["metadata"]["labels"] == {**LABELS, POD_SET: "submitter"}
    assert submitter["spec"]["containers"][0]["image"] == "ray"
    again = registry.read(
        {**manifest, "spec": {**manifest["spec"], "submitterPodTemplate": submitter | {"metadata": {}}}}
    )
    assert again.pod_sets == registry.read(manifest).pod_sets


def test_pods_whose_room_is_held_by_placeholders_wait_behind_a_gate_of_ours() -> None:
    manifest = batch_job()
    manifest["spec"]["template"]["spec"]["schedulingGates"] = [{"name": "theirs.io/gate"}]
    template = member_copy(manifest, "j-1", 2, terms=Terms("placeholders"))["spec"]["template"]
    assert template["spec"]["schedulingGates"] == [{"name": "theirs.io/gate"}, {"name": "fairway.io/room"}]
    assert template["metadata"]["labels"]["fairway.io/hold"] == "placeholders"
    assert "schedulingGates" not in copied(batch_job())["spec"]["template"]["spec"]


def kind_of(manifest: dict[str, Any]) -> registry.Kind:
    return registry.KINDS[f"{manifest['kind']}.{manifest['apiVersion']}"]


@pytest.mark.parametrize(
    ("manifest", "hold"),
    [
        pytest.param(case["manifest"], hold, id=f"{hold}: {case['manifest']['kind']} {case['case']}")
        for case in CASES
        for hold in kind_of(case["manifest"]).holds
    ],
)
def test_every_pod_whose_room_is_held_is_made_to_take_it(manifest: dict[str, Any], hold: str) -> None:
    held = member_copy(manifest, "j-1", 2, terms=Terms(hold))
    plain = copied(manifest)
    made = str(held).count("{'name': 'fairway.io/room'}" if hold == "placeholders" else "koord-scheduler")
    assert made == len([path for path in kind_of(manifest).label_paths(plain) if pods_at(plain, path)]) > 0


def pods_at(manifest: dict[str, Any], path: tuple[Any, ...]) -> bool:
    """Whether labels at `path` are those of pods, not of a Job that a JobSet makes."""
    here: Any = manifest
    for key in path[:-1]:
        here = here[key]
    return path[-1] != "metadata" or "containers" in (here.get("spec") or {})
