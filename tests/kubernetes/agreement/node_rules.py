"""Labels and taints of drawn nodes, and the selectors, affinities and tolerations of pods that meet them."""

import random
from typing import Any

from msgspec import Struct

Json = dict[str, Any]

_LABELS = {
    "zone": ("a", "b"),
    "gpu.product": ("A100", "H100"),
    "generation": ("3", "4", "10", "v5"),
    "disk": ("ssd", ""),
}
_TAINTS: tuple[Json, ...] = (
    {"key": "dedicated", "value": "team-a", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "team-b", "effect": "NoExecute"},
    {"key": "spot", "effect": "PreferNoSchedule"},
    {"key": "gpu", "value": "true", "effect": "NoSchedule"},
    {"key": "drain", "effect": "NoExecute"},
)


class NodeRules(Struct, frozen=True):
    """Which rules a case has at all: one that draws from every kind of rule seldom has a node that passes all."""

    selector: bool
    affinity: bool
    taints: bool

    @classmethod
    def drawn(cls, dice: random.Random) -> "NodeRules":
        return cls(dice.random() < 0.3, dice.random() < 0.4, dice.random() < 0.5)


def labels(dice: random.Random) -> dict[str, str]:
    return {key: dice.choice(values) for key, values in _LABELS.items() if dice.random() < 0.8}


def taints(dice: random.Random, rules: NodeRules) -> tuple[Json, ...]:
    """A node has a key with an effect once at most."""
    if not rules.taints or dice.random() < 0.4:
        return ()
    return tuple(dice.sample(_TAINTS, dice.choice((1, 1, 2))))


def selector(dice: random.Random, rules: NodeRules) -> Json:
    if not rules.selector or dice.random() < 0.4:
        return {}
    key = dice.choice(("zone", "zone", "gpu.product", "disk"))
    return {"nodeSelector": {key: dice.choice(_LABELS[key])}}


def affinity(dice: random.Random, rules: NodeRules, nodes: int) -> Json:
    if not rules.affinity or dice.random() < 0.3:
        return {}
    terms = [_term(dice, nodes) for _ in range(dice.choice((1, 1, 2)))]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"affinity": {"nodeAffinity": required}}


def _term(dice: random.Random, nodes: int) -> Json:
    """A field takes one value."""
    field = {"key": "metadata.name", "operator": dice.choice(("In", "NotIn")), "values": [dice.randrange(nodes)]}
    by_name: Json = {"matchFields": [field]} if dice.random() < 0.25 else {}
    if by_name and dice.random() < 0.5:
        return by_name
    return {**by_name, "matchExpressions": [_expression(dice) for _ in range(dice.choice((1, 1, 2)))]}


def _expression(dice: random.Random) -> Json:
    operator = dice.choice(("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    if operator in ("Gt", "Lt"):
        return {"key": "generation", "operator": operator, "values": [dice.choice(("2", "3", "9"))]}
    key = dice.choice(tuple(_LABELS))
    if operator in ("Exists", "DoesNotExist"):
        return {"key": key, "operator": operator}
    values = list(dict.fromkeys(dice.choices(_LABELS[key], k=dice.choice((1, 2)))))
    return {"key": key, "operator": operator, "values": values}


def tolerations(dice: random.Random, rules: NodeRules) -> Json:
    if not rules.taints or dice.random() < 0.15:
        return {}
    if dice.random() < 0.15:
        return {"tolerations": [{"operator": "Exists"}]}
    return {"tolerations": [_toleration(dice, taint) for taint in dice.sample(_TAINTS, dice.randint(1, 4))]}


def _toleration(dice: random.Random, taint: Json) -> Json:
    """Mostly one that covers the taint."""
    effect = {"effect": dice.choice((taint["effect"], taint["effect"], taint["effect"], "NoSchedule"))}
    said: Json = {"key": taint["key"], **(effect if dice.random() < 0.6 else {})}
    if dice.random() < 0.5:
        return {**said, "operator": "Exists"}
    value = {"value": taint["value"]} if "value" in taint and dice.random() < 0.9 else {}
    return {**said, **value, **({"operator": "Equal"} if dice.random() < 0.5 else {})}
