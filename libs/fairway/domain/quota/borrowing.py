"""Who has borrowed what, and of whom, as it is now; and mins that the fleet cannot back. Pure."""

from collections.abc import Mapping

from msgspec import Struct

from fairway.domain.quota.charge import quota_key
from fairway.domain.quota.fair_order import present_share, totals
from fairway.domain.quota.node_terms import withheld
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources


class NodeBalance(Struct, frozen=True):
    """Of a quota node: what it uses above its min, what of its min others use, and its share of what is above mins, in
    millionths of the whole by its weight (-1: it has some without any weight)."""

    borrowed: Resources = {}
    lent: Resources = {}
    share: int = 0


class Unbacked(Struct, frozen=True):
    """Of a resource: what the mins below the root add up to, and what the fleet has, which is less."""

    min: int
    fleet: int


def balances(tree: QuotaNode, usage: Mapping[str, int]) -> dict[str, NodeBalance]:
    """By path. A node whose min is used by several others is not asked for whom: of nodes that lend to the same
    siblings each lends in proportion to what it could."""
    lent: dict[str, Resources] = {}
    whole = totals(tree)
    _lend(tree, usage, whole, lent)
    found: dict[str, NodeBalance] = {}
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        nodes += node.children
        borrowed = {name: amount for name in _names(node, usage) if (amount := _used(node, usage, name, node.min)) > 0}
        share = present_share(node, usage, whole) if node is not tree else 0
        found[node.path] = NodeBalance({} if node is tree else borrowed, lent.get(node.path, {}), share)
    return found


def _used(node: QuotaNode, usage: Mapping[str, int], name: str, less: Resources) -> int:
    return usage.get(quota_key(node.path, name), 0) - less.get(name, 0)


def _names(node: QuotaNode, usage: Mapping[str, int]) -> list[str]:
    return [name for name in sorted({*node.min, *node.max}) if usage.get(quota_key(node.path, name))]


def _lend(node: QuotaNode, usage: Mapping[str, int], own: Resources, lent: dict[str, Resources]) -> None:
    """`own` is what the node has itself: its min, and the root all that there is."""
    for name in sorted({name for child in node.children for name in child.min}):
        borrowed = sum(max(0, _used(child, usage, name, child.min)) for child in node.children)
        spare = own.get(name, 0) - sum(child.min.get(name, 0) for child in node.children)
        above = max(0, _used(node, usage, name, own))
        total = borrowed + lent.get(node.path, {}).get(name, 0) - max(0, spare) - above
        idle = {child.path: _idle(child, usage, name) for child in node.children}
        left = sum(idle.values())
        total = max(0, min(total, left))
        for path, amount in idle.items():
            if given := total * amount // left if left else 0:
                lent.setdefault(path, {})[name] = given
                total -= given
            left -= amount
    for child in node.children:
        _lend(child, usage, child.min, lent)


def _idle(node: QuotaNode, usage: Mapping[str, int], name: str) -> int:
    """How much of its min it neither uses nor keeps for itself."""
    used = usage.get(quota_key(node.path, name), 0)
    return max(0, node.min.get(name, 0) - max(used, withheld(node).get(name, 0)))


def unbacked(tree: QuotaNode, fleet: Resources) -> dict[str, Unbacked]:
    """By resource, where the fleet has less than is guaranteed."""
    guaranteed: Resources = {}
    for node in tree.children or (tree,):
        for name, amount in node.min.items():
            guaranteed[name] = guaranteed.get(name, 0) + amount
    return {
        name: Unbacked(amount, fleet.get(name, 0))
        for name, amount in sorted(guaranteed.items())
        if amount > fleet.get(name, 0)
    }
