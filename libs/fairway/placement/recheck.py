"""The reserver's second look: do the slots that the scheduler proposed still hold on fresh data?"""

from collections.abc import Mapping, Sequence, Set

import msgspec

from fairway.domain.resources import fits
from fairway.placement.cluster import ClusterView, taken
from fairway.placement.constraints import admits
from fairway.placement.fit import Plan, Shortfall, place
from fairway.placement.shapes import Ask, ask, shape
from fairway.wire.capacity import Slot
from fairway.wire.workload import Workload


def recheck(
    cluster: ClusterView, workload: Workload, slots: Sequence[Slot], otherwise: ClusterView | None = None
) -> Plan | Shortfall:
    """The proposed slots as a plan if on this data they still hold at least the gang; else a fresh `fit`, on this data
    or what it is `otherwise`.

    The view must not count this attempt already (drop its key first).
    """
    asked = ask(workload)
    if _is_gang(asked, slots) and _admitted(cluster, workload, slots) and _has_room(cluster, workload, slots):
        return Plan(tuple(slots), sum(slot.count for slot in slots))
    return place(otherwise or cluster, asked)


def without(cluster: ClusterView, keys: Mapping[str, Set[str]]) -> ClusterView:
    """Of the cluster these nodes alone, each without what these keys hold there."""
    view = ClusterView(cluster.info)
    for name in sorted(keys):
        node = cluster.by_name.get(name)
        if node is not None:
            holds = {key: held for key, held in node.holds.items() if key not in keys[name]}
            view.put(msgspec.structs.replace(node, holds=holds))
    return view


def _is_gang(asked: Ask, slots: Sequence[Slot]) -> bool:
    """Every part has its share, and no pod set has more pods than it asks for."""
    counts: dict[str, int] = {}
    for slot in slots:
        counts[slot.pods] = counts.get(slot.pods, 0) + slot.count
    if any(slot.count <= 0 for slot in slots):
        return False
    known = dict(pair for named in asked.sets for pair in named)
    if any(count > known.get(name, 0) for name, count in counts.items()):
        return False
    return all(
        sum(counts.get(name, 0) for name, _ in named) >= part.needed
        for named, part in zip(asked.sets, asked.demand.parts, strict=True)
    )


def _admitted(cluster: ClusterView, workload: Workload, slots: Sequence[Slot]) -> bool:
    shapes = {pods.name: shape(pods) for pods in workload.pod_sets}
    nodes = cluster.by_name
    return all(slot.node in nodes and admits(shapes[slot.pods].where, nodes[slot.node])[0] for slot in slots)


def _has_room(cluster: ClusterView, workload: Workload, slots: Sequence[Slot]) -> bool:
    for name, amounts in taken(slots, {pods.name: pods.requests for pods in workload.pod_sets}).items():
        free = cluster.free(name)
        if not fits({one: amount for one, amount in amounts.items() if one != "pods" or one in free}, free):
            return False
    return True
