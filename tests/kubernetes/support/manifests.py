"""The manifests of deploy/examples as a test wants them: in its own namespace, placed where their kind is served."""

from functools import cache
from typing import Any

import yaml
from msgspec import Struct

from tests.mappings import every_mapping
from tests.paths import ROOT

Json = dict[str, Any]

EXAMPLES = ROOT / "deploy" / "examples"
_RUN_FOR = "fairway.test/run-for"


class Example(Struct, frozen=True):
    """A job of each kind. `cluster` is a member that serves the kind; `pods` are those of the whole job; `good` and
    `bad` are what `kubectl wait` calls its ends on the hub, or of a `service`, which never ends by itself, that all of
    it is up, and that it was given up."""

    kind: str
    file: str
    cluster: str
    pods: int
    good: str
    bad: str = "condition=Failed"
    service: bool = False

    def __str__(self) -> str:
        return f"{self.kind} in {self.cluster}"


_PHASE = "jsonpath={.status.phase}="
EXAMPLES_OF_KINDS = (
    Example("Job", "job.yaml", "west", 4, "condition=Complete"),
    Example("Pod", "pod.yaml", "west", 1, f"{_PHASE}Succeeded", f"{_PHASE}Failed"),
    Example("Pod", "pod.yaml", "south", 1, f"{_PHASE}Succeeded", f"{_PHASE}Failed"),
    Example("PyTorchJob", "pytorchjob.yaml", "north", 4, "condition=Succeeded"),
    Example("PyTorchJob", "pytorchjob.yaml", "south", 4, "condition=Succeeded"),
    Example("TFJob", "tfjob.yaml", "west", 4, "condition=Succeeded"),
    Example("MPIJob", "MPIJob", "north", 3, "condition=Succeeded"),
    Example("JAXJob", "JAXJob", "north", 3, "condition=Succeeded"),
    Example("MXJob", "MXJob", "west", 3, "condition=Succeeded"),
    Example("PaddleJob", "PaddleJob", "north", 3, "condition=Succeeded"),
    Example("XGBoostJob", "XGBoostJob", "west", 3, "condition=Succeeded"),
    Example(
        *("VolcanoJob", "volcanojob.yaml", "south", 4),
        *("jsonpath={.status.state.phase}=Completed", "jsonpath={.status.state.phase}=Failed"),
    ),
    Example(
        *("SparkApplication", "sparkapplication.yaml", "north", 4),
        *("jsonpath={.status.applicationState.state}=COMPLETED", "jsonpath={.status.applicationState.state}=FAILED"),
    ),
    Example("Workflow", "workflow.yaml", "north", 4, f"{_PHASE}Succeeded", f"{_PHASE}Failed"),
    Example("JobSet", "jobset.yaml", "north", 5, "condition=Completed"),
    Example("TrainJob", "trainjob.yaml", "north", 3, "condition=Complete"),
    Example("LeaderWorkerSet", "leaderworkerset.yaml", "north", 4, "condition=Available", service=True),
    Example("AppWrapper", "appwrapper.yaml", "north", 3, f"{_PHASE}Succeeded", f"{_PHASE}Failed"),
    Example(
        *("RayJob", "rayjob.yaml", "north", 3),
        *("jsonpath={.status.jobStatus}=SUCCEEDED", "jsonpath={.status.jobStatus}=FAILED"),
    ),
    Example("RayCluster", "raycluster.yaml", "north", 3, "jsonpath={.status.state}=ready", service=True),
)


def example(file: str, tenant: str, cluster: str, run_for: str = "2s") -> tuple[Json, ...]:
    """What the job refers to, the job and its policy, which names `cluster` alone; pods run for `run_for`. `file` is
    one of deploy/examples, or a kind of kubeflow.org/v1, of which one is made here."""
    documents = _documents(file) if file.endswith(".yaml") else _kubeflow(file)
    *beside, job, policy = (_changed(one, tenant, run_for) for one in documents)
    policy["spec"]["placement"]["clusterAffinity"] = {"clusterNames": [cluster]}
    policy["spec"]["placement"].pop("clusterAffinities", None)
    if policy["kind"] == "ClusterPropagationPolicy":
        policy["metadata"]["name"] += f"-{tenant}"
    return *beside, job, policy


@cache
def _text(file: str) -> str:
    return (EXAMPLES / file).read_text()


def _documents(file: str) -> list[Json]:
    return [one for one in yaml.safe_load_all(_text(file)) if one]


# The field, the pods of each role, and what their container has to be called.
_ROLES = {
    "JAXJob": ("jaxReplicaSpecs", {"Worker": 3}, "jax"),
    "MPIJob": ("mpiReplicaSpecs", {"Launcher": 1, "Worker": 2}, "mpi"),
    "MXJob": ("mxReplicaSpecs", {"Scheduler": 1, "Server": 1, "Worker": 1}, "mxnet"),
    "PaddleJob": ("paddleReplicaSpecs", {"Master": 1, "Worker": 2}, "paddle"),
    "XGBoostJob": ("xgbReplicaSpecs", {"Master": 1, "Worker": 2}, "xgboost"),
}


def _kubeflow(kind: str) -> list[Json]:
    field, pods, container = _ROLES[kind]
    name = kind.lower()
    version = "kubeflow.org/v1"
    meta = {"name": name, "namespace": "replaced"}
    main = {"name": container, "image": "x", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}
    template = {"metadata": {"annotations": {_RUN_FOR: "2s"}}, "spec": {"containers": [main]}}
    roles = {role: {"replicas": count, "template": template} for role, count in pods.items()}
    more = {"jobMode": "MXTrain"} if kind == "MXJob" else {}
    selector = {"apiVersion": version, "kind": kind, "name": name}
    return [
        {"apiVersion": version, "kind": kind, "metadata": meta, "spec": {field: roles, **more}},
        {
            "apiVersion": "policy.karmada.io/v1alpha1",
            "kind": "PropagationPolicy",
            "metadata": dict(meta),
            "spec": {"resourceSelectors": [selector], "placement": {}},
        },
    ]


def _changed(manifest: Json, tenant: str, run_for: str) -> Json:
    """Another namespace and run time, and any type of GPU."""
    for one in every_mapping(manifest):
        if "namespace" in one:
            one["namespace"] = tenant
        if _RUN_FOR in one:
            one[_RUN_FOR] = run_for
        for selector in ("nodeSelector", "affinity"):
            one.pop(selector, None)
    return manifest
