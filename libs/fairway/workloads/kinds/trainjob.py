"""TrainJob of trainer.kubeflow.org/v1alpha1: it names a runtime, and the two together are a JobSet.

The runtime, a TrainingRuntime of its namespace or a ClusterTrainingRuntime, is another object: whoever calls gives it
in. What comes out is the JobSet that Kubeflow's trainer 2.0 makes (pkg/runtime: newRuntimeInfo, EnforceMLPolicy and the
JobSet builder), so that its pods, its gang and its priority are those of a JobSet. What the trainer adds beside that
changes neither: variables of torchrun, ports, and the Secret and hosts of MPI as volumes.

No kind of the registry yet: nothing of a TrainJob reaches the labels of its pods in trainer 2.0.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from fairway.wire.workload import Workload
from fairway.workloads.kinds.jobset import JOBSET
from fairway.workloads.kinds.phase import FAILED, SUCCEEDED, Phase, by_conditions
from fairway.workloads.reading.fields import Field, Problems
from fairway.workloads.reading.pods import MOST_POD_SETS, read_replicas

Json = dict[str, Any]

_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
_TRAINER = "trainer"
_INITIALIZERS = ("dataset-initializer", "model-initializer")
_NODE = "node"
# Of an override: what is taken as it is, and lists whose entries are known by a field.
_TAKEN = ("serviceAccountName", "tolerations")
_LISTS = {"volumes": "name", "schedulingGates": "name"}
_CONTAINERS = ("initContainers", "containers")
_IN_CONTAINER = {"env": "name", "volumeMounts": "mountPath"}


def job_set(train_job: Field, runtime: Field) -> Json:
    """The JobSet of a TrainJob and the runtime that it names. Problems are noted where they are."""
    jobs = []
    for entry in runtime.at("spec", "template", "spec")["replicatedJobs"].items(MOST_POD_SETS):
        job: Json = deepcopy(entry.mapping())
        pods = _pods_of(job)
        for override in _overrides(train_job, str(job.get("name"))):
            _override(pods, override)
        step = entry.at("template", "metadata")["labels"][_STEP].value
        if step in (_TRAINER, *_INITIALIZERS):
            job["replicas"] = 1
        if step == _TRAINER:
            _as_trainer(pods, train_job["spec"]["trainer"])
        count = _count(entry, step, train_job, runtime)
        job["template"]["spec"] |= {"parallelism": count, "completions": count}
        jobs.append(job)
    metadata = {name: train_job["metadata"][name].value for name in ("name", "namespace")}
    return {
        "apiVersion": JOBSET.api_version,
        "kind": JOBSET.name,
        "metadata": metadata,
        "spec": {"replicatedJobs": jobs},
    }


def phase(workload: Workload, manifest: Field) -> Phase:
    """As a JobSet's: the trainer copies its counts, and calls its Completed Complete."""
    status = manifest["status"]
    counts = {"status": {"replicatedJobsStatus": status["jobsStatus"].value}}
    ended = by_conditions(status, Complete=SUCCEEDED, Failed=FAILED)
    return ended or JOBSET.phase(workload, Field(counts, Problems()))


def _count(entry: Field, step: Any, train_job: Field, runtime: Field) -> int:
    """How many pods a Job of the runtime has: the nodes that are asked for, of the Job that they are asked of."""
    policy = runtime["spec"]["mlPolicy"]
    asked = train_job["spec"]["trainer"]["numNodes"]
    mpi = policy["mpi"]
    if asked.given and (entry["name"].value == _NODE if mpi.given else step == _TRAINER):
        nodes = read_replicas(asked)
        return max(nodes - 1, 1) if mpi["runLauncherAsNode"].flag() else nodes
    if step == _TRAINER and policy.given:
        return read_replicas(policy["numNodes"])
    return read_replicas(entry.at("template", "spec")["parallelism"])


def _as_trainer(pods: Json, trainer: Field) -> None:
    """The container of a node with what the TrainJob says of it."""
    for container in _listed(pods, "containers"):
        if container.get("name") != _NODE:
            continue
        container |= {name: trainer[name].value for name in ("image", "command", "args") if trainer[name].given}
        resources = trainer["resourcesPerNode"]
        if resources["limits"].given or resources["requests"].given:
            container["resources"] = deepcopy(resources.value)
        _merge(container, {"env": trainer["env"].value}, _IN_CONTAINER)


def _overrides(train_job: Field, name: str) -> Iterator[Mapping[str, Any]]:
    for override in train_job["spec"]["podSpecOverrides"].items():
        if any(target["name"].value == name for target in override["targetJobs"].items()):
            yield override.mapping()


def _override(pods: Json, override: Mapping[str, Any]) -> None:
    pods |= {name: deepcopy(override[name]) for name in _TAKEN if override.get(name) is not None}
    if isinstance(selector := override.get("nodeSelector"), dict):
        pods["nodeSelector"] = {**(pods.get("nodeSelector") or {}), **selector}
    _merge(pods, override, _LISTS)
    for name in _CONTAINERS:
        there = {one.get("name"): one for one in _listed(pods, name)}
        for more in _listed(override, name):
            if more.get("name") in there:
                _merge(there[more["name"]], more, _IN_CONTAINER)


def _merge(into: Json, more: Mapping[str, Any], lists: Mapping[str, str]) -> None:
    """Entries of the same name are replaced, and others added."""
    for name, key in lists.items():
        if added := _listed(more, name):
            named = {one.get(key) for one in added}
            into[name] = [one for one in _listed(into, name) if one.get(key) not in named] + deepcopy(added)


def _pods_of(job: Json) -> Json:
    """The spec of its pods; made on the way where it is absent."""
    here = job
    for name in ("template", "spec", "template", "spec"):
        if not isinstance(here.get(name), dict):
            here[name] = {}
        here = here[name]
    return here


def _listed(holder: Mapping[str, Any], name: str) -> list[Json]:
    found = holder.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
