"""A gang as the loops take it."""

from collections.abc import Sequence
from functools import lru_cache
from operator import is_
from typing import NamedTuple

import numpy as np

from fairway.placement.engine.change_log import Numbers
from fairway.placement.loops.layout import Arrays, GangAsked, PlacedPods, Scratch, ShapeAsked
from fairway.placement.shapes import Demand, lead

# Of a gang with more parts the arrays that loops write on are made each time.
_MOST_KEPT = 8


@lru_cache(maxsize=4096)
def lacking_names(demand: Demand) -> tuple[str, ...]:
    """What a cluster may lack for this gang, as the loops number it: of one shape in the order of its requests, of
    several in that of names."""
    names = [name for part in demand.parts for name, _ in part.shape.requests]
    return ("pods", *names) if len(demand.parts) == 1 else tuple(sorted({"pods", *names}))


class GangsAsked:
    """Gangs of several shapes as loops take them: what loops write on is the same for all, and the last gang is kept,
    which is asked about once more when it is placed."""

    def __init__(self) -> None:
        self._last: _Known | None = None
        self._written: tuple[tuple[int, int, int], Scratch, PlacedPods] | None = None

    def of(self, demand: Demand, shapes: Sequence[ShapeAsked], arrays: Arrays, nodes: int) -> GangAsked:
        """This gang, of shapes that are current; no cluster has more `nodes`."""
        last = self._last
        if last is None or not last.agrees(demand, shapes, arrays, nodes):
            scratch, into = self._room(len(demand.parts), nodes, arrays)
            gang = _gang_asked(demand, shapes, scratch, into)
            last = self._last = _Known(demand, tuple(shapes), arrays, nodes, gang)
        return last.gang

    def _room(self, parts: int, nodes: int, arrays: Arrays) -> tuple[Scratch, PlacedPods]:
        size = (max(parts, _MOST_KEPT), nodes, arrays.free.shape[1])
        if self._written is not None and self._written[0] == size:
            return self._written[1], self._written[2]
        made = size, _scratch(*size, len(arrays.nothing)), _into(size[0], nodes)
        if parts <= _MOST_KEPT:
            self._written = made
        return made[1], made[2]


class _Known(NamedTuple):
    demand: Demand
    shapes: tuple[ShapeAsked, ...]
    arrays: Arrays
    nodes: int
    gang: GangAsked

    def agrees(self, demand: Demand, shapes: Sequence[ShapeAsked], arrays: Arrays, nodes: int) -> bool:
        """Whether the gang was made of these very values."""
        same = demand is self.demand and arrays is self.arrays and nodes == self.nodes
        return same and all(map(is_, shapes, self.shapes))


def _gang_asked(demand: Demand, shapes: Sequence[ShapeAsked], scratch: Scratch, into: PlacedPods) -> GangAsked:
    parts = demand.parts
    rank = {name: index for index, name in enumerate(lacking_names(demand))}
    return GangAsked(
        k=np.array([shape.k for shape in shapes], np.int64),
        e=np.array([shape.e for shape in shapes], np.int64),
        columns=_table([shape.columns.tolist() for shape in shapes]),
        asks=_table([shape.asks.tolist() for shape in shapes]),
        lengths=np.array([len(shape.asks) for shape in shapes], np.int64),
        ranks=_table([[rank["pods"], *(rank[name] for name, _ in part.shape.requests)] for part in parts]),
        needed=np.array([part.needed for part in parts], np.int64),
        wanted=np.array([part.wanted for part in parts], np.int64),
        lead=lead(demand),
        scratch=scratch,
        into=into,
    )


def _scratch(parts: int, nodes: int, columns: int, sums: int) -> Scratch:
    return Scratch(
        free=np.empty((nodes, columns), np.int64),
        touched=np.empty(nodes, np.uint8),
        fits=np.empty(nodes, np.int64),
        order=np.empty(parts, np.int64),
        each=np.empty(parts, np.int64),
        gone=np.empty((parts, sums), np.int64),
    )


def _into(parts: int, nodes: int) -> PlacedPods:
    """A node may be filled twice: with the gang, and then with more."""
    size = (parts, 2 * nodes)
    return PlacedPods(np.empty(size, np.int64), np.empty(size, np.int64), np.zeros(parts, np.int64))


def _table(rows: Sequence[list[int]]) -> Numbers:
    """Rows of different lengths, with zeros behind the shorter ones."""
    longest = max(map(len, rows), default=0)
    return np.array([row + [0] * (longest - len(row)) for row in rows], np.int64).reshape(len(rows), longest)
