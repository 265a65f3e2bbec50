"""The manifests of deploy/examples as a test wants them: in its own namespace, placed where their kind is served."""

from functools import cache
from typing import Any

import yaml

from tests.mappings import every_mapping
from tests.paths import ROOT

Json = dict[str, Any]

EXAMPLES = ROOT / "deploy" / "examples"
_RUN_FOR = "fairway.test/run-for"


def example(file: str, tenant: str, cluster: str, run_for: str = "2s") -> tuple[Json, ...]:
    """What the job refers to, the job and its policy, which names `cluster` alone; pods run for `run_for`. `file` is
    one of deploy/examples, or a kind of kubeflow.org/v1 that has none there."""
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
