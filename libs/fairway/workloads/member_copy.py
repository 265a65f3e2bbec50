"""The object that is applied in a member cluster: the user's own, with our labels, without the hub's
traces."""

from typing import Any

import msgspec
from msgspec import Struct

from fairway.wire.capacity import RESERVATIONS
from fairway.workloads.kinds.kind import Kind, Path, WrappedObject, reach
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.pod_security.check import withhold
from fairway.workloads.reading.batch_marks import BEST_EFFORT, CLASS_LABEL, KOORD_BATCH, QOS_LABEL
from fairway.workloads.reading.fields import Field, Problems

JOB_LABEL = "fairway.io/job"
ATTEMPT_LABEL = "fairway.io/attempt"
PLACEHOLDER_LABEL = "fairway.io/placeholder"
# As API servers know who has set a field (adapters/kubernetes/create.py).
FIELD_MANAGER = "fairway"
MANAGED_LABEL = "fairway.io/managed"
POD_SET_LABEL = "fairway.io/pod-set"
# When an attempt that is evicted with notice is deleted: an annotation of its object and of its pods.
EVICT_AT = "fairway.io/evict-at"
# On pods for which room is held in the member, and on what holds it: how (wire.capacity).
HOLD_LABEL = "fairway.io/hold"
# Keeps a pod from being scheduled before the room of a placeholder is its own.
GATE = "fairway.io/room"
KOORD_SCHEDULER = "koord-scheduler"
# On pods that run on batch resources: by the first a member's ClusterColocationProfile finds them, by the others
# Koordinator knows them.
BATCH_LABEL = "fairway.io/batch-resources"
BATCH_CLASS_LABELS = {QOS_LABEL: BEST_EFFORT, CLASS_LABEL: KOORD_BATCH}
BATCH_LABELS = {BATCH_LABEL: "true", **BATCH_CLASS_LABELS}

# What an API server or a controller of the hub wrote; in a member it is wrong or harmful.
_HUB_ONLY = (
    *(
        "managedFields",
        "resourceVersion",
        "uid",
        "creationTimestamp",
        "generation",
        "selfLink",
        "generateName",
    ),
    *("ownerReferences", "finalizers", "deletionTimestamp", "deletionGracePeriodSeconds"),
)
# kube-queue's own way to hold a job: in a member nobody would release it.
_HUB_ANNOTATIONS = ("kubectl.kubernetes.io/last-applied-configuration", "scheduling.x-k8s.io/suspend")


class Terms(Struct, frozen=True):
    """`hold` is how room is held for the pods in the member; they are made to take that room. `tokens`: they may have
    the token of their service account. `batch` are the pod sets that run on Koordinator's batch resources."""

    hold: str = ""
    tokens: bool = False
    batch: tuple[str, ...] = ()


PLAIN = Terms()


def attempt_labels(job: str, attempt: int) -> dict[str, str]:
    """By these an attempt's object and its pods are found; whose they are they do not prove."""
    return {JOB_LABEL: job, ATTEMPT_LABEL: str(attempt)}


def object_labels(kind: Kind, job: str, attempt: int) -> dict[str, str]:
    """By these who follows a kind of jobs in a member finds an attempt's object there."""
    return attempt_labels(job, attempt) | ({kind.label: "true"} if kind.label else {})


def selector_of(kind: Kind) -> str:
    """Of the kind's objects in a member that may be a job's."""
    return f"{JOB_LABEL},{kind.label}" if kind.label else JOB_LABEL


def job_labels(job: str, attempt: int) -> dict[str, str]:
    """The labels that tie an object and its pods to one attempt of one job."""
    return {**attempt_labels(job, attempt), MANAGED_LABEL: "true"}


def member_copy(
    manifest: dict[str, Any], job: str, attempt: int, kinds: dict[str, Kind] | None = None, terms: Terms = PLAIN
) -> dict[str, Any]:
    """The object to apply for attempt `attempt` of job `job`; the same input gives the same output.

    `manifest` must have passed `registry.read`, and is not changed. The copy keeps name and namespace,
    starts at once, is managed by the member's own operator, and stays after it finished until Fairway
    removes it.
    """
    kind = (kinds or KINDS)[f"{manifest['kind']}.{manifest['apiVersion']}"]
    copy: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(manifest))
    copy["metadata"].setdefault("namespace", "default")
    for one, at, _ in (WrappedObject(kind, (), ""), *kind.wrapped_objects(copy)):
        _make_ready(one, reach(copy, at))
    kind.set_labels(copy, job_labels(job, attempt))
    _name_pod_sets(kind, copy, terms.batch)
    if terms.hold:
        _take_held_room(kind, copy, terms.hold)
    if not terms.tokens:
        withhold(kind, copy)
    return copy


def _make_ready(kind: Kind, copy: dict[str, Any]) -> None:
    """Without what the hub wrote into it, and to be run and seen finished in the member."""
    copy.pop("status", None)
    metadata = copy["metadata"]
    for name in _HUB_ONLY:
        metadata.pop(name, None)
    _without(metadata, "annotations", _HUB_ANNOTATIONS)
    for path in (kind.managed_by, *kind.drop):
        if holder := _holder(copy, path):
            holder.pop(path[-1], None)
    _resume(copy, kind.suspend_path)
    kind.prepare(copy)


def _take_held_room(kind: Kind, copy: dict[str, Any], hold: str) -> None:
    for path in kind.label_paths(copy):
        place = reach(copy, path)
        place.setdefault("labels", {})[HOLD_LABEL] = hold
        pod = reach(copy, (*path[:-1], "spec")) if path[-1] == "metadata" else place
        if pod is not place and not pod.get("containers"):
            continue  # of a Job that a JobSet makes, not of its pods
        if hold == RESERVATIONS:
            pod["schedulerName"] = KOORD_SCHEDULER
        else:
            pod["schedulingGates"] = [*(pod.get("schedulingGates") or ()), {"name": GATE}]


def _name_pod_sets(kind: Kind, copy: dict[str, Any], batch: tuple[str, ...]) -> None:
    """Every pod says which pod set it is of, so that an agent can tell what of a reservation it takes up; and whether
    that one is `batch`."""
    for one, at, prefix in tuple(kind.wrapped_objects(copy)) or (WrappedObject(kind, (), ""),):
        part = reach(copy, at)
        names = [pods.name for pods in one.pod_sets(Field(part, Problems()))]
        all_batch = bool(names) and all(f"{prefix}{name}" in batch for name in names)
        for path in one.label_paths(part):
            name = names[0] if len(names) == 1 else _pod_set_at(part, path, names)
            labels = {POD_SET_LABEL: f"{prefix}{name}"} if name else {}
            if all_batch or f"{prefix}{name}" in batch:
                labels |= BATCH_LABELS
                one.give_way(reach(part, path))
            if labels:
                reach(part, path).setdefault("labels", {}).update(labels)


def _pod_set_at(copy: dict[str, Any], path: Path, names: list[str]) -> str:
    """The pod set that a place in the manifest belongs to: a role, the name of a list's element, or a field such as
    `headGroupSpec`; empty when it is of no single one."""
    # A role may have the name of a field on the way to it.
    for by in (int, str):
        here: Any = copy
        for key in path:
            here = here[key]
            if isinstance(key, by) and (found := _called(here, key, names)):
                return found
    return ""


def _called(here: Any, key: str | int, names: list[str]) -> str:
    called = [key] if isinstance(key, str) else [here.get("name"), here.get("groupName")]
    # A Kubeflow operator takes a role's name in any case.
    found = [
        name
        for name in names
        if name in called or name.lower() == str(called[0]).lower() or str(called[0]).startswith(f"{name}Group")
    ]
    found += [name for name in names if called[0] in (f"{name}PodTemplate", f"{name}Template")]
    return found[0] if found else ""


def _without(holder: dict[str, Any], name: str, keys: tuple[str, ...]) -> None:
    kept = {key: value for key, value in (holder.get(name) or {}).items() if key not in keys}
    if kept:
        holder[name] = kept
    else:
        holder.pop(name, None)


def _resume(copy: dict[str, Any], path: tuple[str, ...]) -> None:
    """Write false rather than nothing, so that server-side apply owns the field and takes true away."""
    holder = _holder(copy, path)
    if holder and path[-1] in holder:
        holder[path[-1]] = False


def _holder(copy: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any] | None:
    here: Any = copy if path else None
    for key in path[:-1]:
        here = here.get(key) if isinstance(here, dict) else None
    return here if isinstance(here, dict) else None


def applied_for(manifest: dict[str, Any], labels: dict[str, str]) -> bool:
    """Whether Fairway has applied this object for the attempt of these labels, whatever became of its own. That it was
    Fairway is kept by the API server; for which attempt, by the pod templates."""
    return made_by_fairway(manifest) and _labelled(manifest.get("spec"), labels)


def made_by_fairway(manifest: dict[str, Any]) -> bool:
    """As the API server keeps it of who set which field. Whoever makes an object may call itself so: alone it is no
    proof."""
    made = (one for one in manifest["metadata"].get("managedFields") or () if not one.get("subresource"))
    return any(one.get("manager") == FIELD_MANAGER for one in made)


def _labelled(part: Any, labels: dict[str, str]) -> bool:
    """Whether anything in this part of an object carries all of these labels."""
    if isinstance(part, dict):
        own = part.get("labels")
        return (isinstance(own, dict) and labels.items() <= own.items()) or _labelled(list(part.values()), labels)
    return isinstance(part, list) and any(_labelled(one, labels) for one in part)
