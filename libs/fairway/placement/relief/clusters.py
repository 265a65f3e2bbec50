"""The clusters in which evictions could make room, the most promising first."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fairway.placement.engine.change_log import Numbers
from fairway.placement.relief.case import Allowed
from fairway.placement.relief.cost import steps
from fairway.placement.relief.room.shape_room import Mask, ShapeRoom


class Permitted(NamedTuple):
    """Who `may` go, and the pods of each shape on each touched node if all of them did."""

    may: Mask
    shapes: Sequence[ShapeRoom]
    with_gone: list[Numbers]

    @property
    def missing(self) -> Numbers:
        """Pods that have no room even so, by slot, at least."""
        several = zip(self.shapes, self.with_gone, strict=True)
        missing: Numbers = np.sum(
            [np.maximum(one.part.needed - one.by_cluster(gone), 0) for one, gone in several], axis=0
        )
        return missing


class Clusters:
    """What each could hold, by slot, part by part of the gang."""

    def __init__(self, allowed: Allowed, shapes: Sequence[ShapeRoom]) -> None:
        self._allowed = allowed
        self._shapes = shapes
        self._last: Permitted | None = None
        case = allowed.case
        self._gains = [shape.gains(len(case.columns.slot)) for shape in shapes]
        self._rank = np.zeros(len(case.engine.arrays.start), np.int64)
        self._rank[case.engine.clusters.order] = np.arange(len(case.engine.clusters.order))

    def steps(self) -> Iterator[Permitted]:
        """From the cheapest that may be enough."""
        return map(self._step, steps(self._allowed.case.columns, self._allowed.anybody, self._possible))

    def promising(self, permitted: Permitted) -> list[int]:
        """Slots, by how many have to go at least, then by how much work is lost at least, then by name."""
        slots = (self._allowed.clusters.short & (permitted.missing == 0)).nonzero()[0]
        jobs, lost = self._at_least(permitted.may & (self._allowed.case.columns.slot >= 0))
        ordered: list[int] = slots[np.lexsort((self._rank[slots], lost[slots], jobs[slots]))].tolist()
        return ordered

    def nearest(self) -> tuple[int, int]:
        """Where least is missing if all go that may, and how many pods; -1 where no cluster comes into question."""
        slots = self._allowed.clusters.short.nonzero()[0].tolist()
        missing = self._step(self._allowed.anybody).missing.tolist()
        best = min(((missing[slot], self._rank[slot].item(), slot) for slot in slots), default=(0, 0, -1))
        return best[2], best[0]

    def _step(self, may: Mask) -> Permitted:
        """The last one is kept: it is asked about once more when it turns out to be the first that may be enough."""
        if self._last is None or not np.array_equal(self._last.may, may):
            self._last = Permitted(may, self._shapes, [shape.with_gone(may) for shape in self._shapes])
        return self._last

    def _possible(self, may: Mask) -> bool:
        short = self._allowed.clusters.short
        return not any(self._allowed.case.quota.left(may)) and bool((self._step(may).missing[short] == 0).any())

    def _at_least(self, may: Mask) -> tuple[Numbers, Numbers]:
        """How many have to go in each cluster if each gives as much as the best; and the least lost work of those."""
        columns = self._allowed.case.columns
        slots = columns.slot[may]
        jobs = np.ones(len(self._rank), np.int64)
        single = np.ones(len(slots), np.bool_)
        for shape, gains in zip(self._shapes, self._gains, strict=True):
            best = np.ones(len(self._rank), np.int64)
            np.maximum.at(best, slots, gains[may])
            missing = np.maximum(shape.part.needed - shape.now, 0)
            jobs = np.maximum(jobs, -(-missing // best))
            single &= gains[may] >= missing[slots]
        lost = np.full(len(self._rank), 1 << 62, np.int64)
        counts = single | (jobs[slots] > 1)
        np.minimum.at(lost, slots[counts], columns.lost[may][counts])
        return jobs, lost
