"""The pods of a TrainJob: those of the JobSet that Kubeflow's trainer 2.1 makes of it and its runtime (pkg/runtime:
newRuntimeInfo, the plugins' EnforceMLPolicy and the JobSet builder).

Nodes are told apart by a label of their Job: the trainer's own, and those of the initializers. With MPI they are the
Job called `node`. What else the trainer adds changes neither sizes nor rules: variables, ports, keys and hosts of MPI.
"""

from collections.abc import Iterator
from typing import Any

from fairway.wire.workload import PodSet
from fairway.workloads.kinds.jobset import named_jobs
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.pods import MOST_PODS, read_pod_set, read_replicas, read_requests

_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
_TRAINER = "trainer"
_STEPS = (_TRAINER, "dataset-initializer", "model-initializer")
_NODE = "node"
# Of a pod's name, with what the Job controller adds to it: JobSet refuses longer ones of a TrainJob that was taken.
_LONGEST = 63


def jobs(manifest: Field) -> Field:
    return manifest.at("spec", "runtime", "template", "spec", "replicatedJobs")


def pod_sets(manifest: Field) -> Iterator[PodSet]:
    spec = manifest["spec"]
    resources = spec["trainer"]["resourcesPerNode"]
    before = len(manifest.problems.reasons)
    read_requests(resources)
    asked = resources if len(manifest.problems.reasons) == before else Field(None, manifest.problems)
    nodes = _Nodes(spec)
    for name, entry in named_jobs(jobs(manifest)):
        replicas = 1 if _step(entry) in _STEPS else read_replicas(entry["replicas"])
        count = nodes.count(name, entry)
        _check_names(manifest, f"{name}-{max(replicas - 1, 0)}-{max(count - 1, 0)}")
        if replicas * count > MOST_PODS:
            entry["replicas"].wrong(f"makes {replicas * count} pods", f"use at most {MOST_PODS} pods")
            replicas = count = 1
        template = entry.at("template", "spec", "template")
        yield read_pod_set(name, replicas * count, _sized(template, asked) if nodes.sized(name, entry) else template)


class _Nodes:
    """How many pods a Job has, and whether they are as large as the TrainJob says."""

    def __init__(self, spec: Field) -> None:
        self._asked = spec["trainer"]["numNodes"]
        self._policy = spec["runtime"]["mlPolicy"]
        self._launcher = self._policy["mpi"]["runLauncherAsNode"].flag()
        self._given = False

    def count(self, name: str, entry: Field) -> int:
        trains = _step(entry) == _TRAINER
        own = self._policy["numNodes"] if trains and self._policy.given else entry.at("template", "spec")["parallelism"]
        count = max(read_replicas(own), 1)
        # Asked of the first such Job alone.
        if self._asked.given and not self._given and (name == _NODE if self._policy["mpi"].given else trains):
            self._given = True
            count = read_replicas(self._asked)
            return max(count - 1, 1) if self._launcher else count
        return count

    def sized(self, name: str, entry: Field) -> bool:
        return _step(entry) == _TRAINER or (self._launcher and name == _NODE)


def _step(entry: Field) -> Any:
    return entry.at("template", "metadata")["labels"][_STEP].value


def _sized(template: Field, resources: Field) -> Field:
    """The same template, with the resources of a node where any are asked for."""
    spec = template["spec"]
    if not (resources["limits"].value or resources["requests"].value):
        return template
    containers = [
        {**one.value, "resources": resources.value} if one["name"].value == _NODE else one.value
        for one in spec["containers"].items()
    ]
    made = {**template.mapping(), "spec": {**spec.mapping(), "containers": containers}}
    return Field(made, template.problems, template.up, template.key)


def _check_names(manifest: Field, end: str) -> None:
    name = manifest["metadata"]["name"]
    longest = f"{name.value}-{end}-abcde"
    if isinstance(name.value, str) and len(longest) > _LONGEST:
        text = f"makes pods with names of {len(longest)} characters, more than {_LONGEST}: {longest}"
        name.wrong(text, "shorten it, or the name of the runtime's job")
