"""Where a pod may go: label expressions, node affinity terms, taints and tolerations.

The rules are those of Kubernetes: k8s.io/apimachinery `labels.Requirement.Matches`,
k8s.io/component-helpers `nodeaffinity` and k8s.io/api `Toleration.ToleratesTaint`.
"""

import re
from collections.abc import Iterable, Mapping

from fairway.placement.shapes import Where
from fairway.wire.capacity import Node, Taint
from fairway.wire.workload import Expression, Toleration

# PreferNoSchedule is a wish, not a rule.
_BINDING = ("NoSchedule", "NoExecute")
# Set and removed by Kubernetes itself (not-ready, unschedulable, disk-pressure, ...): they pass.
_PASSING = "node.kubernetes.io/"

# As Kubernetes reads them: int() takes digits of every alphabet, and underscores.
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")


def matches(expression: Expression, labels: Mapping[str, str]) -> bool:
    """One expression against labels; an unknown operator matches nothing."""
    value = labels.get(expression.key)
    match expression.operator:
        case "In":
            return value in expression.values
        case "NotIn":
            return value not in expression.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return _compares(expression, value)
    return False


def _compares(expression: Expression, value: str | None) -> bool:
    given = (expression.values[0] if expression.values else "", value or "")
    if not all(map(_WHOLE.fullmatch, given)):
        return False
    limit, number = map(int, given)
    return number > limit if expression.operator == "Gt" else number < limit


def node_matches(node: Node, selector: Mapping[str, str], terms: tuple[tuple[Expression, ...], ...]) -> bool:
    """nodeSelector and required node affinity; a term without expressions matches no node."""
    labels = node.labels
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    return not terms or any(term and all(_holds(part, node) for part in term) for term in terms)


def _holds(expression: Expression, node: Node) -> bool:
    return matches(expression, {"metadata.name": node.name} if expression.field else node.labels)


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """True when this one toleration covers this one taint."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in ("", "Equal") and toleration.value == taint.value


def untolerated(taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> Taint | None:
    """The first NoSchedule or NoExecute taint that no toleration covers."""
    for taint in taints:
        if taint.effect in _BINDING and not any(tolerates(one, taint) for one in tolerations):
            return taint
    return None


def lasting(taints: Iterable[Taint]) -> list[Taint]:
    """The taints that somebody put there on purpose, without those that come and go with a node's health."""
    return [taint for taint in taints if not taint.key.startswith(_PASSING)]


def admits(where: Where, node: Node) -> tuple[bool, bool]:
    """Whether such pods may be on this node now, and whether for good (cordons and passing taints set aside)."""
    if not node.taints and not where.selector and not where.terms:
        return node.schedulable, True
    if not node_matches(node, dict(where.selector), where.terms):
        return False, False
    if untolerated(lasting(node.taints), where.tolerations):
        return False, False
    return node.schedulable and not untolerated(node.taints, where.tolerations), True


def same_facts(old: Node, new: Node) -> bool:
    """Whether it is the same node as before, what is free on it aside."""
    return (
        old.allocatable == new.allocatable
        and old.labels == new.labels
        and old.taints == new.taints
        and old.schedulable == new.schedulable
    )
