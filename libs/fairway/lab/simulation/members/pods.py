"""Pods of a simulated member: what an object asks for, read by this simulation's own small idea of two kinds."""

from typing import Any

from msgspec import Struct

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
JOB, PYTORCH = "Job.batch/v1", "PyTorchJob.kubeflow.org/v1"
KINDS = (JOB, PYTORCH)
NODE, POD = "Node.v1", "Pod.v1"


class WantedPod(Struct, frozen=True):
    """Pods of one template: `gpus` each."""

    role: str
    count: int
    gpus: int
    labels: dict[str, str]


def wanted(kind: str, manifest: Json) -> list[WantedPod]:
    spec = manifest["spec"]
    if kind == JOB:
        return [_of("pod", int(spec.get("parallelism", 1)), spec["template"])]
    roles = spec["pytorchReplicaSpecs"]
    return [_of(role.lower(), int(one.get("replicas", 1)), one["template"]) for role, one in sorted(roles.items())]


def _of(role: str, count: int, template: Json) -> WantedPod:
    limits = template["spec"]["containers"][0].get("resources", {}).get("limits", {})
    return WantedPod(role, count, int(limits.get(GPU, 0)), dict((template.get("metadata") or {}).get("labels") or {}))


def running(kind: str, manifest: Json, up: bool = True) -> Json:
    """The status that the kind's operator shows while every pod runs, or while they do not any more."""
    if kind == JOB:
        count = wanted(kind, manifest)[0].count
        return {"active": count, "ready": count if up else 0}
    roles = {one.role.capitalize(): {"active": one.count if up else 0} for one in wanted(kind, manifest)}
    return {"conditions": [_true("Created"), _true("Running")], "replicaStatuses": roles}


def ended(kind: str, well: bool) -> Json:
    if kind == JOB:
        return {"conditions": [_true("Complete") if well else _true("Failed", "exit code 1")]}
    return {"conditions": [_true("Created"), _true("Succeeded") if well else _true("Failed", "exit code 1")]}


def _true(kind: str, message: str = "") -> Json:
    return {"type": kind, "status": "True", "reason": kind, "message": message}


def node(name: str, gpus: int, ready: bool = True) -> Json:
    allocatable = {GPU: str(gpus), "cpu": "64", "memory": "512Gi", "pods": "110"}
    condition = {"type": "Ready", "status": "True" if ready else "Unknown"}
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": allocatable, "conditions": [condition]},
    }


def pod(namespace: str, name: str, one: WantedPod, owner: str) -> Json:
    """`owner` is the uid of the object that it belongs to; empty: a stranger's."""
    container = {"name": "main", "resources": {"limits": {GPU: str(one.gpus)}, "requests": {GPU: str(one.gpus)}}}
    meta: Json = {"name": name, "namespace": namespace, "labels": dict(one.labels)}
    if owner:
        meta["ownerReferences"] = [{"uid": owner, "controller": True}]
    return {"metadata": meta, "spec": {"containers": [container]}, "status": {"phase": "Pending"}}
