"""Every node's amounts in a row of the arrays: each cluster has a block of rows, its nodes in the order of names.

Blocks grow by moving to the end. Readers (eligible nodes, counts of shapes) learn from numbers by cluster, and from a
log of positions, what was touched.
"""

from collections.abc import Mapping

import numpy as np

from fairway.domain.resources import Resources
from fairway.placement.change_journal import Shift
from fairway.placement.cluster import ClusterView
from fairway.placement.engine.change_log import ChangeLog
from fairway.placement.engine.fleet_arrays import FleetArrays
from fairway.placement.engine.resource_columns import MOST, ResourceColumns
from fairway.placement.loops.layout import PODS
from fairway.placement.loops.room import shift
from fairway.wire.capacity import Node

_SMALLEST_BLOCK = 8
# Of a larger request nothing is added up, so that sums stay within 64 bits: its nodes are read anew.
_MOST_SHIFTED = 1 << 45


class NodeRows:
    """`names` of a cluster's nodes by slot, as the rows of its block are. `touched` has every position whose amounts
    changed; `version` grows with every change, and was `deep` at the last one of more than free amounts. Positions up
    to `used` were given to blocks, `wasted` of them to blocks that were left. No cluster has more nodes than `largest`.
    """

    def __init__(self, arrays: FleetArrays) -> None:
        self.names: list[list[str]] = []
        self.columns = ResourceColumns()
        self.touched = ChangeLog()
        self.version = self.deep = 0
        self.used = self.wasted = self.largest = 0
        self._arrays = arrays
        self._blocks: list[_Block] = []

    def enter(self) -> int:
        """A slot for one more cluster."""
        for slot, block in enumerate(self._blocks):
            if not block.taken:
                self._blocks[slot] = _Block()
                return slot
        self.names.append([])
        self._blocks.append(_Block())
        self._arrays.hold(slots=len(self._blocks))
        return len(self._blocks) - 1

    def leave(self, slot: int) -> None:
        """The cluster is gone, and its slot is nobody's from now on."""
        self.wasted += self._blocks[slot].room
        self.names[slot] = []
        self._blocks[slot] = _Block()
        self._arrays.now.size[slot] = 0
        self._mark(slot, deep=True)
        self._blocks[slot].taken = False

    def positions(self, slot: int) -> Mapping[str, int]:
        """Of a cluster's nodes by name."""
        return self._blocks[slot].at

    def follow(self, clusters: Mapping[int, ClusterView]) -> None:
        """Reads what changed in these clusters, by slot."""
        light: dict[int, Resources] = {}
        for slot, view in clusters.items():
            block = self._blocks[slot]
            changed, deep = view.changes(block.seen)
            block.seen = view.version
            if changed is None or deep is None or any((name in block.at) != (name in view.by_name) for name in deep):
                self._lay(slot, view)
                continue
            others = [name for name in deep if name in block.at]
            if others:
                exact = self._write([block.at[name] for name in others], [view.by_name[name] for name in others])
                block.exact &= exact
            light |= {block.at[name]: view.free(name) for name in changed if name in block.at}
            if changed:
                self._mark(slot, bool(others))
        if light:
            self._write_free(light)

    def shift(self, slot: int, version: int, change: Shift, after: int) -> bool:
        """Takes what pods request off what is free, or puts it back, where the cluster was read up to this version;
        else `follow` has to read it anew."""
        block = self._blocks[slot]
        if block.seen != version or not block.exact:
            return False
        sets = {name: at for at, name in enumerate(dict.fromkeys(one.pods for one in change.slots))}
        asks = np.zeros((len(sets), len(self.columns)), np.int64)
        for name, at in sets.items():
            for resource, amount in change.requests_of[name].items():
                if amount > _MOST_SHIFTED:
                    return False
                if resource in self.columns.by_name:
                    asks[at, self.columns.by_name[resource]] = amount
        asks[:, PODS] = 1
        moved = [(block.at[one.node], sets[one.pods], change.sign * one.count) for one in change.slots]
        shift(self._arrays.now, asks, np.array(moved, np.int64))
        self.touched.add(np.array([position for position, _, _ in moved], np.int64))
        block.seen = after
        self._mark(slot, deep=False)
        return True

    def _write_free(self, found: Mapping[int, Resources]) -> None:
        """Of nodes that changed; where all is free that was, nobody counts anew."""
        positions = np.array(list(found), np.int64)
        table = self.columns.table(found.values())
        free = self._arrays.now.free
        others = (free[positions, : len(self.columns)] != table).any(axis=1)
        free[positions, : len(self.columns)] = table
        self.touched.add(positions[others])

    def _mark(self, slot: int, deep: bool) -> None:
        self.version += 1
        self._arrays.now.changed[slot] = self.version
        if deep:
            self._arrays.now.deep[slot] = self.deep = self.version

    def _lay(self, slot: int, view: ClusterView) -> None:
        """All nodes of a cluster anew: some came or went."""
        block = self._blocks[slot]
        names = self.names[slot] = list(view.nodes)
        if len(names) > block.room:
            self.wasted += block.room
            block.start = self.used
            block.room = max(_SMALLEST_BLOCK, 1 << len(names).bit_length())
            self.used += block.room
            self._arrays.hold(positions=self.used)
            self._arrays.now.home[block.start : self.used] = slot
            self._arrays.now.start[slot] = block.start
        self._arrays.now.size[slot] = len(names)
        self.largest = max(self.largest, len(names))
        block.at = {name: block.start + place for place, name in enumerate(names)}
        if names:
            positions = list(block.at.values())
            block.exact = self._write(positions, list(view.nodes.values()))
            free = self.columns.table([view.free(name) for name in names])
            self._arrays.now.free[positions, : len(self.columns)] = free
        self._mark(slot, deep=True)

    def _write(self, positions: list[int], nodes: list[Node]) -> bool:
        """What these nodes have in all. False where one has more than can be told."""
        self.columns.learn(name for node in nodes for name in node.allocatable)
        self._arrays.hold(resources=len(self.columns))
        table = self.columns.table([node.allocatable for node in nodes])
        self._arrays.now.whole[positions, : len(self.columns)] = table
        return bool(table[:, PODS + 1 :].max(initial=0) < MOST)


class _Block:
    """A cluster's rows: the positions of its nodes, where they begin, how many there is room for, and the version of
    the cluster that was read. `exact`: no node has more than can be told; `taken`: it is of a cluster."""

    def __init__(self) -> None:
        self.taken = True
        self.exact = False
        self.at: dict[str, int] = {}
        self.start = self.room = 0
        self.seen = -1
