"""The training kinds of Kubeflow: one shape, `spec.<prefix>ReplicaSpecs.<Role>.{replicas, template}`.

PyTorchJob, TFJob, XGBoostJob, PaddleJob, MXJob, JAXJob (kubeflow.org/v1) and MPIJob (v1 and v2beta1). The
gang is schedulingPolicy.minAvailable, else every replica. A PyTorchJob whose workers are scaled by its metrics is
charged what they may grow to. "Running" is counted from replicaStatuses: the
operator's own Running condition is already true with a lone Master while the workers wait for room.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from fairway.wire.workload import PodSet, Workload
from fairway.workloads.hub_status import TRAINING
from fairway.workloads.kinds.kind import Kind, Path, first_text
from fairway.workloads.kinds.phase import (
    FAILED,
    PENDING,
    SUCCEEDED,
    Phase,
    by_conditions,
    by_count,
    condition,
    count,
    said,
)
from fairway.workloads.pod_security.pod import Pod, of_template
from fairway.workloads.pod_security.ruling import Ruling
from fairway.workloads.pod_security.tenant import priority as check_priority
from fairway.workloads.pod_security.view import PodView
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.pods import read_pod_set, read_replicas

_POLICY = ("spec", "runPolicy")
# Kinds whose workers may become fewer or more while they run.
_COME_AND_GO = ("PyTorchJob", "TFJob", "MPIJob")
# Init containers that training-operator adds to a role's pods and that may ask for more than the role itself: the one
# that brings kubectl to the launcher (initContainer... in its pkg/controller.v1/mpi/mpijob.go). With it the launcher
# enters the workers, as an account that the operator makes for this one job.
ADDED = {("MPIJob.kubeflow.org/v1", "Launcher"): ({"cpu": 100, "memory": 512 * 2**20, "ephemeral-storage": 5 * 2**30},)}


@lru_cache(maxsize=1)  # a manifest is asked for them by each of its readers, one after the other
def replicas(manifest: Field, specs: str, roles: tuple[str, ...]) -> dict[str, Field]:
    """The replica specs by role, in the order of `roles`; the operator takes any case of a role's name."""
    wanted = {role.lower(): role for role in roles}
    found: dict[str, Field] = {}
    for key, field in manifest["spec"][specs].pairs():
        role = wanted.get(key.lower())
        if role is None:
            field.wrong("is not a role of this kind", f"use {', '.join(roles)}")
        elif role in found:
            field.wrong(f"is a second {role}", "keep one of them")
        else:
            found[role] = field
    return {role: found[role] for role in roles if role in found}


class KubeflowJob(Kind):
    """One kind of the family; `roles` in the order in which priorities are looked up."""

    schedulers = ("volcano",)
    ends = TRAINING
    suspend_path = (*_POLICY, "suspend")
    managed_by = (*_POLICY, "managedBy")
    drop = ((*_POLICY, "ttlSecondsAfterFinished"),)
    makes_services = True

    def __init__(self, name: str, plural: str, specs: str, roles: tuple[str, ...], version: str = "v1") -> None:
        self.name = name
        self.api_version = f"kubeflow.org/{version}"
        self.plural = plural
        self.specs = specs
        self.roles = roles
        workers = [("spec", specs, "Worker", "replicas")] if name in _COME_AND_GO else []
        # mpi-operator makes a Job of the run policy once; training-operator 1.8 asks it at every look.
        limits = [(*_POLICY, "activeDeadlineSeconds"), (*_POLICY, "backoffLimit")] if version == "v1" else []
        self.in_place = (*limits, *workers)

    def pod_sets(self, manifest: Field) -> tuple[PodSet, ...]:
        found = replicas(manifest, self.specs, self.roles)
        if not found:
            manifest["spec"][self.specs].wrong("has no replicas", f"add one of {', '.join(self.roles)}")
        growth = self._growth(manifest)
        pods = []
        for role, field in found.items():
            number = read_replicas(field["replicas"]) + (growth if role == "Worker" else 0)
            pods.append(read_pod_set(role, number, field["template"], first=ADDED.get((self.key, role), ())))
        return tuple(pods)

    def gang(self, manifest: Field, pods: tuple[PodSet, ...]) -> int:
        start = super().gang(manifest, pods) - self._growth(manifest)
        return minimum(manifest.at(*_POLICY, "schedulingPolicy", "minAvailable"), start)

    def phase(self, workload: Workload, manifest: Field) -> Phase:
        """Conditions for the ends, pod counts for the start: see job-kinds, rows of kubeflow.org."""
        status = manifest["status"]
        if found := by_conditions(status, Succeeded=SUCCEEDED, Failed=FAILED):
            return found
        if entry := condition(status, "Restarting"):
            return Phase(PENDING, said(entry, "restarting"))
        counts = [entry for _, entry in status["replicaStatuses"].pairs()]
        found = by_count(sum(count(one["active"]) + count(one["succeeded"]) for one in counts), workload.gang_minimum)
        return found if condition(status, "Running") else Phase(PENDING, found.text)

    def priority(self, manifest: Field) -> str:
        if named := manifest.at(*_POLICY, "schedulingPolicy", "priorityClass").text():
            return named
        found = replicas(manifest, self.specs, self.roles).values()
        return first_text(*(field.at("template", "spec", "priorityClassName") for field in found))

    def label_paths(self, manifest: Mapping[str, Any]) -> Iterator[Path]:
        for role in manifest["spec"][self.specs]:
            yield ("spec", self.specs, role, "template", "metadata")

    def pod_templates(self, manifest: Field) -> Iterator[Pod]:
        for role, field in replicas(manifest, self.specs, self.roles).items():
            yield of_template(field["template"], needs_token=(self.key, role) in ADDED)

    def besides(self, manifest: Field, ruling: Ruling) -> None:
        check_priority(PodView(manifest.at(*_POLICY, "schedulingPolicy", "priorityClass")), ruling)

    def changes_in_place(self, manifest: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
        """Workers come and go where the job was made for that: others were told at their start how many they are."""
        spec = manifest["spec"]
        elastic = spec.get("elasticPolicy") or {}
        made_for_it = {
            "PyTorchJob": "maxReplicas" in elastic and not elastic.get("metrics"),
            "TFJob": bool(spec.get("enableDynamicWorker")),
            "MPIJob": True,  # the hosts are found anew (discover_hosts.sh)
        }
        open_ones = made_for_it.get(self.name, False)
        return tuple(path for path in self.in_place if open_ones or path[-1] != "replicas")

    def _growth(self, manifest: Field) -> int:
        """How many workers a PyTorchJob may have beyond its replicas: its operator makes an autoscaler for them where
        there are metrics to scale by (pkg/controller.v1/pytorch/hpa.go)."""
        elastic = manifest["spec"]["elasticPolicy"]
        if not elastic.given or not elastic["metrics"].value:
            return 0
        worker = replicas(manifest, self.specs, self.roles).get("Worker")
        return max(read_replicas(elastic["maxReplicas"], 0) - read_replicas(worker["replicas"]), 0) if worker else 0


def minimum(field: Field, total: int) -> int:
    """A gang minimum: 1 to all pods, absent or 0 meaning all."""
    least = field.whole(0) or total
    if least > total:
        field.wrong(
            f"asks for {least} pods to start, but the job has {total}",
            f"use at most {total}; it could never start",
        )
        return total
    return least


PYTORCH = KubeflowJob("PyTorchJob", "pytorchjobs", "pytorchReplicaSpecs", ("Master", "Worker"))
TENSORFLOW = KubeflowJob("TFJob", "tfjobs", "tfReplicaSpecs", ("Chief", "Master", "PS", "Worker", "Evaluator"))
XGBOOST = KubeflowJob("XGBoostJob", "xgboostjobs", "xgbReplicaSpecs", ("Master", "Worker"))
PADDLE = KubeflowJob("PaddleJob", "paddlejobs", "paddleReplicaSpecs", ("Master", "Worker"))
JAX = KubeflowJob("JAXJob", "jaxjobs", "jaxReplicaSpecs", ("Worker",))
MXNET = KubeflowJob(
    "MXJob",
    "mxjobs",
    "mxReplicaSpecs",
    ("Scheduler", "Server", "Worker", "TunerTracker", "TunerServer", "Tuner"),
)
MPI = KubeflowJob("MPIJob", "mpijobs", "mpiReplicaSpecs", ("Launcher", "Worker"), "v2beta1")
MPI_V1 = KubeflowJob("MPIJob", "mpijobs", "mpiReplicaSpecs", ("Launcher", "Worker"))

KUBEFLOW = (PYTORCH, TENSORFLOW, XGBOOST, PADDLE, JAX, MXNET, MPI, MPI_V1)
