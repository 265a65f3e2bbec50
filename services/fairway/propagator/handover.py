"""How held room passes to the pods it is held for: what to do next, from what is seen in the member. Pure.

A placeholder gives way to one pod without a gap. The pod is gated, so kube-scheduler does not try it while the room is
taken. First it is nominated to the placeholder's node, and marked with that room's name; from then on kube-scheduler
counts it there for every pod of the same or a lower priority. Then the placeholder is deleted, and last the gate is
lifted. Each step shows in the member, so that whoever starts anew goes on where it was left.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from fairway.domain.text.digits import is_whole
from fairway.propagator.held_room import NAMESPACE, NAMESPACE_LABEL, ROOM_LABEL
from fairway.wire.capacity import PLACEHOLDERS
from fairway.workloads.gangs.pods import GANG_GATE
from fairway.workloads.member_copy import ATTEMPT_LABEL, HOLD_LABEL, JOB_LABEL, PLACEHOLDER_LABEL, POD_SET_LABEL

_ENDED = ("Succeeded", "Failed")


class HeldPlace(Struct, frozen=True):
    """What holds the room of one pod; `ready` once it does, `ended` when it no longer does. It is for pods of
    `namespace`."""

    name: str
    room: str
    pod_set: str
    node: str = ""
    ended: bool = False
    namespace: str = ""

    @property
    def ready(self) -> bool:
        return bool(self.node) and not self.ended


class JobPod(Struct, frozen=True):
    """A pod for which room is held. `room` is the one it was given, `version` the state in which it was seen; it waits
    while it has no node; `gates` keep it from being scheduled."""

    namespace: str
    name: str
    uid: str
    version: str
    pod_set: str
    room: str = ""
    waits: bool = True
    gates: tuple[str, ...] = ()


class Take(Struct, frozen=True):
    """`pod` is to have the room of `place`, or, without one, to look for room like any other pod."""

    pod: JobPod
    place: HeldPlace | None = None


class Clear(Struct, frozen=True):
    """These hold nothing for anybody."""

    names: tuple[str, ...]


def attempt_of(manifest: dict[str, Any]) -> tuple[str, int, str] | None:
    """Job, attempt, and the way its room is held; None for what is not of an attempt that holds room. What holds it is
    Fairway's, in its own namespace or in none; of pods, only those elsewhere are a job's."""
    meta = manifest.get("metadata", {})
    labels = meta.get("labels") or {}
    a_pod = "template" not in (manifest.get("spec") or {}) and bool(meta.get("namespace"))
    if a_pod and (PLACEHOLDER_LABEL in labels) is not (meta["namespace"] == NAMESPACE):
        return None
    job = labels.get(JOB_LABEL)
    attempt = labels.get(ATTEMPT_LABEL, "")
    way = labels.get(HOLD_LABEL)
    return (job, int(attempt), way) if job and way and is_whole(attempt) else None


def seen(manifest: dict[str, Any]) -> HeldPlace | JobPod:
    """A Pod or a Reservation of a cluster, as the hand-over sees it."""
    meta = manifest["metadata"]
    spec = manifest.get("spec") or {}
    status = manifest.get("status") or {}
    labels = meta.get("labels") or {}
    room = labels.get(ROOM_LABEL, "")
    pod_set = labels.get(POD_SET_LABEL, "")
    phase = status.get("phase", "")
    if "template" in spec:
        objects = [one.get("object") or {} for one in spec.get("owners") or ()]
        whose = str(objects[0].get("namespace") or "") if objects else ""
        return HeldPlace(meta["name"], room, pod_set, status.get("nodeName") or "", phase in _ENDED, whose)
    ended = phase in _ENDED or bool(meta.get("deletionTimestamp"))
    if labels.get(PLACEHOLDER_LABEL):
        whose = labels.get(NAMESPACE_LABEL, "")
        return HeldPlace(meta["name"], room, pod_set, spec.get("nodeName") or "", ended, whose)
    return JobPod(
        meta.get("namespace", ""),
        meta["name"],
        meta.get("uid", ""),
        meta.get("resourceVersion", ""),
        pod_set,
        room,
        waits=not spec.get("nodeName") and not ended,
        gates=tuple(one["name"] for one in spec.get("schedulingGates") or ()),
    )


def next_steps(way: str, places: Iterable[HeldPlace], pods: Iterable[JobPod], gate: str) -> list[Take | Clear]:
    """What to do now for one attempt; the same again while nothing of it is done."""
    held = sorted(places, key=_rank)
    homes = {place.namespace for place in held} - {""}
    # With the labels of the attempt, from another namespace: somebody else's, who gets none of its room.
    its = (pod for pod in pods if not homes or pod.namespace in homes)
    ours = sorted(its, key=lambda pod: (pod.namespace, pod.name))
    if way != PLACEHOLDERS:
        return _surplus(held, ours)
    ended = tuple(place.name for place in held if place.ended)
    steps: list[Take | Clear] = [Clear(ended)] if ended else []
    return steps + _takes([place for place in held if not place.ended], ours, gate)


def _takes(held: list[HeldPlace], pods: list[JobPod], gate: str) -> list[Take | Clear]:
    steps: list[Take | Clear] = []
    by_room = {place.room: place for place in held}
    given = {pod.room for pod in pods if pod.room}
    for pod in pods:
        if not pod.waits or GANG_GATE in pod.gates:
            continue  # a pod of a gang may yet go, with its gang
        if pod.room:
            place = by_room.get(pod.room)
        else:
            free = [one for one in held if one.room not in given and one.pod_set in (pod.pod_set, "")]
            place = next((one for one in free if one.ready), None)
            if place is None and free:
                continue  # its room is on the way
        if place is not None:
            given.add(place.room)
        if place is not None or gate in pod.gates:
            steps.append(Take(pod, place))
    return steps


def _surplus(held: list[HeldPlace], pods: list[JobPod]) -> list[Take | Clear]:
    """A Reservation takes its pod by itself, and stays as a record. Once as many pods have a node as there were
    Reservations, those that are left over hold room for nobody: their pods found room elsewhere."""
    steps: list[Take | Clear] = []
    for pod_set in dict.fromkeys(place.pod_set for place in held):
        names = [place.name for place in held if place.pod_set == pod_set]
        come = sum(not pod.waits and pod.pod_set in (pod_set, "") for pod in pods)
        if come >= len(names):
            steps.append(Clear(tuple(names)))
    return steps


def _rank(place: HeldPlace) -> tuple[str, int]:
    """In the order in which they were made."""
    before, _, number = place.room.rpartition("-")
    return before, int(number) if is_whole(number) else 0
