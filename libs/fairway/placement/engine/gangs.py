"""A gang as the loops take it."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from fairway.placement.engine.change_log import Numbers
from fairway.placement.loops.layout import Arrays, GangAsked, PlacedPods, Scratch, ShapeAsked
from fairway.placement.shapes import Demand, lead


@lru_cache(maxsize=4096)
def lacking_names(demand: Demand) -> tuple[str, ...]:
    """What a cluster may lack for this gang, as the loops number it: of one shape in the order of its requests, of
    several in that of names."""
    names = [name for part in demand.parts for name, _ in part.shape.requests]
    return ("pods", *names) if len(demand.parts) == 1 else tuple(sorted({"pods", *names}))


def gang_asked(demand: Demand, shapes: Sequence[ShapeAsked], arrays: Arrays) -> GangAsked:
    """A gang of several shapes, which are current."""
    parts = demand.parts
    rank = {name: index for index, name in enumerate(lacking_names(demand))}
    return GangAsked(
        k=np.array([shape.k for shape in shapes], np.int64),
        e=np.array([shape.e for shape in shapes], np.int64),
        columns=_table([shape.columns for shape in shapes]),
        asks=_table([shape.asks for shape in shapes]),
        lengths=np.array([len(shape.asks) for shape in shapes], np.int64),
        ranks=_table([[rank["pods"], *(rank[name] for name, _ in part.shape.requests)] for part in parts]),
        needed=np.array([part.needed for part in parts], np.int64),
        wanted=np.array([part.wanted for part in parts], np.int64),
        lead=lead(demand),
        scratch=_scratch(len(parts), arrays),
        into=_into(len(parts), arrays),
    )


def _scratch(parts: int, arrays: Arrays) -> Scratch:
    nodes = _most_nodes(arrays)
    return Scratch(
        free=np.empty((nodes, arrays.free.shape[1]), np.int64),
        touched=np.empty(nodes, np.uint8),
        fits=np.empty(nodes, np.int64),
        order=np.empty(parts, np.int64),
        each=np.empty(parts, np.int64),
        gone=np.empty((parts, len(arrays.nothing)), np.int64),
    )


def _into(parts: int, arrays: Arrays) -> PlacedPods:
    """A node may be filled twice: with the gang, and then with more."""
    size = (parts, 2 * _most_nodes(arrays))
    return PlacedPods(np.empty(size, np.int64), np.empty(size, np.int64), np.zeros(parts, np.int64))


def _most_nodes(arrays: Arrays) -> int:
    return int(arrays.size.max(initial=0))


def _table(rows: Sequence[Sequence[int] | Numbers]) -> Numbers:
    """Rows of different lengths, with zeros behind the shorter ones."""
    table = np.zeros((len(rows), max(map(len, rows), default=0)), np.int64)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table
