"""The arrays of a fleet, which get larger as clusters, nodes, resources and shapes come."""

import numpy as np

from fairway.placement.loops.layout import BESIDE, FACTS, PODS, Arrays


class FleetArrays:
    """`now` is what the loops take; it is another value once anything had to grow."""

    def __init__(self) -> None:
        self._sizes = {"positions": 0, "slots": 0, "resources": PODS + 1, "shapes": 0, "eligible": 0}
        self.now = self._made()

    def hold(self, **least: int) -> None:
        """Makes room for so many positions, slots, resources, shapes, sets of eligible nodes; and for as many again."""
        short = {name: size for name, size in least.items() if size > self._sizes[name]}
        if not short:
            return
        self._sizes |= {name: max(size, 2 * self._sizes[name]) for name, size in short.items()}
        old = self.now
        self.now = self._made()
        for name, array in old._asdict().items():
            getattr(self.now, name)[tuple(map(slice, array.shape))] = array
        if "resources" in short:  # what stands behind the amounts has moved
            self.now.sums[:] = 0
            self.now.summed[:] = -1

    def _made(self) -> Arrays:
        positions, slots, resources, shapes, eligible = self._sizes.values()
        return Arrays(
            free=np.zeros((positions, resources), np.int64),
            whole=np.zeros((positions, resources), np.int64),
            home=np.zeros(positions, np.int64),
            start=np.zeros(slots, np.int64),
            size=np.zeros(slots, np.int64),
            changed=np.zeros(slots, np.int64),
            deep=np.zeros(slots, np.int64),
            open=np.zeros((eligible, positions), np.uint8),
            sums=np.zeros((eligible, slots, 2, resources + BESIDE), np.int64),
            summed=np.full((eligible, slots, 2), -1, np.int64),
            pods=np.zeros((shapes, positions), np.int32),
            kind=np.zeros((shapes, positions), np.uint8),
            facts=np.zeros((shapes, slots, FACTS), np.int64),
            nothing=np.zeros(resources + BESIDE, np.int64),
        )
