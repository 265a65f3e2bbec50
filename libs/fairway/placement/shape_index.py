"""The shape index of one cluster: how many pods of each shape every node can still take, and the sum.

A gang of g equal pods fits a cluster node by node exactly when the sum is g or more, so a decision reads one
number. A changed node costs one recount per shape that is asked about again.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from fairway.domain.resources import Resources
from fairway.placement.constraints import lasting, node_matches, untolerated
from fairway.placement.shapes import Amounts, Shape, Where
from fairway.wire.capacity import Node

# What a kubelet takes when nothing else limits it (its default --max-pods).
MAX_PODS = 110
_NO_LIMIT = 1 << 62


class NodeState(Struct, gc=False):
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
        count = _NO_LIMIT if requests else MAX_PODS * self.nodes
        least = "pods"
        if not self.unlisted:
            count = amounts.get("pods", 0) - used.get("pods", 0)
        for name, amount in requests:
            here = (amounts.get(name, 0) - used.get(name, 0)) // amount
            if here < count:
                count = here
                least = name
        return max(count, 0), least


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

    def refresh(self, states: Mapping[str, NodeState], changed: Iterable[str], deep: Mapping[str, None]) -> None:
        """Count the changed nodes anew, and for the deeply changed decide anew whether they are admitted."""
        for name in changed:
            old = self.members.get(name)
            state = states.get(name)
            if old and state and name not in deep:
                if old[0]:
                    self.free.count(old[2], -1)
                    self.free.count(state.free, 1)
                    self.members[name] = (old[0], old[1], state.free, old[3])
                continue
            if old:
                self._account(old, -1)
                del self.members[name]
            if state:
                new = (*admits(self.where, state.node), state.free, state.node.allocatable)
                self.members[name] = new
                self._account(new, 1)

    def _account(self, member: tuple[bool, bool, Resources, Resources], sign: int) -> None:
        if member[0]:
            self.free.count(member[2], sign)
        if member[1]:
            self.whole.count(member[3], sign)


def admits(where: Where, node: Node) -> tuple[bool, bool]:
    """Whether such pods may be on this node now, and whether for good (cordons and passing taints set aside)."""
    if not node.taints and not where.selector and not where.terms:
        return node.schedulable, True
    if not node_matches(node, dict(where.selector), where.terms):
        return False, False
    if untolerated(lasting(node.taints), where.tolerations):
        return False, False
    return node.schedulable and not untolerated(node.taints, where.tolerations), True


Buckets = dict[int, set[str]]
# In place of a tier: the node is admitted but closed now (cordoned, or a passing taint).
CLOSED = 2


class ShapeCounts:
    """One shape on one cluster, node by node.

    `total` pods fit now, `ever` on the empty cluster; `sizes` counts the nodes by what they hold when empty.
    `tiers` groups node names by their count: first the nodes that have nothing this pod does not ask
    for, then those whose GPUs (or other extended resources) it would leave unusable; `plain` is the total of
    the first tier.
    """

    __slots__ = (
        *("where", "requests", "asks"),
        *("seen", "touched"),
        *("counts", "fixed", "tiers", "sizes"),
        *("total", "plain", "ever"),
    )

    def __init__(self, shape: Shape) -> None:
        self.where = shape.where
        self.requests = shape.requests
        # Extended resources first: a node without a free GPU is done after one division.
        self.asks = sorted(shape.requests, key=lambda one: "/" not in one[0])
        self.seen = self.touched = -1
        self.counts: dict[str, int] = {}
        self.fixed: dict[str, tuple[int, int]] = {}  # admitted nodes: pods when empty, tier
        self.tiers: tuple[Buckets, Buckets] = ({}, {})
        self.total = self.plain = self.ever = 0
        self.sizes: dict[int, int] = {}

    def renew(self, name: str, state: NodeState | None, region: Region) -> None:
        """The node came, went, or changed in more than what is free: take it out and in again."""
        if name in self.fixed:
            before, tier = self.fixed.pop(name)
            self._ever(before, -1)
            old = self.counts.pop(name)
            if old:
                self._move(name, tier, old, 0)
        if state is None or not region.members[name][1]:
            return
        ever = room(self.requests, state.node.allocatable)
        asked = dict(self.requests)
        tier = int(any(one not in asked for one in state.extended))
        self.fixed[name] = (ever, tier if region.members[name][0] else CLOSED)
        self.counts[name] = 0
        self._ever(ever, 1)

    def recount(self, states: Mapping[str, NodeState], names: Iterable[str]) -> None:
        """Count the pods again on nodes whose free amounts changed. The hot loop of placement: `room` is
        written out here, with an end at the first resource that has nothing left."""
        fixed = self.fixed
        counts = self.counts
        asks = self.asks
        limit = _NO_LIMIT if asks else MAX_PODS
        for name in names:
            known = fixed.get(name)
            if known is None or known[1] == CLOSED:
                continue
            free = states[name].free
            count = free.get("pods", limit)
            for resource, amount in asks:
                here = free.get(resource, 0) // amount
                if here < count:
                    count = here
                    if here <= 0:
                        break
            if count < 0:
                count = 0
            old = counts[name]
            if count != old:
                counts[name] = count
                self._move(name, known[1], old, count)

    def _move(self, name: str, tier: int, old: int, count: int) -> None:
        self.total += count - old
        if not tier:
            self.plain += count - old
        move(self.tiers[tier], name, old, count)

    def _ever(self, ever: int, sign: int) -> None:
        self.ever += sign * ever
        nodes = self.sizes[ever] = self.sizes.get(ever, 0) + sign
        if not nodes:
            del self.sizes[ever]


def move(buckets: Buckets, name: str, old: int, count: int) -> None:
    """Move a node from the bucket of its old count to that of the new; nothing is kept for a count of 0."""
    if old:
        names = buckets[old]
        names.remove(name)
        if not names:
            del buckets[old]
    if count:
        if count in buckets:
            buckets[count].add(name)
        else:
            buckets[count] = {name}


def extended(allocatable: Iterable[tuple[str, int]]) -> frozenset[str]:
    """The extended resources a node has: GPUs, network cards, whatever carries a domain."""
    return frozenset(name for name, amount in allocatable if amount > 0 and "/" in name)
