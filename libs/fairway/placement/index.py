"""The shape index of one cluster: how many pods of each shape every node can still take, and the sum.

A gang of g equal pods fits a cluster node by node exactly when the sum is g or more, so a decision reads one
number. A changed node costs one recount per shape that is asked about again.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from functools import lru_cache

from msgspec import Struct

from fairway.domain.resources import Resources
from fairway.placement.constraints import lasting, node_matches, untolerated
from fairway.placement.shapes import Amounts, Shape, Where
from fairway.wire.capacity import Node

# What a kubelet takes when nothing else limits it (its default --max-pods).
MAX_PODS = 110
_NO_LIMIT = 1 << 62


class State(Struct, gc=False):
    """A node and what is free on it: allocatable - used - holds - placements assumed but not yet seen."""

    node: Node
    free: Resources
    extended: frozenset[str]


def room(requests: Amounts, free: Mapping[str, int]) -> int:
    """How many pods with these requests fit in `free`, each taking one of `pods` where the node lists it."""
    least = free.get("pods", _NO_LIMIT if requests else MAX_PODS)
    for name, amount in requests:
        count = free.get(name, 0) // amount
        if count < least:
            if count <= 0:
                return 0
            least = count
    return least if least > 0 else 0


class Sum:
    """Amounts summed over nodes; `unlisted` of the nodes do not limit `pods`."""

    __slots__ = ("amounts", "nodes", "unlisted")

    def __init__(self) -> None:
        self.amounts: Resources = {}
        self.nodes = self.unlisted = 0

    def count(self, amounts: Resources, sign: int) -> None:
        """Add (1) or take away (-1) a node; an overcommitted resource counts as nothing free."""
        total = self.amounts
        for name, amount in amounts.items():
            total[name] = total.get(name, 0) + (sign * amount if amount > 0 else 0)
        self.nodes += sign
        if "pods" not in amounts:
            self.unlisted += sign

    def pods(self, requests: Amounts, used: Mapping[str, int]) -> tuple[int, str]:
        """How many pods fit if this, less `used`, were one big node; and the resource that ends first."""
        amounts = self.amounts
        counts = [((amounts.get(name, 0) - used.get(name, 0)) // amount, name) for name, amount in requests]
        if not self.unlisted:
            counts.append((amounts.get("pods", 0) - used.get("pods", 0), "pods"))
        count, name = min(counts, key=lambda one: one[0], default=(MAX_PODS * self.nodes, "pods"))
        return max(count, 0), name


class Region:
    """The nodes that one `Where` admits: what is `free` on those open now, and what all of them have for good
    (`whole`: cordons and passing taints set aside)."""

    __slots__ = ("free", "members", "seen", "where", "whole")

    def __init__(self, where: Where) -> None:
        self.where = where
        self.seen = -1
        # name -> (open now, admitted for good, the free and allocatable amounts in the sums)
        self.members: dict[str, tuple[bool, bool, Resources, Resources]] = {}
        self.free = Sum()
        self.whole = Sum()

    def refresh(self, states: Mapping[str, State], changed: Mapping[str, bool]) -> None:
        """Count the changed nodes anew; the value says whether more than the free amounts changed."""
        for name, deep in changed.items():
            old, state = self.members.get(name), states.get(name)
            if old and state and not deep:
                if old[0]:
                    self.free.count(old[2], -1)
                    self.free.count(state.free, 1)
                self.members[name] = (old[0], old[1], state.free, old[3])
                continue
            if old:
                self._account(old, -1)
                del self.members[name]
            if state:
                new = (*self._admits(state.node), state.free, state.node.allocatable)
                self.members[name] = new
                self._account(new, 1)

    def _account(self, member: tuple[bool, bool, Resources, Resources], sign: int) -> None:
        if member[0]:
            self.free.count(member[2], sign)
        if member[1]:
            self.whole.count(member[3], sign)

    def _admits(self, node: Node) -> tuple[bool, bool]:
        where = self.where
        if not node_matches(node, dict(where.selector), where.terms):
            return False, False
        if untolerated(lasting(node.taints), where.tolerations):
            return False, False
        return node.schedulable and not untolerated(node.taints, where.tolerations), True


Entry = tuple[int, int, int]
Buckets = dict[int, list[str]]


@lru_cache(maxsize=8192)
def _entry(count: int, ever: int, tier: int) -> Entry:
    """Equal entries share one object: a large fleet has millions of them and few that differ."""
    return count, ever, tier


class Row:
    """One shape on one cluster, node by node.

    `total` pods fit now, `ever` on the empty cluster; `sizes` counts the nodes by what they hold when empty.
    `tiers` groups node names by their count, sorted: first the nodes that have nothing this pod does not ask
    for, then those whose GPUs (or other extended resources) it would leave unusable; `plain` is the total of
    the first tier.
    """

    __slots__ = (
        "entries",
        "ever",
        "main",
        "plain",
        "region",
        "requests",
        "seen",
        "sizes",
        "tiers",
        "total",
    )

    def __init__(self, shape: Shape, region: Region) -> None:
        self.main = (shape.main, dict(shape.requests).get(shape.main, 1))
        self.requests = shape.requests
        self.region = region
        self.seen = -1
        self.entries: dict[str, Entry] = {}
        self.tiers: tuple[Buckets, Buckets] = ({}, {})
        self.total = self.plain = self.ever = 0
        self.sizes: dict[int, int] = {}

    def refresh(self, states: Mapping[str, State], changed: Mapping[str, bool]) -> None:
        for name, deep in changed.items():
            old = self.entries.get(name)
            new = self._count(states.get(name), None if deep else old)
            if new is old:
                continue
            if old:
                self._account(name, old, -1)
                del self.entries[name]
            if new:
                self.entries[name] = new
                self._account(name, new, 1)

    def _count(self, state: State | None, old: Entry | None) -> Entry | None:
        member = state and self.region.members.get(state.node.name)
        if state is None or not member or not member[1]:
            return None
        count = room(self.requests, state.free) if member[0] else 0
        if old:
            return old if count == old[0] else _entry(count, old[1], old[2])
        ever = room(self.requests, state.node.allocatable)
        tier = any(name not in dict(self.requests) for name in state.extended)
        return _entry(count, ever, int(tier))

    def _account(self, name: str, entry: Entry, sign: int) -> None:
        count, ever, tier = entry
        self.ever += sign * ever
        nodes = self.sizes[ever] = self.sizes.get(ever, 0) + sign
        if not nodes:
            del self.sizes[ever]
        if not count:
            return
        self.total += sign * count
        if not tier:
            self.plain += sign * count
        move(self.tiers[tier], name, count, sign)


def move(buckets: Buckets, name: str, count: int, sign: int) -> None:
    """Put a node into (1) or take it out of (-1) the bucket of its count; empty buckets go away."""
    if sign > 0:
        insort(buckets.setdefault(count, []), name)
        return
    names = buckets[count]
    if len(names) == 1:
        del buckets[count]
    else:
        del names[bisect_left(names, name)]


def extended(allocatable: Iterable[tuple[str, int]]) -> frozenset[str]:
    """The extended resources a node has: GPUs, network cards, whatever carries a domain."""
    return frozenset(name for name, amount in allocatable if amount > 0 and "/" in name)
