"""Who is next among several leaves: a tournament from the root, by queue and by weighted dominant share. Pure.

At each node its children are compared by what their next job would make of their share: the largest, over resources, of
what is used above the guaranteed part with the job added, by the node's total, by the child's weight (hierarchical
dominant resource fairness: Ghodsi et al., NSDI 2011; Bhattacharya et al., SoCC 2013). A job within a guaranteed share
goes first at every level. Inside a leaf the order is the leaf's own.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from fairway.domain.quota.charge import quota_key
from fairway.domain.quota.node_terms import weight
from fairway.domain.quota.tree import MAX_JOBS, QuotaNode
from fairway.domain.resources import Resources

_MILLION = 1_000_000
# Of a child without weight: it has what nobody else wants.
_LAST = 1 << 62


class LeafHead(Struct, frozen=True):
    """The next job of a leaf: what it asks for, the priority of its queue, whether it is within a guaranteed share, and
    its place among others of the leaf, which decides between equal shares."""

    name: str
    leaf: str
    asks: Resources
    queue_priority: int
    guaranteed: bool
    place: tuple[int, ...]


Rank = tuple[bool, int, int, tuple[int, ...], str]


def totals(tree: QuotaNode) -> Resources:
    """What shares are of: the max of the root, else its min."""
    return {**tree.min, **tree.max}


def share(node: QuotaNode, asks: Resources, usage: Mapping[str, int], whole: Resources) -> int:
    """Of a child with this asked for besides, in millionths of the whole by its weight."""
    above = 0
    for name, amount in asks.items():
        total = whole.get(name, 0)
        if amount and total and name != MAX_JOBS:
            used = usage.get(quota_key(node.path, name), 0) + amount - node.min.get(name, 0)
            above = max(above, max(0, used) * _MILLION // total)
    return above // heavy if (heavy := weight(node)) else (_LAST if above else 0)


def present_share(node: QuotaNode, usage: Mapping[str, int], whole: Resources) -> int:
    """The share that a child has now, as `share` counts it; -1: it has some without any weight."""
    used = {name: amount for name in whole if (amount := usage.get(quota_key(node.path, name), 0))}
    now = share(node, used, {}, whole)
    return now if now != _LAST else -1


def first(tree: QuotaNode, heads: Mapping[str, LeafHead], usage: Mapping[str, int]) -> LeafHead | None:
    """Of these heads by the path of their leaves, the one whose turn it is. Leaves that the tree has not come last, in
    the order of their places."""
    whole = totals(tree)
    found = _below(tree, heads, lambda node, head: _rank(node, head, usage, whole))
    if found is not None:
        return found
    return min(heads.values(), key=lambda head: (head.place, head.name), default=None)


def _rank(node: QuotaNode, head: LeafHead, usage: Mapping[str, int], whole: Resources) -> Rank:
    return (
        not head.guaranteed,
        -head.queue_priority,
        share(node, head.asks, usage, whole),
        head.place,
        head.name,
    )


def _below(
    node: QuotaNode, heads: Mapping[str, LeafHead], rank: Callable[[QuotaNode, LeafHead], Rank]
) -> LeafHead | None:
    if not node.children:
        return heads.get(node.path)
    able = [(child, found) for child in node.children if (found := _below(child, heads, rank)) is not None]
    return min(able, key=lambda one: rank(*one))[1] if able else None


def in_turn(tree: QuotaNode, jobs: Sequence[LeafHead], usage: Mapping[str, int]) -> list[LeafHead]:
    """All of them, as they would go one after the other if each were let go; those of one leaf in the order given."""
    lines: dict[str, list[LeafHead]] = {}
    for job in jobs:
        lines.setdefault(job.leaf, []).append(job)
    used = dict(usage)
    paths = _paths(tree, ())
    found = []
    while lines:
        head = first(tree, {leaf: line[0] for leaf, line in lines.items()}, used)
        assert head is not None, "somebody is left"
        found.append(head)
        lines[head.leaf].pop(0)
        if not lines[head.leaf]:
            del lines[head.leaf]
        for node in paths.get(head.leaf, ()):
            for name, amount in head.asks.items():
                key = quota_key(node, name)
                used[key] = used.get(key, 0) + amount
    return found


def _paths(node: QuotaNode, above: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The paths of nodes from the root to each leaf, by the leaf's."""
    here = (*above, node.path)
    if not node.children:
        return {node.path: here}
    return {leaf: path for child in node.children for leaf, path in _paths(child, here).items()}
