"""TrainJobs, and the runtimes that they name, by the way in which the one finds the other."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from fairway.workloads.references import Find, Reference, Referenced, referenced
from fairway.workloads.trainjob.written_out import CLUSTER_TRAINING_RUNTIME, TRAINING_RUNTIME

Json = dict[str, Any]
TENANT = "team-a"
OWN = Reference(TRAINING_RUNTIME, TENANT, "own")
WIDE = Reference(CLUSTER_TRAINING_RUNTIME, "", "wide")
_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


def job(name: str, step: str = "", cpu: int = 1, container: str = "node", **spec: Any) -> Json:
    """One of a runtime's replicatedJobs: `step` is what of a TrainJob it does."""
    labels = {"metadata": {"labels": {_STEP: step}}} if step else {}
    pods = {"containers": [{"name": container, "image": "x", "resources": {"requests": {"cpu": str(cpu)}}}]}
    return {"name": name, "template": {**labels, "spec": {"template": {"spec": pods}, **spec}}}


def runtime(reference: Reference, *jobs: Json, **policy: Any) -> Json:
    kind, namespace, name = reference
    metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"}
    if namespace:
        metadata["namespace"] = namespace
    spec = {**({"mlPolicy": policy} if policy else {}), "template": {"spec": {"replicatedJobs": list(jobs)}}}
    plain = kind.partition(".")[0]
    return {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": plain, "metadata": metadata, "spec": spec}


def torch(reference: Reference = WIDE) -> Json:
    """Two nodes, after an initializer."""
    first = job("dataset-initializer", "dataset-initializer", container="dataset-initializer")
    return runtime(reference, first, job("node", "trainer", cpu=4), numNodes=2, torch={"numProcPerNode": "auto"})


def train_job(reference: Reference = WIDE, name: str = "fine-tune", **spec: Any) -> Json:
    ref: Json = {"name": reference.name}
    if reference.kind == TRAINING_RUNTIME:
        ref["kind"] = "TrainingRuntime"
    metadata = {"name": name, "namespace": TENANT}
    made = {"runtimeRef": ref, **spec}
    return {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": metadata, "spec": made}


def finds(*objects: Json) -> Find:
    there: Mapping[Reference, Referenced] = {
        found.reference: found
        for one in deepcopy(objects)
        for found in (referenced(f"{one['kind']}.{one['apiVersion']}", one),)
    }
    return there.get
