"""Leaves that use more than their min, and so may have to give back. Of one look for claims: worked out once. Pure."""

from msgspec import Struct

from fairway.domain.preemption.precedence import lenders
from fairway.domain.quota.charge import quota_key
from fairway.domain.quota.node_terms import weight
from fairway.domain.quota.tree import QuotaNode, QuotaPath
from fairway.domain.resources import Resources
from fairway.queue.standing import Standings

MILLION = 1_000_000
_Resources = tuple[str, ...]


class LendingLeaf(Struct, frozen=True):
    """A leaf over its min: the nodes `below` what it has in common with who asks back, itself the last; and how much it
    has borrowed by its weight, in millionths of the whole fleet."""

    below: QuotaPath
    borrowed: int


class LendingLeaves:
    """By what is used when it is made. A claim that begins in the same look counts as charged then, and would make its
    own leaf one that has borrowed."""

    def __init__(self, stands: Standings) -> None:
        self._stands = stands
        self._usage = dict(stands.usage)
        self._over: dict[tuple[str, _Resources], Resources] = {}
        self._paths: dict[_Resources, list[tuple[QuotaPath, int]]] = {}

    def of(self, own: tuple[str, ...], asked: _Resources) -> list[LendingLeaf]:
        """Those from whom a job of the path `own` may get these resources back: who has borrowed most first."""
        found = []
        for path, borrowed in self._leaves(asked):
            count = len(lenders(own, tuple(node.path for node in path)))
            below = path[len(path) - count :]
            if below and all(self.over(node, asked) for node in below):
                found.append(LendingLeaf(below, borrowed))
        return found

    def over(self, node: QuotaNode, asked: _Resources) -> Resources:
        """By how much the node is over its min, of what is asked back; only where it is."""
        key = (node.path, asked)
        if key not in self._over:
            amounts = {name: self._usage.get(quota_key(node.path, name), 0) - node.min.get(name, 0) for name in asked}
            self._over[key] = {name: amount for name, amount in amounts.items() if amount > 0}
        return self._over[key]

    def _leaves(self, asked: _Resources) -> list[tuple[QuotaPath, int]]:
        if asked not in self._paths:
            active = self._stands.active
            found = []
            for leaf, placed in active.placed.items():
                path = tuple(self._stands.nodes(active.entries[placed[0][-1]].path))
                if path and path[-1].path == leaf and self.over(path[-1], asked):
                    found.append((path, self._borrowed(path[-1], asked)))
            self._paths[asked] = sorted(found, key=lambda one: (-one[1], one[0][-1].path))
        return self._paths[asked]

    def _borrowed(self, leaf: QuotaNode, asked: _Resources) -> int:
        whole = self._stands.view.tree
        total = whole.min if whole is not None else {}
        over = self.over(leaf, asked)
        shares = [amount * MILLION // max(1, total.get(name, amount)) for name, amount in over.items()]
        return max(shares, default=0) // max(1, weight(leaf))
