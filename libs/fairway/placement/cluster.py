"""One cluster as placement sees it: an index that the service loop keeps current and decisions only read."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from fairway.domain.reservations import left_on
from fairway.domain.resources import Resources, add, scale
from fairway.placement.attempt_nodes import AttemptNodes
from fairway.placement.change_journal import Journal, Watch
from fairway.placement.constraints import same_facts
from fairway.placement.shape_index import NodeState, Region, ShapeCounts, extended
from fairway.placement.shapes import Shape, Where
from fairway.wire.capacity import ClusterInfo, Node, Slot

# Shapes kept per cluster; real traces have tens (design/scale.md), a hostile tenant can invent any number.
MOST_SHAPES = 256


def taken(slots: Iterable[Slot], requests_of: Mapping[str, Mapping[str, int]]) -> dict[str, Resources]:
    """What slots take per node, with one of `pods` per pod: the amounts to write as a node's `holds`."""
    total: dict[str, Resources] = {}
    for slot in slots:
        one = scale(requests_of[slot.pods], slot.count)
        one["pods"] = slot.count
        total[slot.node] = add(total.get(slot.node, {}), one)
    return total


class ClusterView:
    """Nodes, assumed placements and the shape index of one cluster.

    Every method costs what the touched nodes cost; the index catches up when a shape is next asked about.
    `memo` belongs to `filters`: what was judged since the last change, forgotten at every change.
    """

    def __init__(self, info: ClusterInfo) -> None:
        self._info = info
        self.observed_at = info.observed_at
        self._states: dict[str, NodeState] = {}
        self._nodes: dict[str, Node] = {}
        self._sorted = True
        self._assumed: dict[str, dict[str, Resources]] = {}
        self._overlay: dict[str, dict[str, Resources]] = {}
        self._carried = AttemptNodes()
        self._shown = AttemptNodes()
        self._rows: dict[Shape, ShapeCounts] = {}
        self._regions: dict[Where, Region] = {}
        self._journal = Journal()
        self._asked = 0
        self.memo: dict[Any, Any] = {}
        self._watches: list[Watch] = []

    @property
    def info(self) -> ClusterInfo:
        return self._info

    @info.setter
    def info(self, info: ClusterInfo) -> None:
        self._info = info
        self.observed_at = info.observed_at
        for one in self._watches:
            one.infos.add(self.name)

    @property
    def name(self) -> str:
        return self._info.name

    @property
    def version(self) -> int:
        """Grows with every change of what is free."""
        return self._journal.version

    def changes(self, version: int) -> tuple[Mapping[str, None] | None, Mapping[str, None] | None]:
        """The nodes that changed after this version, and those of them that changed in more than what is free or
        came or went; None: too many to tell, or never told."""
        return self._journal.changed(version), self._journal.deep(version)

    def watch(self, one: Watch) -> None:
        """From now on its sets are told of changes here."""
        self._watches.append(one)

    def unwatch(self, one: Watch) -> None:
        self._watches = [kept for kept in self._watches if kept is not one]

    @property
    def nodes(self) -> Mapping[str, Node]:
        """Every node, in the order of names."""
        if not self._sorted:
            self._nodes = dict(sorted(self._nodes.items()))
            self._sorted = True
        return MappingProxyType(self._nodes)

    def put(self, node: Node) -> None:
        """Add a node or replace it. An assumed placement whose key the node carries in `holds` is now seen:
        it is dropped on the whole cluster, so that it counts once (the reserver may have moved it)."""
        name = node.name
        old = self._states.get(name)
        self._carry(name, old.node if old else None, node)
        for key in node.holds:
            self.drop(key, seen_on=name)
        same = old is not None and same_facts(old.node, node)
        if old is None:
            self._sorted = False
        self._nodes[name] = node
        kept = old.extended if old and same else extended(node.allocatable.items())
        state = NodeState(node, self._free(node), kept)
        self._states[name] = state
        if not same or old is None or state.free != old.free:
            self._changed(name, deep=not same)

    def remove(self, name: str) -> None:
        """The node is gone; assumed placements on it stay until seen or dropped."""
        old = self._states.pop(name, None)
        if old:
            del self._nodes[name]
            self._carry(name, old.node, None)
            self._changed(name, deep=True)

    def hold(self, key: str, slots: tuple[Slot, ...], requests_of: Mapping[str, Resources]) -> None:
        """Assume a placement that the cache does not show yet; `key` is `<job>/<attempt>` as in `holds`.

        A second hold with the same key replaces the first; one that the nodes already carry changes nothing.
        """
        self.drop(key)
        if key in self._carried:
            return
        amounts = taken(slots, requests_of)
        self._assumed[key] = amounts
        for name, amount in amounts.items():
            self._overlay.setdefault(name, {})[key] = amount
            self._shift(name, amount, -1)

    def drop(self, key: str, seen_on: str = "") -> None:
        """Forget an assumed placement, if there is one."""
        for name, amount in self._assumed.pop(key, {}).items():
            overlay = self._overlay[name]
            del overlay[key]
            if not overlay:
                del self._overlay[name]
            if name != seen_on:  # that node's free amounts are about to be replaced
                self._shift(name, amount, 1)

    def nodes_of(self, key: str) -> set[str]:
        """The nodes whose `holds` or `attempts` name this attempt."""
        return self._carried.of(key) | self._shown.of(key)

    @property
    def states(self) -> Mapping[str, NodeState]:
        """Nodes with what is free on them, negative where one is overcommitted; for the fit, which only reads them."""
        return self._states

    def row(self, shape: Shape) -> ShapeCounts:
        """The counts of this shape, current; built on first use."""
        row = self._rows.get(shape) or self._new_row(shape)
        self._asked = row.touched = self._asked + 1
        journal = self._journal
        if row.seen == journal.version:
            return row
        deep = journal.deep(row.seen)
        if deep is None:
            deep = dict.fromkeys([*row.fixed, *self._states])
        if deep:
            region = self.region(row.where)
            for name in deep:
                row.renew(name, self._states.get(name), region)
        changed = journal.changed(row.seen)
        row.recount(self._states, self._states if changed is None else changed)
        row.seen = journal.version
        return row

    def region(self, where: Where) -> Region:
        """The nodes such pods may be on, with their sums, current."""
        region = self._regions.get(where)
        if region is None:
            region = self._regions[where] = Region(where)
        journal = self._journal
        if region.seen != journal.version:
            every = dict.fromkeys([*region.members, *self._states])
            changed = journal.changed(region.seen)
            deep = journal.deep(region.seen)
            region.refresh(self._states, every if changed is None else changed, every if deep is None else deep)
            region.seen = journal.version
        return region

    def _new_row(self, shape: Shape) -> ShapeCounts:
        if len(self._rows) >= MOST_SHAPES:
            del self._rows[min(self._rows, key=lambda one: self._rows[one].touched)]
            used = {row.where for row in self._rows.values()}
            self._regions = {where: one for where, one in self._regions.items() if where in used}
        row = self._rows[shape] = ShapeCounts(shape)
        return row

    def _changed(self, name: str, deep: bool) -> None:
        # Beyond this many changes a full recount is cheaper than reading them.
        self._journal.add(name, deep, keep=4 * len(self._states) + 64)
        if self.memo:
            self.memo.clear()
        for one in self._watches:
            one.nodes.add(self.name)

    def _shift(self, name: str, amount: Resources, sign: int) -> None:
        state = self._states.get(name)
        if state:
            left = {one: free + sign * amount.get(one, 0) for one, free in state.free.items()}
            self._states[name] = NodeState(state.node, left, state.extended)
            self._changed(name, deep=False)

    def _carry(self, name: str, old: Node | None, new: Node | None) -> None:
        self._carried.renew(name, old.holds if old else {}, new.holds if new else {})
        self._shown.renew(name, old.attempts if old else {}, new.attempts if new else {})

    def _free(self, node: Node) -> Resources:
        return left_on(node, self._overlay.get(node.name, {}).values())
