"""What people apply on the hub: jobs with or without a policy of their own, and what they make of them later. Pure."""

from random import Random
from typing import Any

from msgspec import Struct

from fairway.domain.quota.tree import ALLOW_NAMESPACES
from fairway.lab.simulation.members.pods import GPU, JOB, PYTORCH
from fairway.lab.simulation.people.administrators import OWN_POLICY

Json = dict[str, Any]
QUEUE_NAME = "kube-queue/queue-name"
QUEUE = "Queue.scheduling.x-k8s.io/v1alpha1"
POLICY = "PropagationPolicy.policy.karmada.io/v1alpha1"
CLASS = "PriorityClass.scheduling.k8s.io/v1"
_SIZES = ((1, 1), (1, 1), (1, 4), (2, 2), (2, 4), (4, 1), (1, 8), (2, 8))
# GPUs of the largest job of any door.
_LARGEST = 24


class NamedByJob(Struct, frozen=True):
    """What a job names. `policy` is the one that may select it; empty: that of all others does."""

    policy: str = ""
    queue: str = ""
    priority_class: str = ""


_NOTHING = NamedByJob()


def job(rng: Random, name: str, tenant: str, names: NamedByJob = _NOTHING) -> Json:
    count, gpus = rng.choice(_SIZES)
    meta: Json = {"name": name, "namespace": tenant}
    if names.policy:
        meta["labels"] = {OWN_POLICY: names.policy}
    if names.queue:
        meta["annotations"] = {QUEUE_NAME: names.queue}
    container = {"name": "pytorch", "image": "x", "resources": {"limits": {GPU: gpus}}}
    pod: Json = {"containers": [container], "restartPolicy": "Never"}
    if names.priority_class:
        pod["priorityClassName"] = names.priority_class
    if rng.random() < 0.5:
        spec = {"parallelism": count, "completions": count, "template": {"spec": pod}}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}
    roles: Json = {"Master": {"replicas": 1, "template": {"spec": pod}}}
    if count > 1:
        roles["Worker"] = {"replicas": count - 1, "template": {"spec": pod}}
    spec = {"pytorchReplicaSpecs": roles}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": meta, "spec": spec}


def key_of(manifest: Json) -> str:
    return f"{manifest['kind']}.{manifest['apiVersion']}"


def own_policy(name: str, tenant: str, attempts: int = 20) -> Json:
    select = [
        {"apiVersion": kind.partition(".")[2], "kind": kind.partition(".")[0], "labelSelector": _labelled(name)}
        for kind in (JOB, PYTORCH)
    ]
    annotations = {"fairway.io/start-timeout": "90s", "fairway.io/max-attempts": str(attempts)}
    return {
        "metadata": {"name": name, "namespace": tenant, "annotations": annotations},
        "spec": {"resourceSelectors": select, "placement": {}},
    }


def _labelled(name: str) -> Json:
    return {"matchLabels": {OWN_POLICY: name}}


def queue(name: str, policy: str) -> Json:
    annotations = {ALLOW_NAMESPACES: "team-a, team-b, team-c"}
    return {
        "metadata": {"name": name, "namespace": "kube-queue", "annotations": annotations},
        "spec": {"queuePolicy": policy},
    }


def priority_class(name: str, value: int) -> Json:
    return {"metadata": {"name": name}, "value": value}


# What people do to a job that is there.
def resized(manifest: Json, by: int) -> Json:
    """Never larger than any member: it would wait for ever, and rightly so."""
    spec = manifest["spec"]
    if "parallelism" in spec:
        pods = min(max(1, int(spec["parallelism"]) + by), _most(spec["template"]))
        return {**manifest, "spec": {**spec, "parallelism": pods}}
    roles = dict(spec.get("pytorchReplicaSpecs") or {})
    if worker := roles.get("Worker"):
        workers = min(max(1, int(worker["replicas"]) + by), _most(worker["template"]) - 1)
        roles["Worker"] = {**worker, "replicas": workers}
    return {**manifest, "spec": {**spec, "pytorchReplicaSpecs": roles}}


def _most(template: Json) -> int:
    """How many of these pods every member would hold."""
    return _LARGEST // int(template["spec"]["containers"][0]["resources"]["limits"][GPU])


def annotated(manifest: Json, name: str, value: str) -> Json:
    """An empty `value` takes it away."""
    meta = manifest["metadata"]
    notes = {key: one for key, one in (meta.get("annotations") or {}).items() if key != name}
    return {**manifest, "metadata": {**meta, "annotations": {**notes, name: value} if value else notes}}


def reimaged(manifest: Json, image: str) -> Json:
    """Of a batch Job the API server refuses it."""
    spec = manifest["spec"]
    if "template" in spec:
        return {**manifest, "spec": {**spec, "template": _with_image(spec["template"], image)}}
    roles = spec.get("pytorchReplicaSpecs") or {}
    changed = {name: {**one, "template": _with_image(one["template"], image)} for name, one in roles.items()}
    return {**manifest, "spec": {**spec, "pytorchReplicaSpecs": changed}}


def _with_image(template: Json, image: str) -> Json:
    (container, *others) = template["spec"]["containers"]
    return {**template, "spec": {**template["spec"], "containers": [{**container, "image": image}, *others]}}


def held(manifest: Json, suspend: bool) -> Json:
    spec = manifest["spec"]
    if key_of(manifest) == JOB:
        return {**manifest, "spec": {**spec, "suspend": suspend}}
    return {**manifest, "spec": {**spec, "runPolicy": {**(spec.get("runPolicy") or {}), "suspend": suspend}}}


def without_finalizers(manifest: Json) -> Json:
    return {**manifest, "metadata": {**manifest["metadata"], "finalizers": []}}


def is_held(spec: Any) -> bool:
    """By its owner."""
    inside = spec if isinstance(spec, dict) else {}
    policy = inside.get("runPolicy")
    return inside.get("suspend") is True or (isinstance(policy, dict) and policy.get("suspend") is True)
