"""What a cluster's nodes have together, kept up to what changed of them: a node that changed is another value."""

from collections.abc import Mapping

from msgspec import Struct, field

from fairway.domain.reservations import left_on
from fairway.domain.resources import Resources
from fairway.wire.capacity import Node


def free_on(node: Node) -> Resources:
    """What may be taken of it: nothing of one that is cordoned."""
    return left_on(node) if node.schedulable else {}


class RoomSums(Struct):
    """`counted` are the nodes that are in the sums, `frees` what each of them has free, and `nodes` how many can have
    anything of a resource free. `closed` take nothing."""

    counted: dict[str, Node] = field(default_factory=dict)
    frees: dict[str, Resources] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    allocatable: Resources = field(default_factory=dict)
    used: Resources = field(default_factory=dict)
    held: Resources = field(default_factory=dict)
    free: Resources = field(default_factory=dict)
    largest: Resources = field(default_factory=dict)
    closed: int = 0

    def follow(self, nodes: Mapping[str, Node]) -> None:
        counted = self.counted
        changed = [name for name, node in nodes.items() if counted.get(name) is not node]
        if not changed and len(counted) == len(nodes):
            return
        doubtful: set[str] = set()
        for name in [*changed, *(counted.keys() - nodes.keys())]:
            if (before := counted.pop(name, None)) is not None:
                self._add(before, -1)
                doubtful |= self._take(name)
        for name in changed:
            counted[name] = nodes[name]
            self._add(nodes[name], 1)
            self._give(name, nodes[name])
        for resource in doubtful:
            self.largest[resource] = max((one.get(resource, 0) for one in self.frees.values()), default=0)

    def free_now(self) -> tuple[Resources, Resources]:
        """What is free in all, and on the node that has most, of each resource that any open node has."""
        names = sorted(name for name, count in self.nodes.items() if count)
        return {name: self.free[name] for name in names}, {name: max(0, self.largest[name]) for name in names}

    def _add(self, node: Node, sign: int) -> None:
        sums = [(self.allocatable, node.allocatable), (self.used, node.used)]
        for into, amounts in (*sums, *((self.held, one) for one in node.holds.values())):
            _add(into, amounts, sign)
        self.closed += 0 if node.schedulable else sign

    def _take(self, name: str) -> set[str]:
        """The resources of which it may have had most."""
        free = self.frees.pop(name)
        _add(self.free, {one: max(0, amount) for one, amount in free.items()}, -1)
        _add(self.nodes, dict.fromkeys(free, 1), -1)
        return {one for one, amount in free.items() if amount >= self.largest[one]}

    def _give(self, name: str, node: Node) -> None:
        free = self.frees[name] = free_on(node)
        _add(self.free, {one: max(0, amount) for one, amount in free.items()}, 1)
        _add(self.nodes, dict.fromkeys(free, 1), 1)
        for one, amount in free.items():
            self.largest[one] = max(self.largest.get(one, amount), amount)


def _add(sums: dict[str, int], amounts: Mapping[str, int], sign: int) -> None:
    for name, amount in amounts.items():
        sums[name] = sums.get(name, 0) + sign * amount
