"""Freed room: whether a step leaves more of anything free than there was, and the word that says so."""

from collections.abc import Iterable, Mapping

import msgspec

from fairway.domain import decision
from fairway.domain.decision import Add, Heard, Put, Say, Step
from fairway.domain.events import message_id
from fairway.domain.preemption.claim import is_claims
from fairway.domain.reservations import Hold, left_on, not_there_yet
from fairway.placement.room_sums import RoomSums, free_on
from fairway.reserver.node_rows import Capacity
from fairway.wire import fleet, subjects
from fairway.wire.capacity import ClusterInfo, Node


def more_room(before: Mapping[str, Node], nodes: Iterable[Node]) -> bool:
    """Whether any node has more of anything free than it had."""
    for node in nodes:
        old = before.get(node.name)
        was = free_on(old) if old else {}
        if any(amount > was.get(name, 0) for name, amount in free_on(node).items()):
            return True
        if old and (old.labels, old.taints) != (node.labels, node.taints):
            return True
    return False


def _labels(view: Capacity, step: Step, cluster: str) -> dict[str, str]:
    """As they are after the step."""
    for write in step.writes:
        if isinstance(write, Put) and write.table == decision.CLUSTERS and write.value is not None:
            info: ClusterInfo = write.value
            return info.labels
    return view.clusters[cluster].info.labels if cluster in view.clusters else {}


def _ready(view: Capacity, step: Step, cluster: str, nodes: Mapping[str, Node]) -> tuple[str, ...]:
    """The jobs for whose claims room is kept there, all of which is free with this step."""
    kept = dict(view.claims.get(cluster, {}))
    for write in step.writes:
        if isinstance(write, Put) and write.table == decision.ledger(cluster) and is_claims(write.key):
            kept[write.key] = write.value
    still = {key: hold for key, hold in sorted(kept.items()) if hold is not None}
    return tuple(key.partition("/")[0] for key in still if is_free(key, still, nodes))


def is_free(key: str, kept: Mapping[str, Hold], nodes: Mapping[str, Node]) -> bool:
    """Whether nobody else has anything of what is kept under this key, and its nodes take pods."""
    return all(_free_on(key, nodes.get(slot.node), kept) for slot in kept[key].slots)


def _free_on(key: str, node: Node | None, kept: Mapping[str, Hold]) -> bool:
    if node is None or not node.schedulable or key not in node.holds:
        return False
    waits = not_there_yet(node, key, kept)
    holds = {one: held for one, held in node.holds.items() if one not in waits}
    left = left_on(msgspec.structs.replace(node, holds=holds) if waits else node)
    return all(left.get(name, 0) >= 0 for name, amount in node.holds[key].items() if amount)


def with_freed(view: Capacity, step: Step, heard: Heard[object], cluster: str, now: int) -> Step:
    """The step, counted and told as one that makes room."""
    nodes = dict(view.clusters[cluster].by_name) if cluster in view.clusters else {}
    for write in step.writes:
        if isinstance(write, Put) and write.table == decision.nodes(cluster):
            if write.value is None:
                nodes.pop(write.key, None)
            else:
                nodes[write.key] = write.value
    sums = view.sums.setdefault(cluster, RoomSums())
    sums.follow(nodes)
    total, largest = sums.free_now()
    count = view.freed.get(cluster, 0) + 1
    labels = _labels(view, step, cluster)
    ready = _ready(view, step, cluster, nodes)
    freed = fleet.Freed(at=now, cluster=cluster, free=total, largest=largest, count=count, labels=labels, ready=ready)
    # Several steps of one decision may free room of one cluster: of different lines of its ledger.
    of = [write.key for write in step.writes if isinstance(write, Put) and write.table == decision.ledger(cluster)]
    name = message_id("reserver", heard.id, "freed", cluster, *of)
    say = Say(name, subjects.cluster("freed", cluster), freed)
    return Step((*step.writes, Add(decision.FREED, cluster, 1)), (*step.events, say))
