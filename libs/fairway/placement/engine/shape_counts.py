"""How many pods of each shape every cluster takes, brought up to what changed when a shape is asked about."""

from collections.abc import Iterable, Sequence

import numpy as np

from fairway.placement.cluster import ClusterView
from fairway.placement.engine.change_log import Numbers
from fairway.placement.engine.eligible_nodes import EligibleNodes
from fairway.placement.engine.fleet_arrays import FleetArrays
from fairway.placement.engine.node_rows import NodeRows
from fairway.placement.loops.layout import LARGEST, MOST_TALLIED, NOBODY_HAS, UNLISTED, ShapeAsked
from fairway.placement.loops.room import count, recounted
from fairway.placement.shapes import Shape, Where

# Shapes kept; real traces have tens (design/scale.md), a hostile tenant can invent any number. They are fewer where the
# fleet is large: 5 bytes for each of their nodes, 80 MiB in all.
MOST_SHAPES = 256
MOST_CELLS = 1 << 24
_FEWEST_SHAPES = 16
_NONE = np.zeros(0, np.int64)


class ShapeCounts:
    """The shapes of one fleet."""

    def __init__(self, arrays: FleetArrays, rows: NodeRows, views: dict[int, ClusterView]) -> None:
        self._arrays = arrays
        self._rows = rows
        self._views = views
        self._kept: dict[Shape, _Kept] = {}
        self._eligible: dict[Where, EligibleNodes] = {}
        self._asks = 0

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, shapes: Sequence[Shape]) -> list[ShapeAsked]:
        """These shapes, current."""
        found = []
        for one in self._keep(shapes):
            changed = self._changed(one)
            if len(changed):
                recounted(self._arrays.now, one.bundle, changed)
            found.append(one.bundle)
        return found

    def changed(self, shape: Shape) -> tuple[ShapeAsked, Numbers]:
        """This shape, and at which positions it has to be counted anew, by who asks, before it is current."""
        self._asks += 1
        one = self._kept.get(shape) or self._new(shape, 1)
        one.asked = self._asks
        changed = self._changed(one)
        return one.bundle, changed

    def _keep(self, shapes: Sequence[Shape]) -> list["_Kept"]:
        self._asks += 1
        kept = []
        for shape in shapes:
            one = self._kept.get(shape) or self._new(shape, len(shapes))
            one.asked = self._asks
            kept.append(one)
        return kept

    def _new(self, shape: Shape, least: int) -> "_Kept":
        most = max(_FEWEST_SHAPES, min(MOST_SHAPES, MOST_CELLS // (self._rows.used + 1)), least)
        while len(self._kept) >= most:
            del self._kept[min(self._kept, key=lambda one: self._kept[one].asked)]
        if shape.where not in self._eligible:
            used = {one.where for one in self._kept}
            self._eligible = {where: one for where, one in self._eligible.items() if where in used}
            e = _unused(one.e for one in self._eligible.values())
            self._eligible[shape.where] = EligibleNodes(shape.where, e, self._arrays)
        number = _unused(one.bundle.k for one in self._kept.values())
        self._arrays.hold(shapes=number + 1)
        kept = self._kept[shape] = _Kept(shape, number, self._eligible[shape.where])
        return kept

    def _changed(self, one: "_Kept") -> Numbers:
        """Positions whose amounts changed; clusters whose nodes are others now are counted here."""
        rows = self._rows
        if one.learned != rows.columns.learned:
            one.name_columns(rows)
        if one.seen == rows.version:
            return _NONE
        touched = rows.touched.since(one.touched)
        if touched is None or rows.deep > one.seen:
            one.eligible.refresh(self._views, rows)
            slots = np.arange(len(rows.names))
            if touched is not None:
                slots = slots[self._arrays.now.deep[: len(slots)] > one.seen]
            self._count(one, slots)
        one.touched = rows.touched.version
        one.seen = rows.version
        return _NONE if touched is None else touched

    def _count(self, one: "_Kept", slots: Numbers) -> None:
        arrays = self._arrays.now
        one.fit_tally(len(arrays.start), 0)
        count(arrays, one.bundle, slots)
        if one.fit_tally(len(arrays.start), int(arrays.facts[one.bundle.k, :, LARGEST].max(initial=0))):
            count(arrays, one.bundle, np.arange(len(self._rows.names)))


def _unused(taken: Iterable[int]) -> int:
    numbers = set(taken)
    return next(number for number in range(len(numbers) + 1) if number not in numbers)


class _Kept:
    """A shape: its number, and what of the fleet it has seen."""

    def __init__(self, shape: Shape, k: int, eligible: EligibleNodes) -> None:
        self.eligible = eligible
        self.asked = 0
        self.learned = self.seen = self.touched = -1
        self._requests = shape.requests
        none = np.zeros(0, np.int64)
        self.bundle = ShapeAsked(k, eligible.e, none, none, none, np.zeros((0, 2, 2), np.int32))

    def name_columns(self, rows: NodeRows) -> None:
        """Where in the arrays lies what it asks for, and what it does not ask for."""
        asked = dict(self._requests)
        besides = [column for name, column in rows.columns.by_name.items() if "/" in name and name not in asked]
        self.bundle = self.bundle._replace(
            columns=np.array([rows.columns.by_name.get(name, NOBODY_HAS) for name in asked], np.int64),
            asks=np.array([min(amount, UNLISTED) for amount in asked.values()], np.int64),
            besides=np.array(besides, np.int64),
        )
        self.learned = rows.columns.learned

    def fit_tally(self, slots: int, largest: int) -> bool:
        """Room to tell nodes apart by up to so many pods; True when what was tallied is gone."""
        tally = self.bundle.tally
        width = min(max(largest + 2, tally.shape[2]), MOST_TALLIED)
        if tally.shape == (slots, 2, width):
            return False
        wider = np.zeros((slots, 2, width), np.int32)
        wider[: len(tally), :, : tally.shape[2]] = tally
        self.bundle = self.bundle._replace(tally=wider)
        return bool(width != tally.shape[2])
