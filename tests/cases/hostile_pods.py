"""Pods that break the Pod Security Standards in one place each, in every kind of job that can describe them.

Every job is good at `restricted` before it is spoiled, so that what is refused is refused for the one thing. What a
real API server says of the same pods is asked in tests/kubernetes.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from msgspec import Struct

from tests.cases.good_jobs import (
    app_wrapper,
    batch_job,
    job_set,
    kubeflow,
    leader_worker_set,
    main,
    ray_cluster,
    ray_job,
    single_pod,
    spark,
    spark_by_template,
    train_job,
    volcano_job,
    workflow,
)
from tests.cases.pod_flaws import CONTAINER_FLAWS, POD_FLAWS, Flaw, Json


def merge(into: Json, more: Json) -> Json:
    for key, value in more.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = deepcopy(value)
    return into


class Site(Struct, frozen=True):
    """Where a kind describes a pod. `path` leads to it. `fields` are other names and places (paths from the object) of
    fields of a pod where it is no pod template, and what is not among them cannot be said there; `slots` are the fields
    that hold containers."""

    kind: str
    role: str
    job: Callable[[], Json]
    path: tuple[str | int, ...]
    fields: dict[str, tuple[str | int, ...]] | None = None
    slots: tuple[str, ...] = ("containers", "initContainers", "sidecar")

    def spoiled(self, flaw: Flaw, slot: str = "") -> Json | None:
        """The job with the flaw; None where its kind cannot say such a thing."""
        if slot == "initContainers" and not flaw.container.keys() <= {"securityContext", "ports"}:
            return None  # Kubernetes has no probes and hooks there
        job = self.job()
        for key, value in flaw.pod.items():
            way = (*self.path, "spec", key) if self.fields is None else self.fields.get(key)
            if way is None:
                return None
            holder = reach(job, way[:-1])
            holder[way[-1]] = merge({"x": holder.get(way[-1]) or {}}, {"x": value})["x"]
        if flaw.annotations:
            way = (*self.path, "metadata") if self.fields is None else self.fields["metadata"]
            name = f"spark-kubernetes-{self.role.split()[0]}" if self.kind == "SparkApplication" else "main"
            notes = {key.replace("/main", f"/{name}"): text for key, text in flaw.annotations.items()}
            reach(job, way)["annotations"] = notes
        if slot and flaw.container:
            found = self._container(job, slot)
            if self.kind == "SparkApplication" and slot == "main" and not flaw.container.keys() <= {"securityContext"}:
                return None
            merge(found, flaw.container)
        return job

    def _container(self, job: Json, slot: str) -> Json:
        if slot == "main":
            return reach(job, self.path)
        if slot == "containers":
            found: Json = reach(job, (*self.path, "spec"))["containers"][0]
            return found
        holder = reach(job, (*self.path, "spec") if self.fields is None else self.path)
        one = main(f"more-{slot.lower()}") | ({"restartPolicy": "Always"} if slot == "sidecar" else {})
        holder.setdefault("initContainers" if slot == "sidecar" else slot, []).append(one)
        return one


def reach(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value[key] if isinstance(key, int) else value.setdefault(key, {})
    return value


def _workflow(kind: str) -> Site:
    at: tuple[str | int, ...] = ("spec", "templates", 0)
    inside = (*at, kind, "containers", 0) if kind == "containerSet" else (*at, kind)
    fields = {
        "hostNetwork": ("spec", "hostNetwork"),
        "volumes": ("spec", "volumes"),
        "metadata": (*at, "metadata"),
        "securityContext": ("spec", "securityContext"),
    }
    return Site("Workflow", kind, lambda: workflow(kind), inside, fields, ("main",))


def _spark(role: str) -> Site:
    fields: dict[str, tuple[str | int, ...]] = {
        "hostNetwork": ("spec", role, "hostNetwork"),
        "volumes": ("spec", "volumes"),
        "metadata": ("spec", role),
        "securityContext": ("spec", role, "podSecurityContext"),
    }
    return Site("SparkApplication", role, spark, ("spec", role), fields, ("main", "initContainers", "sidecars"))


_RUNTIME = ("spec", "runtime", "template", "spec", "replicatedJobs", 0)
_RAY = ("spec", "rayClusterSpec")
_SUBMITTER = ("spec", "submitterPodTemplate")
SITES = (
    Site("Job", "pod", batch_job, ("spec", "template")),
    Site("Pod", "itself", single_pod, ()),
    Site(
        "PyTorchJob",
        "Master",
        kubeflow("PyTorchJob", "pytorch", "Master", "Worker"),
        ("spec", "pytorchReplicaSpecs", "Master", "template"),
    ),
    Site(
        "PyTorchJob",
        "Worker",
        kubeflow("PyTorchJob", "pytorch", "Master", "Worker"),
        ("spec", "pytorchReplicaSpecs", "Worker", "template"),
    ),
    Site("TFJob", "PS", kubeflow("TFJob", "tf", "PS", "Worker"), ("spec", "tfReplicaSpecs", "PS", "template")),
    Site(
        "XGBoostJob",
        "Master",
        kubeflow("XGBoostJob", "xgb", "Master"),
        ("spec", "xgbReplicaSpecs", "Master", "template"),
    ),
    Site(
        "PaddleJob",
        "Worker",
        kubeflow("PaddleJob", "paddle", "Worker"),
        ("spec", "paddleReplicaSpecs", "Worker", "template"),
    ),
    Site("JAXJob", "Worker", kubeflow("JAXJob", "jax", "Worker"), ("spec", "jaxReplicaSpecs", "Worker", "template")),
    Site("MXJob", "Server", kubeflow("MXJob", "mx", "Server"), ("spec", "mxReplicaSpecs", "Server", "template")),
    Site(
        "MPIJob",
        "Launcher",
        kubeflow("MPIJob", "mpi", "Launcher", "Worker"),
        ("spec", "mpiReplicaSpecs", "Launcher", "template"),
    ),
    Site(
        "MPIJob v2",
        "Launcher",
        kubeflow("MPIJob", "mpi", "Launcher", "Worker", version="v2beta1"),
        ("spec", "mpiReplicaSpecs", "Launcher", "template"),
    ),
    Site("Volcano Job", "task", volcano_job, ("spec", "tasks", 0, "template")),
    Site("JobSet", "one", job_set, ("spec", "replicatedJobs", 0, "template", "spec", "template")),
    Site("TrainJob", "one", train_job, (*_RUNTIME, "template", "spec", "template")),
    Site("LeaderWorkerSet", "leader", leader_worker_set, ("spec", "leaderWorkerTemplate", "leaderTemplate")),
    Site("LeaderWorkerSet", "worker", leader_worker_set, ("spec", "leaderWorkerTemplate", "workerTemplate")),
    Site("AppWrapper", "Job", app_wrapper, ("spec", "components", 0, "template", "spec", "template")),
    Site(
        "AppWrapper",
        "Master of a PyTorchJob",
        app_wrapper,
        ("spec", "components", 1, "template", "spec", "pytorchReplicaSpecs", "Master", "template"),
    ),
    Site("RayJob", "head", ray_job, (*_RAY, "headGroupSpec", "template")),
    Site("RayJob", "worker", ray_job, (*_RAY, "workerGroupSpecs", 0, "template")),
    Site("RayCluster", "head", ray_cluster, ("spec", "headGroupSpec", "template")),
    Site("RayCluster", "worker", ray_cluster, ("spec", "workerGroupSpecs", 0, "template")),
    Site("RayJob", "submitter", ray_job, _SUBMITTER),
    _spark("driver"),
    _spark("executor"),
    Site("SparkApplication", "driver by template", spark_by_template, ("spec", "driver", "template")),
    _workflow("container"),
    _workflow("script"),
    _workflow("containerSet"),
    Site("Workflow", "beside the container", workflow, ("spec", "templates", 0), {}, ("initContainers", "sidecars")),
)


def every() -> Iterator[tuple[str, str, Json]]:
    """(what it is, the laxest standard that forbids it, the job)."""
    for site in SITES:
        for flaw in POD_FLAWS if site.slots != ("initContainers", "sidecars") else ():
            if (made := site.spoiled(flaw)) is not None:
                yield f"{site.kind}, {site.role}: {flaw.name}", flaw.breaks, made
        for slot in site.slots:
            for flaw in CONTAINER_FLAWS:
                if (made := site.spoiled(flaw, slot)) is not None:
                    yield f"{site.kind}, {site.role}, {slot}: {flaw.name}", flaw.breaks, made
