"""What of an object may change while it runs."""

from typing import Any

import pytest

from fairway.workloads.kinds.generic import load_generic
from fairway.workloads.kinds.in_place import differing, fixed, shown
from fairway.workloads.kinds.registry import KINDS

Json = dict[str, Any]
POD = {"spec": {"containers": [{"name": "main", "image": "x"}]}}


def job(**spec: Any) -> Json:
    return {"metadata": {"name": "a", "labels": {"own": "1"}}, "spec": {"parallelism": 2, "template": POD, **spec}}


def torch(workers: int = 2, **spec: Any) -> Json:
    roles = {"Master": {"replicas": 1, "template": POD}, "Worker": {"replicas": workers, "template": POD}}
    return {"metadata": {"name": "a"}, "spec": {"pytorchReplicaSpecs": roles, **spec}}


def replicas(specs: str, role: str, count: int, **spec: Any) -> Json:
    return {"metadata": {"name": "a"}, "spec": {specs: {role: {"replicas": count, "template": POD}}, **spec}}


def volcano(*counts: int, **spec: Any) -> Json:
    tasks = [{"name": f"t{index}", "replicas": count, "template": POD} for index, count in enumerate(counts)]
    return {"metadata": {"name": "a"}, "spec": {"tasks": tasks, **spec}}


def jobset(count: int, **spec: Any) -> Json:
    one = {"name": "workers", "replicas": count, "template": {"spec": {"template": POD}}}
    return {"metadata": {"name": "a"}, "spec": {"replicatedJobs": [one], **spec}}


def groups(count: int, size: int = 2) -> Json:
    return {"metadata": {"name": "a"}, "spec": {"replicas": count, "leaderWorkerTemplate": {"size": size}}}


def ray(count: int, **spec: Any) -> Json:
    group = {"groupName": "w", "replicas": count, "template": POD}
    return {"metadata": {"name": "a"}, "spec": {"rayClusterSpec": {"workerGroupSpecs": [group]}, **spec}}


def cluster(**group: Any) -> Json:
    one = {"groupName": "w", "replicas": 2, "template": POD, **group}
    return {"metadata": {"name": "a"}, "spec": {"workerGroupSpecs": [one]}}


def scaled(**group: Any) -> Json:
    made = cluster(**group)
    made["spec"]["enableInTreeAutoscaling"] = True
    return made


def spark(count: int) -> Json:
    return {"metadata": {"name": "a"}, "spec": {"executor": {"instances": count}}}


def workflow(**spec: Any) -> Json:
    return {"metadata": {"name": "a"}, "spec": {"entrypoint": "main", "templates": [{"name": "main"}], **spec}}


ELASTIC = {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 4}}
SCALED = {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 4, "metrics": [{"type": "Resource"}]}}
POLICY = {"runPolicy": {"activeDeadlineSeconds": 60, "backoffLimit": 3}}
OPEN = {
    "a Job's pods at once": ("Job.batch/v1", job(), job(parallelism=1)),
    "a Job's limits": ("Job.batch/v1", job(), job(activeDeadlineSeconds=9, backoffLimit=0, maxFailedIndexes=1)),
    "how many of an Indexed Job are to end well": (
        "Job.batch/v1",
        job(completionMode="Indexed", completions=2),
        job(completionMode="Indexed", completions=1, parallelism=1),
    ),
    "workers of an elastic PyTorchJob": ("PyTorchJob.kubeflow.org/v1", torch(2, **ELASTIC), torch(1, **ELASTIC)),
    "a PyTorchJob's limits": ("PyTorchJob.kubeflow.org/v1", torch(), torch(**POLICY)),
    "workers of a TFJob that is told of them": (
        "TFJob.kubeflow.org/v1",
        replicas("tfReplicaSpecs", "Worker", 3, enableDynamicWorker=True),
        replicas("tfReplicaSpecs", "Worker", 2, enableDynamicWorker=True),
    ),
    "workers of an MPIJob": (
        "MPIJob.kubeflow.org/v2beta1",
        replicas("mpiReplicaSpecs", "Worker", 3),
        replicas("mpiReplicaSpecs", "Worker", 2),
    ),
    "tasks of a Volcano job": ("Job.batch.volcano.sh/v1alpha1", volcano(2, 2), volcano(2, 1, minAvailable=2)),
    "groups of a LeaderWorkerSet": ("LeaderWorkerSet.leaderworkerset.x-k8s.io/v1", groups(2), groups(1)),
    "a RayJob's limits": ("RayJob.ray.io/v1", ray(2), ray(2, activeDeadlineSeconds=60, backoffLimit=1)),
    "workers of a RayCluster": ("RayCluster.ray.io/v1", cluster(), cluster(replicas=1, minReplicas=1, maxReplicas=3)),
    "bounds of a RayCluster that scales itself": (
        "RayCluster.ray.io/v1",
        scaled(maxReplicas=4),
        scaled(minReplicas=1, maxReplicas=3),
    ),
    "what a Workflow does at once, and that it is to stop": (
        "Workflow.argoproj.io/v1alpha1",
        workflow(parallelism=4),
        workflow(parallelism=2, activeDeadlineSeconds=60, shutdown="Stop"),
    ),
}


@pytest.mark.parametrize("case", OPEN)
def test_the_operator_takes_it_over(case: str) -> None:
    kind, before, after = OPEN[case]
    assert fixed(KINDS[kind], before, after) == ()
    assert differing(before, after)


FIXED = {
    "a Job's template": (
        "Job.batch/v1",
        job(),
        job(template={"spec": {"containers": [{"name": "main", "image": "y"}]}}),
        ("spec.template.spec.containers[0].image",),
    ),
    "how many of a Job are to end well": ("Job.batch/v1", job(), job(completions=5), ("spec.completions",)),
    "a container more": (
        "Job.batch/v1",
        job(),
        job(template={"spec": {"containers": [*POD["spec"]["containers"], {"name": "two"}]}}),
        ("spec.template.spec.containers",),
    ),
    "labels of pods": (
        "Job.batch/v1",
        job(),
        job(template={**POD, "metadata": {"labels": {"a": "b"}}}),
        ("spec.template.metadata.labels.a",),
    ),
    "workers that were told how many they are": (
        "PyTorchJob.kubeflow.org/v1",
        torch(2),
        torch(1),
        ("spec.pytorchReplicaSpecs.Worker.replicas",),
    ),
    "workers that are scaled by metrics": (
        "PyTorchJob.kubeflow.org/v1",
        torch(2, **SCALED),
        torch(1, **SCALED),
        ("spec.pytorchReplicaSpecs.Worker.replicas",),
    ),
    "the master of an elastic PyTorchJob": (
        "PyTorchJob.kubeflow.org/v1",
        replicas("pytorchReplicaSpecs", "Master", 1, **ELASTIC),
        replicas("pytorchReplicaSpecs", "Master", 2, **ELASTIC),
        ("spec.pytorchReplicaSpecs.Master.replicas",),
    ),
    "the run policy of an MPIJob, of which a Job was made": (
        "MPIJob.kubeflow.org/v2beta1",
        replicas("mpiReplicaSpecs", "Worker", 3),
        replicas("mpiReplicaSpecs", "Worker", 3, **POLICY),
        ("spec.runPolicy.activeDeadlineSeconds", "spec.runPolicy.backoffLimit"),
    ),
    "the queue of a Volcano job": (
        "Job.batch.volcano.sh/v1alpha1",
        volcano(2),
        volcano(2, queue="gold"),
        ("spec.queue",),
    ),
    "a task more": ("Job.batch.volcano.sh/v1alpha1", volcano(2), volcano(2, 1), ("spec.tasks",)),
    "jobs of a JobSet": (
        "JobSet.jobset.x-k8s.io/v1alpha2",
        jobset(2),
        jobset(1),
        ("spec.replicatedJobs[0].replicas",),
    ),
    "the size of a LeaderWorkerSet's groups": (
        "LeaderWorkerSet.leaderworkerset.x-k8s.io/v1",
        groups(2, size=3),
        groups(2, size=2),
        ("spec.leaderWorkerTemplate.size",),
    ),
    "workers of a RayJob": (
        "RayJob.ray.io/v1",
        ray(2),
        ray(1),
        ("spec.rayClusterSpec.workerGroupSpecs[0].replicas",),
    ),
    "workers of a RayCluster that are its autoscaler's": (
        "RayCluster.ray.io/v1",
        scaled(),
        scaled(replicas=1),
        ("spec.workerGroupSpecs[0].replicas",),
    ),
    "the group that workers of a RayCluster are of": (
        "RayCluster.ray.io/v1",
        cluster(),
        cluster(groupName="v"),
        ("spec.workerGroupSpecs[0].groupName",),
    ),
    "executors of a SparkApplication, which would start anew": (
        "SparkApplication.sparkoperator.k8s.io/v1beta2",
        spark(2),
        spark(1),
        ("spec.executor.instances",),
    ),
    "one that may change and one that may not": (
        "Job.batch/v1",
        job(),
        job(parallelism=1, manualSelector=True),
        ("spec.manualSelector",),
    ),
}


@pytest.mark.parametrize("case", FIXED)
def test_the_operator_does_not_and_each_field_is_named(case: str) -> None:
    kind, before, after, names = FIXED[case]
    assert fixed(KINDS[kind], before, after) == names


def test_a_declared_kind_says_what_its_operator_takes_over() -> None:
    text = b"""
apiVersion: example.com/v1
kind: Training
plural: trainings
podSets: [{name: worker, count: [spec.replicas], template: [spec.template]}]
inPlace: [spec.replicas]
status: {running: [{condition: Ready}]}
"""
    kind = load_generic(text)
    before = {"spec": {"replicas": 2, "size": 1}}
    assert fixed(kind, before, {"spec": {"replicas": 1, "size": 1}}) == ()
    assert fixed(kind, before, {"spec": {"replicas": 1, "size": 2}}) == ("spec.size",)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            {"spec": {}}, {"spec": {"suspend": False, "queue": None, "args": []}}, id="nothing in other words"
        ),
        pytest.param({"spec": {}}, {"spec": {"runPolicy": {}}}, id="an empty mapping"),
        pytest.param(
            {"metadata": {"labels": {"a": "1"}}},
            {"metadata": {"name": "a"}},
            id="the object's own labels",
        ),
        pytest.param({"a": [{"b": 1}]}, {"a": [{"b": 1}]}, id="the same list"),
    ],
)
def test_that_is_no_difference(before: Json, after: Json) -> None:
    assert differing(before, after) == ()


def test_none_of_something_is_a_difference() -> None:
    assert [shown(path) for path in differing({"a": {}}, {"a": {"b": 0}})] == ["a.b"]
