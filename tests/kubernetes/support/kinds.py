"""A small job of every kind, and what its operator says when it ended well: for clusters without operators."""

from typing import Any

from fairway.workloads.kinds.kind import Kind
from fairway.workloads.kinds.registry import KINDS

Json = dict[str, Any]

_POD: Json = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x", "command": ["x"]}]}
_TEMPLATE: Json = {"metadata": {"annotations": {"fairway.test/run-for": "500ms"}}, "spec": _POD}
_ROLES = {
    "PyTorchJob": ("pytorch", "Master"),
    "TFJob": ("tf", "Worker"),
    "XGBoostJob": ("xgb", "Master"),
    "PaddleJob": ("paddle", "Worker"),
    "JAXJob": ("jax", "Worker"),
    "MXJob": ("mx", "Worker"),
    "MPIJob": ("mpi", "Launcher"),
}
_ROLE: Json = {"cores": 1, "memory": "256m", "serviceAccount": "spark-operator-spark"}
_JOBS: list[Json] = [{"name": "one", "replicas": 1, "template": {"spec": {"template": _TEMPLATE}}}]
_COMPONENT: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}, "spec": _POD}
_SPECS: dict[str, Json] = {
    "Job.batch/v1": {"template": _TEMPLATE},
    "Pod.v1": _POD,
    "Job.batch.volcano.sh/v1alpha1": {"tasks": [{"name": "one", "replicas": 1, "template": _TEMPLATE}]},
    "SparkApplication.sparkoperator.k8s.io/v1beta2": {
        "type": "Scala",
        "mode": "cluster",
        "image": "x",
        "sparkVersion": "3.5.5",
        "mainClass": "A",
        "mainApplicationFile": "local:///a.jar",
        "restartPolicy": {"type": "Never"},
        "driver": _ROLE,
        "executor": {"cores": 1, "memory": "256m", "instances": 1},
    },
    "Workflow.argoproj.io/v1alpha1": {
        "entrypoint": "s",
        "templates": [{"name": "s", "container": {"name": "main", "image": "x", "command": ["x"]}}],
    },
    "JobSet.jobset.x-k8s.io/v1alpha2": {"replicatedJobs": _JOBS},
    "TrainJob.trainer.kubeflow.org/v1alpha1": {"runtimeRef": {"kind": "TrainingRuntime", "name": "one"}},
    "LeaderWorkerSet.leaderworkerset.x-k8s.io/v1": {
        "leaderWorkerTemplate": {"workerTemplate": {"spec": {**_POD, "restartPolicy": "Always"}}},
    },
    "AppWrapper.workload.codeflare.dev/v1beta2": {"components": [{"template": _COMPONENT}]},
    "RayCluster.ray.io/v1": {"headGroupSpec": {"rayStartParams": {}, "template": {"spec": _POD}}},
    "RayJob.ray.io/v1": {
        "entrypoint": "x",
        "rayClusterSpec": {"headGroupSpec": {"rayStartParams": {}, "template": {"spec": _POD}}},
    },
}


def _ended(kind: str) -> Json:
    at = {"reason": "Done", "message": "done", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    return {"conditions": [{"type": kind, "status": "True", **at}]}


_ENDS: dict[str, Json] = {
    "Job.batch.volcano.sh/v1alpha1": {"state": {"phase": "Completed"}},
    "Pod.v1": {"phase": "Succeeded"},
    "SparkApplication.sparkoperator.k8s.io/v1beta2": {"applicationState": {"state": "COMPLETED"}},
    "Workflow.argoproj.io/v1alpha1": {"phase": "Succeeded"},
    "JobSet.jobset.x-k8s.io/v1alpha2": _ended("Completed"),
    "LeaderWorkerSet.leaderworkerset.x-k8s.io/v1": {**_ended("Available"), "readyReplicas": 1},
    "TrainJob.trainer.kubeflow.org/v1alpha1": _ended("Complete"),
    "AppWrapper.workload.codeflare.dev/v1beta2": {"phase": "Succeeded"},
    "RayCluster.ray.io/v1": {**_ended("HeadPodReady"), "state": "ready"},
    "RayJob.ray.io/v1": {"jobStatus": "SUCCEEDED", "jobDeploymentStatus": "Complete"},
}


def every() -> list[Kind]:
    """One for each resource: rights do not tell its versions apart. The first is the one that is served."""
    found: dict[tuple[str, str], Kind] = {}
    for kind in KINDS.values():
        version = kind.api_version
        if kind.name != "MPIJob" or version.endswith("/v1"):
            found.setdefault((version.partition("/")[0], kind.plural), kind)
    return list(found.values())


QUEUE = ("scheduling.volcano.sh/v1beta1", "Queue")
# What a member serves, jobs and what goes with them, by version and name.
SERVED = [
    QUEUE,
    *((kind.api_version, kind.name) for kind in every()),
    *((version, name) for kind in every() for name, _, version in (key.partition(".") for key in kind.brings)),
]


def scope(name: str) -> str:
    return "Cluster" if name == QUEUE[1] else "Namespaced"


def path(kind: Kind, namespace: str) -> str:
    return f"{kind.api_version}/namespaces/{namespace}/{kind.plural}"


def manifest(kind: Kind, queue: str = "") -> Json:
    """`queue`: of a kind that names one."""
    spec = _SPECS.get(kind.key)
    if kind.key == "Job.batch.volcano.sh/v1alpha1" and queue:
        spec = {**_SPECS[kind.key], "queue": queue}
    if spec is None:
        prefix, role = _ROLES[kind.name]
        spec = {f"{prefix}ReplicaSpecs": {role: {"replicas": 1, "template": {"spec": _POD}}}}
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": "one"}, "spec": spec}


def refers_to(kind: Kind) -> dict[str, Json]:
    """What its manifest refers to, by its plural name in the same group and version."""
    if kind.name != "TrainJob":
        return {}
    runtime = {"metadata": {"name": "one"}, "spec": {"template": {"spec": {"replicatedJobs": _JOBS}}}}
    return {"trainingruntimes": {"apiVersion": kind.api_version, "kind": "TrainingRuntime", **runtime}}


def good_end(kind: Kind) -> Json:
    """Of every kind but the batch Job, which has its controller; of a service, that it is up."""
    return _ENDS.get(kind.key) or _ended("Succeeded")


def policy(name: str, *clusters: str, **annotations: str) -> Json:
    """For every kind of job in its namespace."""
    selectors = [{"apiVersion": kind.api_version, "kind": kind.name} for kind in every()]
    notes = {f"fairway.io/{key.replace('_', '-')}": text for key, text in annotations.items()}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": name, "annotations": notes},
        "spec": {"resourceSelectors": selectors, "placement": {"clusterAffinity": {"clusterNames": list(clusters)}}},
    }
