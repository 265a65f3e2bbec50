"""TrainJob of trainer.kubeflow.org/v1alpha1, with its runtime in it.

A TrainJob names its runtime, a TrainingRuntime of its namespace or a ClusterTrainingRuntime. It is written out first
(written_out.py): as it stands it cannot be sized, and what a member has under that name nobody has looked at. In a
member it gets a TrainingRuntime of its own again, made of what was looked at.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from fairway.wire.workload import PodSet, Workload
from fairway.workloads.hub_status import TRAIN
from fairway.workloads.kinds.jobset import begun, job_counts
from fairway.workloads.kinds.kind import Kind, Path, first_text
from fairway.workloads.kinds.phase import FAILED, SUCCEEDED, Phase, by_conditions, by_count
from fairway.workloads.pod_security import tenant
from fairway.workloads.pod_security.pod import Pod, of_template
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field, shown
from fairway.workloads.references import Find, Json, WrittenOut
from fairway.workloads.trainjob import known_fields, pods
from fairway.workloads.trainjob.written_out import (
    CLUSTER_TRAINING_RUNTIME,
    GROUP,
    TRAINING_RUNTIME,
    written_out,
)

_JOB_SET = ("spec", "runtime", "template")
_INITIALIZERS = ("dataset", "model")


class TrainJob(Kind):
    name = "TrainJob"
    api_version = "trainer.kubeflow.org/v1alpha1"
    plural = "trainjobs"
    # Its runtime may have a PodGroup made for the pods.
    schedulers = ("volcano",)
    ends = TRAIN
    managed_by = ("spec", "managedBy")
    # The trainer makes the JobSet anew that went away, and one that is managed by others is not run.
    drop = ((*_JOB_SET, "spec", "ttlSecondsAfterFinished"), (*_JOB_SET, "spec", "managedBy"))
    makes_services = True
    remade = True
    refers_to = (TRAINING_RUNTIME, CLUSTER_TRAINING_RUNTIME)
    brings: Mapping[str, str] = MappingProxyType({TRAINING_RUNTIME: "trainingruntimes"})

    def pod_sets(self, manifest: Field) -> tuple[PodSet, ...]:
        spec = manifest["spec"]
        if not spec["runtime"].given:
            name = shown(spec["runtimeRef"]["name"].value)
            spec["runtimeRef"].wrong(
                f"names the runtime {name}, which is not here, so its pods are unknown",
                "apply both on the hub, or submit them in one file: then it is copied into the job",
            )
            return ()
        known_fields.check(spec)
        return tuple(pods.pod_sets(manifest))

    def phase(self, workload: Workload, manifest: Field) -> Phase:
        """The trainer copies the counts of its JobSet, and calls its Completed Complete. Nodes may wait for
        initializers as long as these take: Jobs that have not begun are not missed."""
        status = manifest["status"]
        if ended := by_conditions(status, Complete=SUCCEEDED, Failed=FAILED):
            return ended
        counts = job_counts(status["jobsStatus"]).values()
        up = sum(one["ready"] + one["succeeded"] for one in counts)
        return by_count(up, max(sum(begun(one) for one in counts), 1), "Jobs")

    def priority(self, manifest: Field) -> str:
        listed = pods.jobs(manifest).items()
        return first_text(*(job.at("template", "spec", "template", "spec", "priorityClassName") for job in listed))

    def label_paths(self, manifest: Mapping[str, Any]) -> Iterator[Path]:
        """None in a member, where the runtime is an object of its own."""
        if not manifest["spec"].get("runtime"):
            return
        yield (*_JOB_SET, "metadata")
        for index in range(len(manifest["spec"]["runtime"]["template"]["spec"]["replicatedJobs"])):
            job: Path = (*_JOB_SET, "spec", "replicatedJobs", index, "template")
            yield (*job, "metadata")
            yield (*job, "spec", "template", "metadata")

    def pod_templates(self, manifest: Field) -> Iterator[Pod]:
        for entry in pods.jobs(manifest).items():
            yield of_template(entry.at("template", "spec", "template"))

    def written_out(self, manifest: Json, find: Find) -> WrittenOut:
        return written_out(manifest, find)

    def besides(self, manifest: Field, ruling: Ruling) -> None:
        """What the trainer puts into containers of the runtime."""
        spec = manifest["spec"]
        parts = (spec["trainer"], *(spec["initializer"][name] for name in _INITIALIZERS))
        for part in parts:
            tenant.environment(PodView(part), ruling)
            tenant.secret(PodView(part["secretRef"]["name"]), ruling)

    def in_member(self, copy: Json, name: str) -> tuple[Json, dict[str, Json]]:
        spec = {key: value for key, value in copy["spec"].items() if key != "runtime"}
        ref = {"apiGroup": GROUP, "kind": TRAINING_RUNTIME.partition(".")[0], "name": name}
        job = {**copy, "spec": {**spec, "runtimeRef": ref}}
        return job, {TRAINING_RUNTIME: {"spec": copy["spec"]["runtime"]}}


TRAINJOB = TrainJob()
