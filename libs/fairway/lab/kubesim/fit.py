"""What a pod needs of a node, and whether a node has it.

Written apart from fairway.placement on purpose: a member cluster judges for itself, so a mistake there
shows here.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from fairway.domain.resources import Resources, add, parse_quantity
from fairway.domain.text.digits import is_whole
from fairway.lab.kubesim.api.errors import Json


class Want(msgspec.Struct):
    """One pod's needs; `shape` is equal for pods that fit the same nodes."""

    requests: Resources
    selector: dict[str, str]
    terms: list[Json]
    tolerations: list[Json]
    gang: str
    gang_min: int
    shape: bytes


class Space(msgspec.Struct):
    """One node: what is free, and who may come."""

    name: str
    free: Resources
    labels: dict[str, str]
    taints: list[Json]
    open: bool


def amounts(quantities: Mapping[str, Any] | None) -> Resources:
    """Base units; what is not a quantity counts as nothing, as an API server would have refused it."""
    found: Resources = {}
    for name, text in (quantities or {}).items():
        try:
            found[name] = parse_quantity(name, text)
        except ValueError:
            found[name] = 0
    return found


def _of_container(container: Json) -> Resources:
    resources = container.get("resources") or {}
    return {**amounts(resources.get("limits")), **amounts(resources.get("requests"))}


def pod_requests(spec: Json) -> Resources:
    """max(sum of containers, each init container) + overhead, sidecars added to both, and one pod."""
    running: Resources = {}
    for container in spec.get("containers") or ():
        running = add(running, _of_container(container))
    sidecars: Resources = {}
    peak: Resources = {}
    for container in spec.get("initContainers") or ():
        here = add(sidecars, _of_container(container))
        if container.get("restartPolicy") == "Always":
            sidecars = here
        peak = {name: max(peak.get(name, 0), here.get(name, 0)) for name in {*peak, *here}}
    running = add(running, sidecars)
    total = {name: max(running.get(name, 0), peak.get(name, 0)) for name in {*running, *peak}}
    return {**add(total, amounts(spec.get("overhead"))), "pods": 1}


def want_of(pod: Json) -> Want:
    spec = pod["spec"]
    found = pod["metadata"].get("annotations") or {}
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    requests = pod_requests(spec)
    selector = spec.get("nodeSelector") or {}
    terms = required.get("nodeSelectorTerms") or []
    tolerations = spec.get("tolerations") or []
    shape = msgspec.json.encode([requests, selector, terms, tolerations], order="deterministic")
    gang = found.get("scheduling.k8s.io/group-name", "")
    least = found.get("fairway.test/gang-min", "")
    return Want(requests, selector, terms, tolerations, gang, int(least) if is_whole(least) else 0, shape)


def space_of(node: Json) -> Space:
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in node["status"].get("conditions", ()))
    spec = node.get("spec") or {}
    return Space(
        name=node["metadata"]["name"],
        free=amounts(node["status"].get("allocatable")),
        labels=node["metadata"].get("labels") or {},
        taints=spec.get("taints") or [],
        open=ready and not spec.get("unschedulable"),
    )


def obstacle(want: Want, space: Space) -> str:
    """Why the pod cannot be on this node, in kube-scheduler's words; empty when it can."""
    if not space.open:
        return "node(s) were unschedulable"
    if any(space.labels.get(key) != value for key, value in want.selector.items()) or (
        want.terms and not any(_term(term, space) for term in want.terms)
    ):
        return "node(s) didn't match Pod's node affinity/selector"
    for taint in space.taints:
        if taint.get("effect") in ("NoSchedule", "NoExecute") and not _tolerated(taint, want.tolerations):
            return f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}"
    for name, amount in want.requests.items():
        if amount > space.free.get(name, 0):
            return "Too many pods" if name == "pods" else f"Insufficient {name}"
    return ""


def _tolerated(taint: Json, tolerations: Iterable[Json]) -> bool:
    for one in tolerations:
        key = one.get("key", "")
        operator = one.get("operator") or "Equal"
        if one.get("effect") and one["effect"] != taint["effect"]:
            continue
        if operator == "Exists" and key in ("", taint["key"]):
            return True
        if operator == "Equal" and key == taint["key"] and one.get("value", "") == taint.get("value", ""):
            return True
    return False


def _term(term: Json, space: Space) -> bool:
    """Every expression must hold; a term without any selects nothing."""
    expressions = [(one, space.labels) for one in term.get("matchExpressions") or ()]
    expressions += [(one, {"metadata.name": space.name}) for one in term.get("matchFields") or ()]
    return bool(expressions) and all(_holds(one, found) for one, found in expressions)


def _holds(one: Json, found: Mapping[str, str]) -> bool:
    value = found.get(one["key"])
    values = one.get("values") or []
    match one["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt" as sign:
            if value is None or not is_whole(value.removeprefix("-")):
                return False
            return int(value) > int(values[0]) if sign == "Gt" else int(value) < int(values[0])
    return False
