"""Pods of a simulated member: what an object asks for, read by this simulation's own small idea of four kinds."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from fairway.domain.resources import parse_quantity
from fairway.lab.kubesim.api.metadata import rfc3339
from fairway.lab.simulation.members import spark
from fairway.lab.simulation.members.spark import SPARK

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
JOB = "Job.batch/v1"
PYTORCH = "PyTorchJob.kubeflow.org/v1"
WORKFLOW = "Workflow.argoproj.io/v1alpha1"
# Those that come through any door, and all.
KINDS = (JOB, PYTORCH)
EVERY = (*KINDS, WORKFLOW)
# With those that run on idle resources alone.
RUN = (*EVERY, SPARK)
NODE = "Node.v1"
POD = "Pod.v1"


class WantedPod(Struct, frozen=True):
    """Pods of one template: `gpus` each, and what they request beside them."""

    role: str
    count: int
    gpus: int
    labels: dict[str, str]
    requests: dict[str, str] = {}


def wanted(kind: str, manifest: Json) -> list[WantedPod]:
    spec = manifest["spec"]
    if kind == JOB:
        return [_of("pod", int(spec.get("parallelism", 1)), spec["template"])]
    if kind == SPARK:
        return [WantedPod(role, count, 0, *asks) for role, count, *asks in spark.roles(spec)]
    if kind == WORKFLOW:  # of one step
        (one,) = [one for one in spec["templates"] if "container" in one]
        return [_of("pod", 1, {"metadata": one.get("metadata"), "spec": {"containers": [one["container"]]}})]
    roles = spec["pytorchReplicaSpecs"]
    return [_of(role.lower(), int(one.get("replicas", 1)), one["template"]) for role, one in sorted(roles.items())]


def _of(role: str, count: int, template: Json) -> WantedPod:
    resources = template["spec"]["containers"][0].get("resources", {})
    labels = dict((template.get("metadata") or {}).get("labels") or {})
    gpus = int(resources.get("limits", {}).get(GPU, 0))
    return WantedPod(role, count, gpus, labels, dict(resources.get("requests", {})))


def running(kind: str, manifest: Json, up: bool = True) -> Json:
    """The status that the kind's operator shows while every pod runs, or while they do not any more."""
    if kind == JOB:
        count = wanted(kind, manifest)[0].count
        return {"active": count, "ready": count if up else 0}
    if kind == WORKFLOW:
        return {"phase": "Running", "nodes": {"one": {"type": "Pod", "phase": "Running" if up else "Pending"}}}
    roles = {one.role.capitalize(): {"active": one.count if up else 0} for one in wanted(kind, manifest)}
    return {"conditions": [_true("Created"), _true("Running")], "replicaStatuses": roles}


def ended(kind: str, well: bool, now: int) -> Json:
    if kind == SPARK:
        return spark.status("COMPLETED" if well else "FAILED")
    if kind == WORKFLOW:
        return {"phase": "Succeeded" if well else "Failed"}
    if kind == JOB:
        # As an API server wants it: an end is announced before it comes, and has its times.
        at = rfc3339(now)
        if well:
            return {
                "conditions": [_true("SuccessCriteriaMet"), _true("Complete")],
                "startTime": at,
                "completionTime": at,
            }
        return {"conditions": [_true(one, "exit code 1") for one in ("FailureTarget", "Failed")], "startTime": at}
    return {"conditions": [_true("Created"), _true("Succeeded") if well else _true("Failed", "exit code 1")]}


def _true(kind: str, message: str = "") -> Json:
    return {"type": kind, "status": "True", "reason": kind, "message": message}


def ready(heard_of: bool) -> Json:
    """What a node says of its kubelet."""
    return {"type": "Ready", "status": "True" if heard_of else "Unknown"}


def node(name: str, gpus: int) -> Json:
    allocatable = {GPU: str(gpus), "cpu": "64", "memory": "512Gi", "pods": "110"}
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": allocatable, "conditions": [ready(True)]},
    }


def pod(namespace: str, name: str, one: WantedPod, owner: Json | None = None) -> Json:
    """`owner` is the object that it belongs to; None: a stranger's."""
    gpus = {GPU: str(one.gpus)}
    container = {"name": "main", "resources": {"limits": gpus, "requests": {**one.requests, **gpus}}}
    meta: Json = {"name": name, "namespace": namespace, "labels": dict(one.labels)}
    if owner is not None:
        named = {field: owner["metadata"][field] for field in ("name", "uid")}
        kind = {field: owner[field] for field in ("apiVersion", "kind")}
        meta["ownerReferences"] = [{**named, **kind, "controller": True}]
    return {"metadata": meta, "spec": {"containers": [container]}, "status": {"phase": "Pending"}}


def asked(found: Json) -> dict[str, int]:
    """What a pod requests of its node."""
    requests = found["spec"]["containers"][0]["resources"]["requests"]
    return {name: amount(name, text) for name, text in requests.items()}


def allocatable(found: Json) -> dict[str, int]:
    """What a node has for pods."""
    return {name: amount(name, text) for name, text in found["status"]["allocatable"].items()}


def fits(asks: Mapping[str, int], left: Mapping[str, int]) -> bool:
    return all(left.get(name, 0) >= amount for name, amount in asks.items())


@lru_cache(maxsize=4_096)
def amount(name: str, text: str) -> int:
    return parse_quantity(name, text)


def edited(kind: str, spec: Json) -> Json:
    """What somebody makes of a spec where the API lets them: other pods of a Job at once, another image elsewhere."""
    if kind == JOB:
        return {**spec, "parallelism": int(spec.get("parallelism", 1)) + 1}
    if kind == WORKFLOW:
        return {**spec, "entrypoint": "other"}
    if kind == SPARK:
        return {**spec, "mainApplicationFile": "local:///other.jar"}
    roles = spec["pytorchReplicaSpecs"]
    container = roles[min(roles)]["template"]["spec"]["containers"][0]
    container["image"] = f"{container['image']}-other"
    return spec
