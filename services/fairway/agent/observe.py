"""What an agent reads of a Node and of a Pod, and what it makes of them. Every other field is skipped."""

from functools import lru_cache
from sys import intern
from typing import Any

import msgspec
from msgspec import Struct

from fairway.domain.reservations import one_pod
from fairway.domain.resources import Resources, add, parse_quantity
from fairway.domain.tenancy.profile import HOME
from fairway.domain.text.digits import is_whole
from fairway.wire.capacity import Node, Taint
from fairway.workloads.member_copy import ATTEMPT_LABEL, JOB_LABEL, PLACEHOLDER_LABEL, POD_SET_LABEL
from fairway.workloads.reading.pods import pod_requests

_ENDED = ("Succeeded", "Failed")

Quantities = dict[str, str | int | float]


class _Camel(Struct, rename="camel", omit_defaults=True, gc=False):
    """Kubernetes' spelling of field names."""


class _Meta(_Camel):
    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    deletion_timestamp: str | None = None


class _Taint(_Camel):
    key: str
    effect: str = ""
    value: str | None = ""


class _Condition(_Camel):
    type: str
    status: str = ""


class _NodeInfo(_Camel):
    kubelet_version: str = ""


class _NodeSpec(_Camel):
    unschedulable: bool | None = False
    taints: list[_Taint] | None = None


class _NodeStatus(_Camel):
    allocatable: Quantities | None = None
    conditions: list[_Condition] | None = None
    node_info: _NodeInfo | None = None


class NodeObject(_Camel):
    metadata: _Meta
    spec: _NodeSpec = msgspec.field(default_factory=_NodeSpec)
    status: _NodeStatus = msgspec.field(default_factory=_NodeStatus)


class _Amounts(_Camel):
    requests: Quantities | None = None
    limits: Quantities | None = None


class _Container(_Camel):
    resources: _Amounts | None = None
    restart_policy: str | None = None


class _Gate(_Camel):
    name: str = ""


class _PodSpec(_Camel):
    node_name: str | None = None
    containers: list[_Container] | None = None
    init_containers: list[_Container] | None = None
    overhead: Quantities | None = None
    resources: _Amounts | None = None
    # Not read here: a propagator follows pods in the same shape, and lifts this gate.
    scheduling_gates: list[_Gate] | None = None


class _PodStatus(_Camel):
    phase: str | None = None


class PodObject(_Camel):
    metadata: _Meta
    spec: _PodSpec = msgspec.field(default_factory=_PodSpec)
    status: _PodStatus = msgspec.field(default_factory=_PodStatus)


# For the watches of an agent's cluster: what it does not read is not even decoded.
SHAPES: dict[str, type[Struct]] = {"Node.v1": NodeObject, "Pod.v1": PodObject}


class Use(Struct, frozen=True):
    """What a pod takes of its node. `attempt` is `<job>/<attempt>` as its labels say, empty for pods that say nothing;
    `namespace` where it is, empty for what Fairway itself made to hold room."""

    node: str
    requests: Resources
    attempt: str = ""
    pod_set: str = ""
    namespace: str = ""


def node_of(manifest: dict[str, Any]) -> tuple[Node, str, bool]:
    """The node without its users, the version of its kubelet, and whether it is ready. ValidationError when it is no
    Node."""
    found = msgspec.convert(manifest, NodeObject)
    ready = any(one.type == "Ready" and one.status == "True" for one in found.status.conditions or ())
    leaving = bool(found.spec.unschedulable or found.metadata.deletion_timestamp)
    node = Node(
        name=found.metadata.name,
        # To Kubernetes' schedulers a node that does not say how many pods it takes takes none.
        allocatable={"pods": 0, **_amounts(found.status.allocatable)},
        labels=found.metadata.labels or {},
        taints=tuple(Taint(one.key, one.effect, one.value or "") for one in found.spec.taints or ()),
        schedulable=ready and not leaving,
    )
    return node, found.status.node_info.kubelet_version if found.status.node_info else "", ready


def use_of(manifest: dict[str, Any]) -> Use | None:
    """None when the pod takes nothing: it is on no node yet, or has ended. ValidationError when it is no Pod."""
    found = msgspec.convert(manifest, PodObject)
    spec = found.spec
    labels = found.metadata.labels or {}
    if not spec.node_name or found.status.phase in _ENDED:
        return None
    job = labels.get(JOB_LABEL)
    attempt = labels.get(ATTEMPT_LABEL)
    key = f"{job}/{attempt}" if job and attempt and is_whole(attempt) else ""
    takes = _shared(tuple(one_pod(_requests(spec)).items()))
    if not key:
        return Use(intern(spec.node_name), takes)
    held = found.metadata.namespace == HOME and PLACEHOLDER_LABEL in labels
    namespace = "" if held else intern(found.metadata.namespace)
    return Use(intern(spec.node_name), takes, key, intern(labels.get(POD_SET_LABEL, "")), namespace)


@lru_cache(maxsize=4_096)
def _shared(amounts: tuple[tuple[str, int], ...]) -> Resources:
    """Not to be changed. Pods by the thousand ask for the same; one mapping for each would be a third of what an agent
    remembers of them."""
    return dict(amounts)


class _ReservationStatus(_Camel):
    phase: str | None = None
    node_name: str | None = None
    allocatable: Quantities | None = None
    allocated: Quantities | None = None


class _ReservationObject(_Camel):
    metadata: _Meta
    status: _ReservationStatus = msgspec.field(default_factory=_ReservationStatus)


def reserved_by(manifest: dict[str, Any]) -> Use | None:
    """What a Koordinator Reservation keeps from others, less what pods have taken of it, which are counted themselves.
    None when it holds nothing. ValidationError when it is no Reservation."""
    found = msgspec.convert(manifest, _ReservationObject)
    status = found.status
    labels = found.metadata.labels or {}
    if status.phase != "Available" or not status.node_name:
        return None
    left = add(_amounts(status.allocatable), _amounts(status.allocated), -1)
    key = f"{labels[JOB_LABEL]}/{labels[ATTEMPT_LABEL]}" if labels.get(JOB_LABEL) and labels.get(ATTEMPT_LABEL) else ""
    held = {name: amount for name, amount in left.items() if amount > 0}
    return Use(status.node_name, one_pod(held) if key else held, key, labels.get(POD_SET_LABEL, "") if key else "")


def _requests(spec: _PodSpec) -> Resources:
    inits = [(_defaulted(one.resources), one.restart_policy == "Always") for one in spec.init_containers or ()]
    requests = pod_requests([_defaulted(one.resources) for one in spec.containers or ()], inits)
    if spec.resources is not None:
        requests = {**requests, **_defaulted(spec.resources)}
    return add(requests, _amounts(spec.overhead)) if spec.overhead else requests


def _defaulted(given: _Amounts | None) -> Resources:
    """Requests; what is not requested is what is limited."""
    if given is None:
        return {}
    return {**_amounts(given.limits), **_amounts(given.requests)}


def _amounts(given: Quantities | None) -> Resources:
    return {name: _quantity(name, text) for name, text in given.items()} if given else {}


@lru_cache(maxsize=16_384)
def _quantity(resource: str, text: str | int | float) -> int:
    """A device plugin may publish nonsense; one such resource counts as absent, the rest of the node stands."""
    try:
        return parse_quantity(resource, text)
    except ValueError:
        return 0
