"""A ResourceBinding for each job of the hub, as users of Karmada look for it: where the job is, and why. Pure.

Everything stands in one object, spec and status together, so that one write says it all.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct

from fairway.domain import recorded_verdicts
from fairway.domain.job import Job, State
from fairway.explain import wording
from fairway.explain.claims import awaits
from fairway.explain.events import reason as worded
from fairway.explain.events import verdicts
from fairway.hub.telling.events import cut
from fairway.hub.telling.made_room import made_room
from fairway.wire.reasons import Reason
from fairway.wire.workload import PodSet, Workload
from fairway.workloads.hub.objects import HubObject

Json = dict[str, Any]
KIND = "ResourceBinding.work.karmada.io/v1alpha2"
JOB_LABEL = "fairway.io/job"
DIGEST = "fairway.io/digest"
_encode = msgspec.json.Encoder(order="deterministic").encode
_HEALTH = {State.RUNNING: "Healthy", State.SUCCEEDED: "Healthy", State.FAILED: "Unhealthy"}
_HELD = (State.PLACED, State.RESERVED)
_APPLIED = (State.DISPATCHED, State.RUNNING, State.SUCCEEDED, State.FAILED)


class Condition(Struct, frozen=True):
    type: str
    true: bool
    reason: str
    message: str


# When each condition last changed its status: type -> (status, time).
Stamps = Mapping[str, tuple[bool, str]]


class Binding(Struct, frozen=True):
    """`body` is the object without the times of its conditions; `digest` says whether it says anything new."""

    namespace: str
    name: str
    owner: str
    body: Json
    conditions: tuple[Condition, ...]
    digest: str


def name_of(one: HubObject) -> str:
    """As Karmada names it."""
    return f"{one.name}-{one.plain.lower()}"


def binding_of(one: HubObject, job: Job, shown: bytes = b"", change: Condition | None = None) -> Binding:
    """`shown` is the status of the hub's object, which is the member's, as JSON. `change` is what became of what its
    owner changed last."""
    work = job.spec.workload if job.spec else None
    spec: Json = {
        "suspension": {"scheduling": job.state in (State.ADMITTED, State.QUEUED, State.RETURNING)},
        "clusters": [{"name": job.cluster, "replicas": _pods(job)}] if _placed(job) else [],
        **(_asks(work) if work else {}),
    }
    changes = (change,) if change is not None else ()
    return _binding(one, job.id, spec, (*conditions(job), *changes), _members(job, shown))


def up_to_date(refusal: Reason | None) -> Condition:
    """Whether the job is what its object says."""
    if refusal is None:
        return Condition("UpToDate", True, "UpToDate", "the job is as its object says")
    return Condition("UpToDate", False, refusal.code.value, cut(worded(refusal)))


def change_of(manifest: Json) -> Condition | None:
    """What a binding that is there says of its owner's last change."""
    for one in (manifest.get("status") or {}).get("conditions") or ():
        if one["type"] == "UpToDate":
            return Condition("UpToDate", one["status"] == "True", one.get("reason", ""), one.get("message", ""))
    return None


def unclaimed(one: HubObject, job: str, why: Reason) -> Binding:
    """Of an object that no policy selects yet, or that names a setting which is not there."""
    text = worded(why)
    said = tuple(
        Condition(name, name == "Queuing", why.code.value, text) for name in ("Queuing", "Scheduled", "FullyApplied")
    )
    return _binding(one, job, {"suspension": {"scheduling": True}, "clusters": []}, said, [])


def _binding(one: HubObject, job: str, spec: Json, said: tuple[Condition, ...], members: list[Json]) -> Binding:
    what = {"apiVersion": one.api_version, "kind": one.plain, "name": one.name, "uid": one.uid}
    body: Json = {
        "metadata": {
            "name": name_of(one),
            "namespace": one.namespace,
            "labels": {JOB_LABEL: job},
            "ownerReferences": [what],
        },
        "spec": {"resource": {**what, "namespace": one.namespace}, "schedulerName": "fairway", **spec},
        "status": {"aggregatedStatus": members},
    }
    digest = blake2b(_encode((body, said)), digest_size=10).hexdigest()
    body["metadata"]["annotations"] = {DIGEST: digest}
    return Binding(one.namespace, name_of(one), one.uid, body, said, digest)


def manifest_of(binding: Binding, stamps: Stamps, now: int) -> tuple[Json, Stamps]:
    """The whole object, and the times that it has: a condition keeps its time while its status stays."""
    at = wording.rfc3339(now)
    kept = {
        one.type: before if (before := stamps.get(one.type)) and before[0] == one.true else (one.true, at)
        for one in binding.conditions
    }
    listed = [
        {
            "type": one.type,
            "status": "True" if one.true else "False",
            "reason": one.reason,
            "message": one.message,
            "lastTransitionTime": kept[one.type][1],
        }
        for one in binding.conditions
    ]
    status = {**binding.body["status"], "conditions": listed}
    return {**binding.body, "status": status}, kept


def stamps_of(manifest: Json) -> Stamps:
    """Those of a binding that is there."""
    listed = (manifest.get("status") or {}).get("conditions") or ()
    return {one["type"]: (one["status"] == "True", one.get("lastTransitionTime", "")) for one in listed}


def replacing(manifest: Json) -> list[Json]:
    """The steps that make a binding what `manifest` says. Its list of managed fields is emptied: an API server then
    keeps none, which halves what the write costs it; nobody else writes these objects."""
    meta = manifest["metadata"]
    parts = {
        "/metadata/labels": meta["labels"],
        "/metadata/annotations": meta["annotations"],
        "/metadata/ownerReferences": meta["ownerReferences"],
        "/metadata/managedFields": [{}],
        "/spec": manifest["spec"],
        "/status": manifest["status"],
    }
    return [{"op": "add", "path": path, "value": value} for path, value in parts.items()]


def conditions(job: Job) -> tuple[Condition, ...]:
    """Queuing, Scheduled and FullyApplied of a job. What is not true says why, in the job's own reason. And Evicted of
    one that has made room for others."""
    waits = job.state in (State.ADMITTED, State.QUEUED, State.RETURNING)
    code, text = _lacking(job)
    left = f"left queue {job.queue}" if job.queue else "waits in no queue"
    where = f"{job.cluster}: {wording.many(_pods(job), 'pod')} on {wording.many(wording.node_count(job.slots), 'node')}"
    placed = _placed(job)
    applied = job.state in _APPLIED and bool(job.cluster)
    evicted = made_room(job)
    return (
        Condition("Queuing", waits, *((code, text) if waits or not placed else ("Dequeued", left))),
        Condition("Scheduled", placed, *(("Success", where) if placed else (code, text))),
        Condition("FullyApplied", applied, *(_applying(job) if placed else (code, text))),
        *([Condition("Evicted", evicted.true, evicted.reason, cut(evicted.text))] if evicted is not None else []),
    )


def _lacking(job: Job) -> tuple[str, str]:
    """The reason of a job that has no cluster, with what each cluster lacks."""
    if job.state is State.DEQUEUED:
        return "Dequeued", "it got its turn; a cluster is being chosen"
    claim = job.open_claim
    if claim is not None and claim.cluster:
        awaited = awaits(claim)
        return awaited.code.value, awaited.text
    if job.why is None:
        where = f"waits its turn in queue {job.queue}" if job.queue else "was admitted; its quota is being checked"
        return "Queued", where
    return job.why.code.value, cut(" ".join((worded(job.why), *verdicts(job, recorded_verdicts.verdicts(job)))))


def _applying(job: Job) -> tuple[str, str]:
    if job.state in _HELD:
        return "Reserved", f"room is held in {job.cluster}; the object is about to be applied there"
    tries = f", attempt {job.attempt} of {job.spec.attempts}" if job.spec and job.attempt > 1 else ""
    ended = f": {worded(job.why)}" if job.state is State.FAILED and job.why else ""
    return "FullyAppliedSuccess", cut(f"applied in {job.cluster}{tries}{ended}")


def _placed(job: Job) -> bool:
    return bool(job.cluster) and job.state in (*_HELD, *_APPLIED)


def _pods(job: Job) -> int:
    return sum(slot.count for slot in job.slots)


def _members(job: Job, shown: bytes) -> list[Json]:
    """What each cluster has of the job: the present attempt, and one before that is being removed."""
    found: list[Json] = []
    if job.state in _APPLIED and job.cluster:
        status = msgspec.json.decode(shown) if shown else None
        health = _HEALTH.get(job.state, "Unknown")
        found.append({"clusterName": job.cluster, "applied": True, "health": health, "status": status})
    if job.removing and job.removing not in [one["clusterName"] for one in found]:
        text = cut(f"attempt {job.recalled} is being removed" + (f": {worded(job.why)}" if job.why else ""))
        found.append({"clusterName": job.removing, "applied": True, "health": "Unhealthy", "appliedMessage": text})
    return [{name: value for name, value in one.items() if value is not None} for one in found]


def _asks(work: Workload) -> Json:
    """One pod set is told as Karmada tells a workload of one template, several as its components."""
    if len(work.pod_sets) == 1:
        return {"replicas": work.pods, "replicaRequirements": _requirements(work, work.pod_sets[0])}
    parts = [
        {"name": one.name, "replicas": one.count, "replicaRequirements": _requirements(work, one)}
        for one in work.pod_sets
    ]
    return {"replicas": work.pods, "components": parts}


def _requirements(work: Workload, pods: PodSet) -> Json:
    requests = {name: f"{amount}m" if name == "cpu" else str(amount) for name, amount in sorted(pods.requests.items())}
    found: Json = {"resourceRequest": requests}
    if work.priority_class:
        found["priorityClassName"] = work.priority_class
    if pods.node_selector:
        found["nodeClaim"] = {"nodeSelector": pods.node_selector}
    return found
