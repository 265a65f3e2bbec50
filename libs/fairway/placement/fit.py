"""The one fit function: can this cluster hold this gang, node by node, and where exactly?

The scheduler asks it on its snapshot, the reserver asks it again on fresh data. Exact for pods of one shape:
they fit when the sum of the nodes' counts is enough. For several shapes see `bins`.
"""

from collections.abc import Sequence

from msgspec import Struct

from fairway.domain.resources import Resources
from fairway.placement.bin_packing import attempt, extend, most
from fairway.placement.cluster import ClusterView
from fairway.placement.node_packing import Placed, pack
from fairway.placement.shape_index import ShapeCounts
from fairway.placement.shapes import Ask, Demand, Where, ask, words
from fairway.wire.capacity import Slot
from fairway.wire.reasons import Code
from fairway.wire.workload import Workload

_NOTHING: Resources = {}
_CLOSED = "closed now (not ready, cordoned or under pressure): "


class Plan(Struct, frozen=True):
    """Where `pods` pods go. All of the workload when they fit; else the gang and whatever more fits."""

    slots: tuple[Slot, ...]
    pods: int


class Shortfall(Struct, frozen=True):
    """Why a gang of `needed` pods does not fit; all numbers but `nodes` and `closed` are pods.

    `by_node` fit node by node, `by_sum` would fit if all free amounts (for NEVER_FITS: all there are) were
    on one node, `at_most` if the cluster were empty; `nodes` admit such pods, and `closed` of these
    take no new ones now. `lacking` is the resource whose sum ends first. For several shapes `by_node` is what the best
    try placed and `at_most` an upper bound.
    """

    code: Code
    needed: int
    by_node: int
    by_sum: int
    at_most: int
    nodes: int
    lacking: str
    asks: str
    closed: int = 0

    @property
    def ever(self) -> bool:
        """False when this cluster could not hold the gang even when empty."""
        return self.code is not Code.NEVER_FITS

    @property
    def text(self) -> str:
        """The sentence with the numbers."""
        if self.code is not Code.NEVER_FITS:
            would = f"by sum of free resources {self.by_sum} would ({self.lacking} ends first)"
            closed = f"; {_CLOSED}{self.closed} of its matching nodes" if self.closed else ""
            return f"needs {self.asks}; node by node {self.by_node} fit, {would}{closed}"
        if not self.nodes:
            return f"needs {self.asks}; no node there is one that all these pods may be on"
        if not self.at_most:
            return f"needs {self.asks}; none of the {self.nodes} matching nodes is large enough for one"
        held = f"{self.at_most} node by node, {self.by_sum} by sum of resources"
        return f"needs {self.asks}; even empty the cluster would hold {held}"


def fit(cluster: ClusterView, workload: Workload) -> Plan | Shortfall:
    """A plan for the whole workload if it fits, else for its gang and what more fits, else what is missing.

    The gang is `workload.gang_minimum` pods; each set's share is taken in manifest order (`shapes.ask`).
    """
    return place(cluster, ask(workload))


def place(cluster: ClusterView, asked: Ask) -> Plan | Shortfall:
    """`fit` for a workload that was read already."""
    parts = asked.demand.parts
    rows = [cluster.row(part.shape) for part in parts]
    if len(parts) == 1:
        placed = pack(rows[0], min(parts[0].wanted, max(rows[0].total, parts[0].needed)))
        return planned(asked, [placed]) if placed is not None else shortfall(cluster, asked.demand)
    needs = tuple([part.needed for part in parts])
    wants = tuple([part.wanted for part in parts])
    found = attempt(cluster, rows, wants)
    if found is None and needs != wants:
        found = attempt(cluster, rows, needs)
        if found is not None:
            found = extend(cluster, rows, found, wants)
    return planned(asked, found) if found is not None else shortfall(cluster, asked.demand)


def shortfall(cluster: ClusterView, demand: Demand) -> Shortfall:
    """The numbers behind a no."""
    rows = [cluster.row(part.shape) for part in demand.parts]
    if len(rows) == 1:
        by_node = rows[0].total
        at_most = rows[0].ever
        by_sum, lacking = _sum_of_one(cluster, rows[0], ever=at_most < demand.needed)
    else:
        by_node = most(cluster, rows, demand)
        by_sum, lacking = _by_sum(cluster, rows, demand, ever=True)
        each = sum(min(row.ever, part.needed) for row, part in zip(rows, demand.parts, strict=True))
        at_most = max(min(each, by_sum), by_node)
        if at_most >= demand.needed:
            by_sum, lacking = _by_sum(cluster, rows, demand, ever=False)
    by_sum = max(by_sum, by_node)
    code = Code.FRAGMENTED if by_sum >= demand.needed else Code.NOT_ENOUGH
    if at_most < demand.needed:
        code = Code.NEVER_FITS
    regions = [cluster.region(row.where) for row in rows]
    nodes = min(one.whole.nodes for one in regions)
    closed = max(one.whole.nodes - one.free.nodes for one in regions)
    return Shortfall(code, demand.needed, by_node, by_sum, at_most, nodes, lacking, words(demand), closed)


def _sum_of_one(cluster: ClusterView, row: ShapeCounts, ever: bool) -> tuple[int, str]:
    region = cluster.region(row.where)
    return (region.whole if ever else region.free).pods(row.requests, _NOTHING)


def _by_sum(cluster: ClusterView, rows: Sequence[ShapeCounts], demand: Demand, ever: bool) -> tuple[int, str]:
    """The pods that fit if the nodes each part may use were one node; and what ends first.

    Parts share the amounts only when they may use the same nodes: so a no is certain, whatever the packing.
    """
    used: dict[Where, Resources] = {}
    total = 0
    worst = (1 << 62, "")
    for row, part in zip(rows, demand.parts, strict=True):
        region = cluster.region(row.where)
        gone = used.setdefault(row.where, {})
        count, lacking = (region.whole if ever else region.free).pods(row.requests, gone)
        count = min(count, part.needed)
        worst = min(worst, (count - part.needed, lacking))
        total += count
        for name, amount in (*row.requests, ("pods", 1)):
            gone[name] = gone.get(name, 0) + amount * count
    return total, worst[1]


def planned(asked: Ask, placed: Sequence[Placed]) -> Plan:
    """The placed pods of each part, named: within a part, one pod set is complete before the next begins."""
    slots: list[Slot] = []
    for named, nodes in zip(asked.sets, placed, strict=True):
        if len(named) == 1:
            slots += [Slot(named[0][0], name, count) for name, count in nodes]
        else:
            slots += _named(named, nodes)
    return Plan(tuple(slots), sum(slot.count for slot in slots))


def _named(named: tuple[tuple[str, int], ...], nodes: Placed) -> list[Slot]:
    slots: list[Slot] = []
    sets = iter(named)
    name, left = next(sets)
    for node, count in nodes:
        rest = count
        while rest:
            while not left:
                name, left = next(sets)
            here = min(left, rest)
            slots.append(Slot(name, node, here))
            left -= here
            rest -= here
    return slots
