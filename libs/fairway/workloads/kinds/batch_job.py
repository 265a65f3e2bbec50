"""Job of batch/v1: min(parallelism, completions) pods of one template.

`status.active` counts pods that still wait for a node, so "running" is ready + succeeded.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fairway.wire.workload import PodSet, Workload
from fairway.workloads.kinds.kind import Kind, Path, first_text
from fairway.workloads.kinds.phase import FAILED, SUCCEEDED, Phase, by_conditions, by_count, count
from fairway.workloads.kinds.status_transitions import ENDS
from fairway.workloads.pod_security.pod import Pod, of_template
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.pods import read_pod_set, read_replicas

# What the hub's API server writes into a Job; another API server refuses it as its own field.
_GENERATED = (
    "controller-uid",
    "job-name",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
)


def pods_at_once(spec: Field) -> int:
    """How many pods of a Job spec run together; without completions (a work queue) that is parallelism."""
    parallel = read_replicas(spec["parallelism"])
    return min(parallel, read_replicas(spec["completions"], parallel))


class BatchJob(Kind):
    name = "Job"
    api_version = "batch/v1"
    plural = "jobs"
    ends = ENDS
    managed_by = ("spec", "managedBy")
    drop = (("spec", "ttlSecondsAfterFinished"),)
    # ValidateJobSpecUpdate of Kubernetes 1.34.
    in_place = (
        ("spec", "parallelism"),
        ("spec", "completions"),
        ("spec", "activeDeadlineSeconds"),
        ("spec", "backoffLimit"),
        ("spec", "maxFailedIndexes"),
    )

    def pod_sets(self, manifest: Field) -> tuple[PodSet, ...]:
        spec = manifest["spec"]
        return (read_pod_set("pod", pods_at_once(spec), spec["template"]),)

    def phase(self, workload: Workload, manifest: Field) -> Phase:
        status = manifest["status"]
        up = count(status["ready"]) + count(status["succeeded"])
        return by_conditions(status, Complete=SUCCEEDED, Failed=FAILED) or by_count(up, workload.gang_minimum)

    def priority(self, manifest: Field) -> str:
        return first_text(manifest.at("spec", "template", "spec", "priorityClassName"))

    def label_paths(self, manifest: Mapping[str, Any]) -> Iterator[Path]:
        yield ("spec", "template", "metadata")

    def pod_templates(self, manifest: Field) -> Iterator[Pod]:
        yield of_template(manifest.at("spec", "template"))

    def changes_in_place(self, manifest: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
        """Completions only of an Indexed Job, where they are as many as its parallelism."""
        indexed = manifest["spec"].get("completionMode") == "Indexed"
        return tuple(path for path in self.in_place if indexed or path != ("spec", "completions"))

    def prepare(self, copy: dict[str, Any]) -> None:
        """Without manualSelector the selector and its labels belong to the API server that stored the Job."""
        spec = copy["spec"]
        if spec.get("manualSelector"):
            return
        spec.pop("selector", None)
        labels = (spec["template"].get("metadata") or {}).get("labels") or {}
        for name in _GENERATED:
            labels.pop(name, None)


JOB = BatchJob()
