"""All nodes of a fleet in flat arrays, so that one look counts the pods of a shape on many clusters at once.

Each cluster has a block of positions; what is free and what there is at all lies by resource and position.
Blocks grow by moving to the end. Readers (eligible nodes, pod counts) learn from two change logs what was touched.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np

from fairway.domain.resources import Resources
from fairway.placement.cluster import ClusterView
from fairway.placement.columns.change_log import ChangeLog, Numbers
from fairway.placement.columns.growing_arrays import grown
from fairway.placement.shape_index import NodeState
from fairway.placement.shapes import Amounts

# In place of an amount of `pods`: the node does not limit them.
UNLISTED = 1 << 62
# More of a resource on one node counts as this much, so that the sum over any cluster stays within 64 bits: 1 PiB.
MOST = 1 << 50
_SMALLEST_BLOCK = 8
_MOST_ROWS = 4096
# The rows of `free` and `whole`: of a resource that no node has, of pods, and from there on of those that were met.
_NOBODY_HAS = 0
PODS = 1
# Positions looked at together: bounds what a look at a whole fleet takes of memory.
_AT_ONCE = 1 << 18


class FleetNodes:
    """Nodes by position, clusters by slot, which is their place in the order of names. `touched` has every position
    whose amounts changed, `deep` those with another node. `first` is where a position's block begins; `wasted`
    positions are those of blocks that were left; `even` is the size of all blocks, or 0 when they differ."""

    def __init__(self) -> None:
        self.slots: dict[str, int] = {}
        self.views: list[ClusterView] = []
        self.who: list[str] = []
        self.start = self.size = self.home = self.rank = self.first = np.zeros(0, np.int64)
        self.resources = {"pods": PODS}
        self._columns = [("pods", UNLISTED)]
        self._amounts: Callable[[Mapping[str, int]], Any] = lambda row: (row["pods"],)
        self.free = np.zeros((2, 0), np.int64)
        self.whole = np.zeros((2, 0), np.int64)
        self.touched = ChangeLog()
        self.deep = ChangeLog()
        self.used = self.wasted = self.even = 0
        self._blocks: list[_Block] = []
        self._rows: dict[Amounts, tuple[Numbers, Numbers]] = {}

    def muster(self, views: Sequence[ClusterView]) -> None:
        """These are the clusters now, in the order of names; those that are new are read with the next `follow`."""
        kept = {id(view): slot for slot, view in enumerate(self.views)}
        old = [kept.pop(id(view), -1) for view in views]
        blocks = self._blocks
        for slot in kept.values():
            self._vacate(blocks[slot].at.values())
            self.wasted += int(self.size[slot])
        self._blocks = [blocks[slot] if slot >= 0 else _Block() for slot in old]
        self.views = list(views)
        self.slots = {view.name: slot for slot, view in enumerate(views)}
        sizes = [(int(self.start[slot]), int(self.size[slot])) if slot >= 0 else (0, 0) for slot in old]
        self.start, self.size = np.array(sizes, np.int64).reshape(-1, 2).T.copy()
        self._level()
        moved = np.zeros(len(blocks), np.int64)
        for slot, before in enumerate(old):
            if before >= 0:
                moved[before] = slot
        self.home = moved[self.home] if len(blocks) else self.home

    def follow(self, clusters: Iterable[str]) -> None:
        """Reads what changed in these clusters."""
        light: dict[int, Resources] = {}
        deep: dict[int, NodeState | None] = {}
        for cluster in clusters:
            slot = self.slots[cluster]
            view = self.views[slot]
            block = self._blocks[slot]
            changed, replaced = view.changes(block.seen)
            block.seen = view.version
            if replaced is None or replaced:
                names = [*block.at, *view.states] if replaced is None else replaced
                deep |= self._settle(slot, dict.fromkeys(names))
            at = block.at
            states = view.states
            for name in states if changed is None else changed:
                if name in at:
                    light[at[name]] = states[name].free
        if deep:
            self._write_deep(deep)
        light = {position: free for position, free in light.items() if position not in deep} if deep else light
        if light:
            positions = np.array(list(light), np.int64)
            self.free[PODS:, positions] = self._table(light.values())
            self.touched.add(positions)

    def block(self, slot: int) -> slice:
        start = int(self.start[slot])
        return slice(start, start + int(self.size[slot]))

    def names(self, slot: int) -> list[str]:
        """Of a cluster's nodes, sorted: what `rank` counts in."""
        return self._blocks[slot].names

    def rows(self, requests: Amounts) -> tuple[Numbers, Numbers]:
        """Where the amounts of `pods` and of these requests lie, and how much one pod takes of each."""
        known = self._rows.get(requests)
        if known is None:
            if len(self._rows) >= _MOST_ROWS:
                self._rows.clear()
            rows = [PODS, *(self.resources.get(name, _NOBODY_HAS) for name, _ in requests)]
            takes = [1, *(min(amount, UNLISTED) for _, amount in requests)]
            known = self._rows[requests] = np.array(rows, np.int64), np.array(takes, np.int64)
        return known

    def changed(self, touched: Numbers | None) -> Iterator[tuple[Numbers, Numbers]]:
        """The slots with touched positions (None: all), in groups of equal blocks: the slots, and a row of all
        positions for each."""
        hit = np.zeros(len(self.views), np.bool_)
        hit[slice(None) if touched is None else self.home[touched]] = True
        slots = hit.nonzero()[0]
        for size in [self.even] if self.even else set(self.size[slots].tolist()) - {0}:
            group = slots if self.even else slots[self.size[slots] == size]
            step = max(1, _AT_ONCE // size)
            for first in range(0, len(group), step):
                some = group[first : first + step]
                yield some, self.start[some][:, None] + _within(size)

    def _settle(self, slot: int, names: Iterable[str]) -> dict[int, NodeState | None]:
        """Gives positions to new nodes and takes those of the gone; returns all positions to be read anew."""
        block = self._blocks[slot]
        states = self.views[slot].states
        at = block.at
        gone = [name for name in names if name in at and name not in states]
        new = [name for name in names if name not in at and name in states]
        left = [at.pop(name) for name in gone]
        if len(new) > len(block.spare) + len(gone):
            left += at.values()
            at.clear()
            new = list(states)
            block.spare = self._move(slot, len(new))
        else:
            block.spare += left
        self._vacate(left)
        for name in new:
            at[name] = block.spare.pop()
            self.who[at[name]] = name
        if gone or new:
            block.names = sorted(at)
            self.rank[[at[name] for name in block.names]] = np.arange(len(at))
        found: dict[int, NodeState | None] = dict.fromkeys(left)
        return found | {at[name]: states[name] for name in (*names, *new) if name in at}

    def _level(self) -> None:
        self.even = int(self.size[0]) if len(self.size) and (self.size == self.size[0]).all() else 0

    def _vacate(self, positions: Iterable[int]) -> None:
        for position in positions:
            self.who[position] = ""

    def _move(self, slot: int, nodes: int) -> list[int]:
        """A block at the end for so many nodes and some more; returns its positions, the first one last."""
        size = max(_SMALLEST_BLOCK, 1 << nodes.bit_length())
        self.wasted += int(self.size[slot])
        start = self.used
        self.used = self.used + size
        self.start[slot] = start
        self.size[slot] = size
        self._level()
        self.who += [""] * size
        if self.used > len(self.home):
            self.home = grown(self.home, self.used)
            self.rank = grown(self.rank, self.used)
            self.free = grown(self.free, self.used)
            self.whole = grown(self.whole, self.used)
            self.first = grown(self.first, self.used)
        self.first[start : self.used] = start
        self.home[start : self.used] = slot
        return list(range(self.used - 1, start - 1, -1))

    def _write_deep(self, found: Mapping[int, NodeState | None]) -> None:
        self._learn(name for state in found.values() if state for name in state.node.allocatable)
        positions = np.array(list(found), np.int64)
        self.whole[PODS:, positions] = self._table([one.node.allocatable if one else _VACANT for one in found.values()])
        self.free[PODS:, positions] = self._table([one.free if one else _VACANT for one in found.values()])
        self.deep.add(positions)
        self.touched.add(positions)

    def _learn(self, names: Iterable[str]) -> None:
        """Resources that may not have been met before: nobody has had any of those."""
        more = dict.fromkeys(name for name in names if name not in self.resources)
        for name in more:
            self.resources[name] = len(self.resources) + PODS
        if more:
            self._rows.clear()
            self._columns += [(name, 0) for name in more]
            self._amounts = itemgetter(*self.resources)
            nothing = np.zeros((len(more), self.free.shape[1]), np.int64)
            self.free = np.vstack((self.free, nothing))
            self.whole = np.vstack((self.whole, nothing))

    def _table(self, rows: Collection[Mapping[str, int]]) -> Numbers:
        """Amounts by resource and row."""
        try:
            cells = list(map(self._amounts, rows))
        except KeyError:  # not every node has every resource
            cells = [tuple([row.get(name, missing) for name, missing in self._columns]) for row in rows]
        try:
            table = np.array(cells, np.int64)
        except OverflowError:
            table = np.array([[max(-MOST, min(UNLISTED - 1, cell)) for cell in row] for row in cells], np.int64)
        if table.max() > MOST:
            table[(table > MOST) & (table != UNLISTED)] = MOST
        return table.T


class _Block:
    """A cluster's nodes: their positions and those still free, their names in order, the version that was read."""

    def __init__(self) -> None:
        self.at: dict[str, int] = {}
        self.spare: list[int] = []
        self.names: list[str] = []
        self.seen = -1


@cache
def _within(size: int) -> Numbers:
    return np.arange(size)


# A position without a node: nothing fits there.
_VACANT = {"pods": 0}
