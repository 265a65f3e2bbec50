"""What holds an attempt's room in a member: Koordinator Reservations, or placeholder pods, as manifests. Pure.

One object for each pod, on the node that was planned for it, labelled as that pod will be: the agent counts a
placeholder as the pod whose room it holds. They end by themselves when nobody comes for them.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from fairway.domain.batch_resources import PRIORITY, has_batch
from fairway.domain.job import Job
from fairway.domain.tenancy.profile import HOME
from fairway.propagator import needed_objects
from fairway.wire.capacity import PLACEHOLDERS, RESERVATIONS, Slot
from fairway.wire.workload import Expression, PodSet
from fairway.workloads.member_copy import (
    BATCH_CLASS_LABELS,
    HOLD_LABEL,
    KOORD_SCHEDULER,
    PLACEHOLDER_LABEL,
    POD_SET_LABEL,
    job_labels,
)

Json = dict[str, Any]

POD = "Pod.v1"
RESERVATION = "Reservation.scheduling.koordinator.sh/v1alpha1"
KINDS = {PLACEHOLDERS: POD, RESERVATIONS: RESERVATION}
# Placeholders have a namespace of their own: the right to make pods is needed there only, and what they take is not
# charged to the quota of the job's namespace.
NAMESPACE = HOME
PLACES = {PLACEHOLDERS: NAMESPACE, RESERVATIONS: ""}
# On a placeholder: the namespace of the pod that it holds room for.
NAMESPACE_LABEL = "fairway.io/for-namespace"
# What a placeholder runs where nobody says otherwise.
PAUSE = "registry.k8s.io/pause:3.10"
# Which of an attempt's rooms: on what holds it, and on the pod that is given it.
ROOM_LABEL = "fairway.io/room"
# Room that nobody came for is given back after the job's start timeout, or after this long (s).
LONGEST_S = 600
# In these a node may be overcommitted; of everything else a pod is limited to what it requests.
_PLAIN = ("cpu", "memory", "ephemeral-storage")
# The highest value that a PriorityClass of users may have.
_HIGHEST = 1_000_000_000


class Room(Struct, frozen=True):
    """What attempt `attempt` of `job` is to hold in a member: `way` as in wire.capacity, `ttl` in seconds."""

    way: str
    job: str
    attempt: int
    namespace: str
    slots: tuple[Slot, ...]
    pod_sets: tuple[PodSet, ...]
    priority: int = 0
    ttl: int = LONGEST_S

    @property
    def kind(self) -> str:
        return KINDS[self.way]

    @property
    def key(self) -> str:
        return f"{self.job}/{self.attempt}"

    @property
    def names(self) -> list[str]:
        return [f"{self.job}-{self.attempt}-{room}" for room, _, _ in self._rooms()]

    def _rooms(self) -> Iterator[tuple[str, PodSet, str]]:
        """Every pod's room: its name within the attempt, its pod set and its node."""
        for index, pods in enumerate(self.pod_sets):
            nodes = [slot.node for slot in self.slots if slot.pods == pods.name for _ in range(slot.count)]
            for number, node in enumerate(nodes):
                yield f"{index}-{number}", pods, node


def room_of(job: Job, attempt: int) -> Room | None:
    """The room that this attempt holds in its member; None when the ledger alone holds it."""
    tried = next((one for one in job.attempts if one.number == attempt), None)
    if tried is None or not tried.hold or job.spec is None:
        return None
    work = job.spec.workload
    ttl = min(LONGEST_S, max(1, job.spec.start_timeout // 1000))
    return Room(tried.hold, job.id, attempt, work.namespace, tried.slots, work.pod_sets, job.spec.priority, ttl)


def manifests(room: Room, image: str) -> dict[str, Json]:
    """What holds the room, by name; `image` is what a placeholder runs."""
    made = {}
    for place, pods, node in room._rooms():
        labels = {
            **job_labels(room.job, room.attempt),
            POD_SET_LABEL: pods.name,
            HOLD_LABEL: room.way,
            ROOM_LABEL: place,
            **(BATCH_CLASS_LABELS if has_batch(pods.requests) else {}),
        }
        name = f"{room.job}-{room.attempt}-{place}"
        head: Json = {"metadata": {"name": name, "labels": labels}}
        if room.way == RESERVATIONS:
            made[name] = _reservation(head, room, pods, _pod(pods, node))
        else:
            made[name] = _placeholder(head, room, _pod(pods, node), image)
    return made


def _pod(pods: PodSet, node: str) -> Json:
    """The part of a pod's spec that decides where it may be, and that it is to be on `node`."""
    requests = {name: _quantity(name, amount) for name, amount in sorted(pods.requests.items()) if amount}
    limits = {name: text for name, text in requests.items() if name not in _PLAIN}
    here = {"key": "metadata.name", "operator": "In", "values": [node]}
    # One that names other nodes goes: koord-scheduler 1.6 refuses a pod for a single term that contradicts itself.
    terms = [_term(term) for term in pods.node_terms if _may_name(term, node)] or [{}]
    for term in terms:
        term.setdefault("matchFields", []).append(here)
    return {
        "containers": [{"name": "room", "image": "none", "resources": {"requests": requests, "limits": limits}}],
        "nodeSelector": dict(pods.node_selector),
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}},
        "tolerations": [
            {name: text for name in ("key", "operator", "value", "effect") if (text := getattr(one, name))}
            for one in pods.tolerations
        ],
    }


def _placeholder(head: Json, room: Room, pod: Json, image: str) -> Json:
    metadata: Json = head["metadata"]
    metadata["namespace"] = NAMESPACE
    metadata["labels"] |= {PLACEHOLDER_LABEL: "true", NAMESPACE_LABEL: room.namespace}
    pod["containers"][0] |= {
        "image": image,
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    spec = {
        # Whatever it runs may end: it holds its room until its deadline.
        **pod,
        "restartPolicy": "Always",
        "activeDeadlineSeconds": room.ttl,
        "terminationGracePeriodSeconds": 0,
        "priorityClassName": priority_class(room.priority)["metadata"]["name"],
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65534, "seccompProfile": {"type": "RuntimeDefault"}},
    }
    return {**head, "spec": spec}


def _reservation(head: Json, room: Room, pods: PodSet, pod: Json) -> Json:
    """Not in one of Koordinator's gangs: now and then koord-scheduler 1.6 looks at the last of a gang before it has
    counted it, and then at none of them again. The propagator sees to it that all is held or given back."""
    owner = {**job_labels(room.job, room.attempt), POD_SET_LABEL: pods.name}
    spec = {
        "allocateOnce": True,
        "allocatePolicy": "Aligned",
        "ttl": f"{room.ttl}s",
        "owners": [{"object": {"namespace": room.namespace}, "labelSelector": {"matchLabels": owner}}],
        "template": {
            "spec": {**pod, "schedulerName": KOORD_SCHEDULER, "priority": _priority(room, pods)},
        },
    }
    return {**head, "spec": spec}


def _priority(room: Room, pods: PodSet) -> int:
    """Pods on batch resources come after all others, and so does the room for them."""
    return min(room.priority, PRIORITY if has_batch(pods.requests) else _HIGHEST)


def priority_class(priority: int) -> Json:
    """The class of placeholders for pods of this priority: nobody of the same priority drives them out, and they drive
    out nobody. (A pod may not say so itself: the API server takes both from its class.)"""
    value = min(priority, _HIGHEST)
    why = "Pods that hold room for the pods of a Fairway job."
    return needed_objects.priority_class(f"fairway-hold-{value}", value, why)


def _may_name(term: tuple[Expression, ...], node: str) -> bool:
    """Whether what it says of a node's name, In or NotIn, holds for this one."""
    return all((node in one.values) == (one.operator == "In") for one in term if one.field)


def _term(expressions: tuple[Expression, ...]) -> Json:
    term: Json = {}
    for one in expressions:
        said: Json = {"key": one.key, "operator": one.operator}
        if one.values:
            said["values"] = list(one.values)
        term.setdefault("matchFields" if one.field else "matchExpressions", []).append(said)
    return term


def _quantity(resource: str, amount: int) -> str:
    """cpu is counted in thousandths."""
    return f"{amount}m" if resource == "cpu" else str(amount)
