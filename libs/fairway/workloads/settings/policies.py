"""PropagationPolicy and ClusterPropagationPolicy, of Karmada's group and of ACK One's: read, and choose one.

What is accepted and has no effect, because Fairway does the safe half of it for every job, is in `known_fields`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from typing import Any

from fairway.wire import capacity
from fairway.wire.policy import Policy, Selector
from fairway.wire.reasons import Code, Reason, Refused
from fairway.wire.workload import Expression
from fairway.workloads.reading.batch_marks import ROOM_ANNOTATION, room_said
from fairway.workloads.reading.fields import Field, Problems, shown
from fairway.workloads.reading.names import check_annotations, is_namespace, read_name, read_namespace
from fairway.workloads.schedules.registry import controlled_by
from fairway.workloads.settings.companion_selectors import parted
from fairway.workloads.settings.placement import only, read_labels, read_placement

GROUPS = ("policy.karmada.io/v1alpha1", "policy.one.alibabacloud.com/v1alpha1")
NAMESPACED = "PropagationPolicy"
CLUSTER_WIDE = "ClusterPropagationPolicy"

ATTEMPTS = "fairway.io/max-attempts"
START_TIMEOUT = "fairway.io/start-timeout"
AVOID = "fairway.io/avoid-failed-for"
RESERVE = "fairway.io/reserve"
ANNOTATIONS = frozenset({ATTEMPTS, START_TIMEOUT, AVOID, RESERVE, ROOM_ANNOTATION})

_SPEC = (
    *("resourceSelectors", "placement", "priority", "suspension", "failover", "propagateDeps", "association"),
    *("preemption", "conflictResolution", "activationPreference", "schedulerName", "dependentOverrides"),
    *("schedulePriority", "autoScaling"),
)
# Durations and numbers in annotations are text.
_PART = re.compile(r"([0-9]{1,9})(ms|s|m|h|d)")
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
# As documented on wire.policy.Policy.
ATTEMPTS_DEFAULT = 3
START_DEFAULT = 300_000
AVOID_DEFAULT = 600_000
_WEEK = 7 * 24 * 3_600_000
# The CRD has the same bound: what its rules cost is reckoned with the largest policy it takes.
MOST_SELECTORS = 500
# How closely an entry may select an object.
BY_KIND = 1
BY_LABELS = 2
BY_NAME = 3
# Policies that a sentence names.
_NAMED = 5


def is_policy(manifest: Mapping[str, Any]) -> bool:
    """True for an object that read_policy takes."""
    return manifest.get("kind") in (NAMESPACED, CLUSTER_WIDE) and manifest.get("apiVersion") in GROUPS


def read_policy(manifest: dict[str, Any]) -> Policy:
    """A policy of either kind and group. Raises Refused with every field that Fairway cannot honour."""
    problems = Problems()
    root = Field(manifest, problems)
    root["apiVersion"].choice(GROUPS[0], *GROUPS)
    kind = root["kind"].choice(NAMESPACED, CLUSTER_WIDE)
    metadata = root["metadata"]
    spec = root["spec"]
    check_annotations(metadata["annotations"], ANNOTATIONS)
    only(spec, *_SPEC)
    only(spec["autoScaling"])  # a false ecsProvision asks for nothing
    only(spec["suspension"], "scheduling")
    spec["suspension"]["scheduling"].flag()  # every job waits for its turn, whatever this says
    namespace = read_namespace(metadata["namespace"]) if kind == NAMESPACED else ""
    annotations = metadata["annotations"]
    jobs, companions = parted(_selectors(spec["resourceSelectors"], namespace))
    policy = Policy(
        api_version=root["apiVersion"].text(),
        kind=kind,
        namespace=namespace,
        name=read_name(metadata["name"], 253),
        selectors=jobs,
        placement=read_placement(spec["placement"]),
        priority=spec["priority"].whole(0, -(2**31)),
        attempts=read_number(annotations[ATTEMPTS], ATTEMPTS_DEFAULT, 1, 100),
        start_timeout=_start_timeout(annotations[START_TIMEOUT], spec["failover"]),
        avoid=read_duration(annotations[AVOID], AVOID_DEFAULT, 0, _WEEK),
        version=metadata["resourceVersion"].text(),
        reserve=annotations[RESERVE].choice(*capacity.RESERVE),
        # Karmada has two names for it; here it goes along where nothing is said.
        alone=not (spec["propagateDeps"].flag(True) and spec["association"].flag(True)),
        companions=companions,
        room=room_said(annotations),
    )
    problems.stop()
    return policy


def _selectors(field: Field, namespace: str) -> tuple[Selector, ...]:
    if not field.value:
        field.wrong("is empty, so the policy selects nothing", "name the apiVersion and kind it is for")
    return tuple(_selector(entry, namespace) for entry in field.items(MOST_SELECTORS))


def _selector(field: Field, namespace: str) -> Selector:
    only(field, "apiVersion", "kind", "namespace", "name", "labelSelector")
    for key in ("apiVersion", "kind"):
        if not field[key].text():
            field[key].wrong("is missing", "name the kind this policy is for")
    own = field["namespace"].text()
    if own and not is_namespace(own):
        field["namespace"].wrong("is not a namespace name", "correct it or leave it out")
    if namespace and own not in ("", namespace):
        field["namespace"].wrong(
            f"is {own}, but a PropagationPolicy selects in its own namespace, {namespace}",
            f"move the policy to {own} or use a ClusterPropagationPolicy",
        )
    name = field["name"].text()
    # Karmada ignores the label selector of an entry that gives a name.
    labels = () if name else read_labels(field["labelSelector"])
    return Selector(field["apiVersion"].text(), field["kind"].text(), own or namespace, name=name, labels=labels)


def _start_timeout(annotation: Field, failover: Field) -> int:
    only(failover, "application", "cluster")
    application = failover["application"]
    only(application, "decisionConditions", "purgeMode", "gracePeriodSeconds", "statePreservation")
    if application["purgeMode"].text() == "Never":
        application["purgeMode"].wrong(
            "Never would leave the failed copy beside the next one", "remove it; Fairway clears up first"
        )
    seconds = application.at("decisionConditions", "tolerationSeconds").whole(0, 0, _WEEK // 1000)
    return read_duration(annotation, seconds * 1000 or START_DEFAULT, 1000, _WEEK)


def read_duration(field: Field, default: int, least: int, most: int) -> int:
    """`90s`, `5m`, `1h30m` in milliseconds, within bounds."""
    text = field.text()
    if not text:
        return default
    parts = _PART.findall(text)
    total = sum(int(number) * _MILLISECONDS[unit] for number, unit in parts)
    if "".join(number + unit for number, unit in parts) != text:
        field.wrong(f"{shown(text)} is not a duration", "write a number and a unit, such as 90s, 5m or 1h30m")
        return default
    if not least <= total <= most:
        field.wrong(f"{shown(text)} is out of range", f"use {least // 1000}s to {most // 86_400_000}d")
        return default
    return total


def read_number(field: Field, default: int, least: int, most: int) -> int:
    """A whole number in quotes, as annotations are strings."""
    text = field.text()
    if not text:
        return default
    if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= most:
        field.wrong(f"is {shown(text)}", f'write a number from {least} to {most} in quotes, such as "{default}"')
        return default
    return int(text)


def select(policies: Iterable[Policy], manifest: dict[str, Any]) -> Policy | Refused:
    """The one policy that decides for an object.

    A namespaced policy goes before a cluster-wide one, then the higher priority, then an entry that names the
    object before one that matches its labels before one of the kind alone. Two that are still equal: Refused.
    Every policy is walked: of many, PolicyIndex finds the same one.
    """
    best: list[Policy] = []
    rank: tuple[bool, int, int] = (False, 0, 0)
    for policy in policies:
        close = closeness(policy, manifest)
        if not close:
            continue
        here = (bool(policy.namespace), policy.priority, close)
        if not best or here > rank:
            best = [policy]
            rank = here
        elif here == rank:
            best.append(policy)
    return chosen(best, manifest)


def chosen(best: Sequence[Policy], manifest: dict[str, Any]) -> Policy | Refused:
    """The one of those that select an object before all others; Refused when there is none, or more than one."""
    if len(best) == 1:
        return best[0]
    return Refused(_two(best) if best else _none(manifest))


def closeness(policy: Policy, manifest: dict[str, Any]) -> int:
    """How closely a policy selects the object; 0: not at all."""
    return max((_closeness(one, policy, manifest) for one in policy.selectors), default=0)


def _closeness(selector: Selector, policy: Policy, manifest: dict[str, Any]) -> int:
    metadata = manifest["metadata"]
    namespace = metadata.get("namespace") or "default"
    if (selector.api_version, selector.kind) != (manifest["apiVersion"], manifest["kind"]):
        return 0
    if (policy.namespace or selector.namespace or namespace) != namespace:
        return 0
    if selector.name:
        return BY_NAME if selector.name == metadata.get("name") else 0
    if not selector.labels:
        return BY_KIND
    labels = metadata.get("labels") or {}
    return BY_LABELS if all(matches(labels, one) for one in selector.labels) else 0


def matches(labels: dict[str, str], expression: Expression) -> bool:
    """One expression of a label selector; NotIn and DoesNotExist also hold for a label that is not there."""
    value = labels.get(expression.key)
    match expression.operator:
        case "In":
            return value is not None and value in expression.values
        case "NotIn":
            return value is None or value not in expression.values
        case "Exists":
            return value is not None
        case _:
            return value is None


def _two(policies: Sequence[Policy]) -> Reason:
    # Equal ones are of one kind and namespace, so that the names alone order them.
    names = [policy.title for policy in nsmallest(_NAMED, policies, key=lambda policy: policy.name)]
    more = len(policies) - len(names)
    text = f"{', '.join(names)} and {more} more" if more else " and ".join(names)
    return Reason(
        Code.TWO_POLICIES,
        f"{text} select this object equally",
        remedy="remove one, or give one a higher spec.priority",
    )


def _none(manifest: dict[str, Any]) -> Reason:
    metadata = manifest["metadata"]
    namespace = metadata.get("namespace") or "default"
    entry = f"apiVersion: {manifest['apiVersion']}, kind: {manifest['kind']}"
    remedy = f"apply a PropagationPolicy in {namespace} whose resourceSelectors hold {{{entry}"
    if owner := controlled_by(manifest):
        each = f"each run of {owner['kind']} {shown(owner.get('name'))} has another"
        remedy += f"}}, with a labelSelector or for all of the kind, and without a name: {each}"
    else:
        remedy += f", name: {metadata.get('name')}}}"
    text = f"no policy selects {manifest['kind']} {namespace}/{metadata.get('name')}"
    return Reason(Code.NO_POLICY, text, remedy=remedy)
