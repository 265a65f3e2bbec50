"""The one fit function: can this cluster hold this gang, node by node, and where exactly?

The scheduler asks it on its snapshot, the reserver asks it again on fresh data. Exact for pods of one shape:
they fit when the sum of the nodes' counts is enough. For several shapes see loops/bin_packing.py.
"""

from msgspec import Struct

from fairway.domain.batch_resources import PART_OF
from fairway.placement.cluster import ClusterView
from fairway.placement.engine.engine import Engine
from fairway.placement.loops.bin_packing import placed
from fairway.placement.shapes import Ask, ask, words
from fairway.placement.survey import room_of
from fairway.placement.verdicts.table import VerdictTable
from fairway.wire.capacity import Slot
from fairway.wire.reasons import Code
from fairway.wire.workload import Workload

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
        today = "; batch resources are counted as its nodes list them now" if self.lacking in PART_OF else ""
        if not self.at_most:
            return f"needs {self.asks}; none of the {self.nodes} matching nodes is large enough for one{today}"
        held = f"{self.at_most} node by node, {self.by_sum} by sum of resources"
        return f"needs {self.asks}; even empty the cluster would hold {held}{today}"


def fit(cluster: ClusterView, workload: Workload) -> Plan | Shortfall:
    """A plan for the whole workload if it fits, else for its gang and what more fits, else what is missing.

    The gang is `workload.gang_minimum` pods; each set's share is taken in manifest order (`shapes.ask`).
    """
    return place(cluster, ask(workload))


def place(cluster: ClusterView, asked: Ask) -> Plan | Shortfall:
    """`fit` for a workload that was read already."""
    engine = cluster.engine()
    said = room_of(engine, 0, asked.demand)
    plan = plan_in(engine, 0, asked, said)
    return plan if plan is not None else _shortfall(said, asked)


def plan_in(engine: Engine, slot: int, asked: Ask, said: VerdictTable) -> Plan | None:
    """Where all pods go, or else the gang and what more fits, in the cluster of this slot, which is the best one."""
    parts = asked.demand.parts
    if said.best is None:
        return None
    names = engine.rows.names[slot]
    if len(parts) == 1:
        at, pods = said.filled()
        return Plan(tuple(named_slots(asked.sets[0], at, pods, names)), sum(pods))
    gang, _ = engine.gang(asked.demand)
    if not placed(engine.arrays, gang, slot):
        return None
    into = gang.into
    slots: list[Slot] = []
    for part, named in enumerate(asked.sets):
        used = into.used.item(part)
        slots += named_slots(named, into.at[part, :used].tolist(), into.pods[part, :used].tolist(), names)
    return Plan(tuple(slots), sum([slot.count for slot in slots]))


def _shortfall(table: VerdictTable, asked: Ask) -> Shortfall:
    """The numbers behind a no."""
    said = table.at(0)
    numbers = said.needed, said.by_node, said.by_sum, said.at_most, said.nodes
    return Shortfall(said.code, *numbers, said.about, words(asked.demand), said.closed)


def named_slots(named: tuple[tuple[str, int], ...], at: list[int], pods: list[int], names: list[str]) -> list[Slot]:
    """The placed pods of a part (its sets by name and count) on the nodes at these places: one pod set is complete
    before the next begins."""
    name, left = named[0]
    if len(named) == 1:
        return [Slot(name, names[node], count) for node, count in zip(at, pods, strict=True)]
    slots: list[Slot] = []
    others = iter(named[1:])
    for node, count in zip(at, pods, strict=True):
        rest = count
        while rest > left:
            if left:
                slots.append(Slot(name, names[node], left))
                rest -= left
            name, left = next(others)
        slots.append(Slot(name, names[node], rest))
        left -= rest
    return slots
