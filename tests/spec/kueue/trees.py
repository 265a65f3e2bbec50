"""Cohorts and queues of Kueue as quota trees, in cpus and GiB. Each node's min is its own with its children's."""

from typing import Any

import msgspec

from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources, add

CPU = "cpu"
MEMORY = "memory"


def amounts(cpu: float, memory: int | None = None) -> Resources:
    """`memory` None: it is not named."""
    milli = round(cpu * 1_000)
    return {CPU: milli} if memory is None else {CPU: milli, MEMORY: memory}


def queue(name: str, cpu: float = 0, memory: int | None = None, **more: Any) -> QuotaNode:
    """A leaf that is guaranteed so much. `most` is what it may use at most; `lends` how many of its cpus it lends;
    `weight`; and `never`: its jobs evict none of their own leaf."""
    attributes = {}
    if "lends" in more:
        attributes["alibabacloud.com/lendlimit"] = f'{{"cpu": "{more["lends"]}"}}'
    if "weight" in more:
        attributes["fairway.io/weight"] = str(more["weight"])
    if more.get("never"):
        attributes["preempt-policy"] = "Never"
    return QuotaNode(name, name, amounts(cpu, memory), more.get("most", {}), attributes=attributes)


def cohort(name: str, *children: QuotaNode, cpu: float = 0, memory: int | None = None, **more: Any) -> QuotaNode:
    """A node with so much of its own beside its children's. In a `domain` jobs of all its leaves evict one another by
    priority."""
    attributes = {"fairway.io/weight": str(more["weight"])} if "weight" in more else {}
    if more.get("domain"):
        attributes["fairway.io/preempt-domain"] = "true"
    own = amounts(cpu, memory)
    for child in children:
        own = add(own, child.min)
    return QuotaNode(name, name, own, attributes=attributes, children=children)


def fleet(*children: QuotaNode, **more: Any) -> QuotaNode:
    """The root, which has no more than what is guaranteed in it."""
    root = cohort("root", *children, **more)
    return _below("", msgspec.structs.replace(root, max=root.min))


def _below(above: str, node: QuotaNode) -> QuotaNode:
    path = f"{above}/{node.name}" if above else node.name
    return msgspec.structs.replace(node, path=path, children=tuple(_below(path, one) for one in node.children))
