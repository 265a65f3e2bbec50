"""A member may put pods on other nodes than were planned. Where that overfills a node on paper, the pods that are still
to come are planned onto nodes that have the room: else it would be promised once more. Pure."""

from collections.abc import Iterable, Mapping

import msgspec

from fairway.domain.ledger import Hold, holds_of
from fairway.domain.resources import Resources, add, fits
from fairway.wire.capacity import Node, Slot

# It differs from node to node and says nothing about what a node is.
_HOSTNAME = "kubernetes.io/hostname"


def left(node: Node) -> Resources:
    """Allocatable less what others use and what our attempts hold; negative on an overfull node."""
    rest = add(node.allocatable, node.used, -1)
    for amounts in node.holds.values():
        rest = add(rest, amounts, -1)
    return {name: rest[name] for name in node.allocatable}


def relocated(
    names: Iterable[str], nodes: Mapping[str, Node], ledger: Mapping[str, Hold]
) -> tuple[dict[str, Node], dict[str, Hold]]:
    """The nodes and the holds that change when the overfull ones among `names` give up pods that nobody has seen yet.
    What fits on no other node of the same kind stays where it is: then the cluster really has too little."""
    now, moved = dict(nodes), dict[str, Hold]()
    for name in sorted(names):
        for key in sorted(now[name].holds) if name in now else ():
            hold = moved.get(key) or ledger.get(key)
            while hold is not None and _overfull(now[name]) and (better := _elsewhere(key, hold, name, now)):
                hold = moved[key] = better
                now = _laid(key, hold, now)
    return {name: node for name, node in now.items() if node is not nodes[name]}, moved


def _overfull(node: Node) -> bool:
    return any(amount < 0 for amount in left(node).values())


def _elsewhere(key: str, hold: Hold, name: str, nodes: Mapping[str, Node]) -> Hold | None:
    """The hold with one pod planned for this node, and not seen there, planned for another."""
    for slot in hold.slots:
        pods = nodes[name].attempts.get(key)
        seen = pods.counts.get(slot.pods, 0) if pods else 0
        if slot.node != name or slot.count <= seen:
            continue
        one = hold.requests.get(slot.pods, {})
        for other in sorted(nodes):
            if other != name and _alike(nodes[other], nodes[name]) and fits(one, left(nodes[other])):
                return msgspec.structs.replace(hold, slots=_shifted(hold.slots, slot, other))
    return None


def _alike(one: Node, other: Node) -> bool:
    """Whether pods that may be on one may be on the other: the ledger does not know their constraints."""
    labels = [{**node.labels, _HOSTNAME: ""} for node in (one, other)]
    same = labels[0] == labels[1] and one.allocatable.keys() == other.allocatable.keys()
    return same and one.schedulable and one.taints == other.taints


def _shifted(slots: tuple[Slot, ...], slot: Slot, node: str) -> tuple[Slot, ...]:
    """One pod of `slot` on another node."""
    counts = {(one.pods, one.node): one.count for one in slots}
    counts[slot.pods, slot.node] -= 1
    counts[slot.pods, node] = counts.get((slot.pods, node), 0) + 1
    return tuple(Slot(pods, where, count) for (pods, where), count in counts.items() if count)


def _laid(key: str, hold: Hold, nodes: dict[str, Node]) -> dict[str, Node]:
    """The nodes with what the attempt takes on each worked out anew."""
    wanted = holds_of(key, hold, nodes)
    for name, node in list(nodes.items()):
        holds = {other: amount for other, amount in node.holds.items() if other != key}
        if wanted.get(name):
            holds[key] = wanted[name]
        if holds != node.holds:
            nodes[name] = msgspec.structs.replace(node, holds=holds)
    return nodes
