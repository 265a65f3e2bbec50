"""How many pods of one shape one cluster holds while candidates go and come back, counted on the nodes they touch."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fairway.placement.engine.change_log import Numbers
from fairway.placement.loops.layout import MOST_PODS
from fairway.placement.relief.room.shape_room import Mask, ShapeRoom

# Shares of pods are counted in millionths: integers, so that every machine says the same.
MILLION = 1_000_000


class _Touched(NamedTuple):
    """A touched node: what is free there, what there is in all, and the pods that it would take if all members went."""

    left: list[int]
    whole: list[int]
    most: int


class NodeRoom:
    """`total` pods fit now. `holds` of a candidate: which touched nodes, and the amounts."""

    def __init__(self, shape: ShapeRoom, slot: int, may: Mask, most: Numbers) -> None:
        """`may` are the candidates that may go at all; `most` the pods on each touched node if all of them did."""
        self._asks = shape.asks
        self.needed = shape.part.needed
        self.total = int(shape.now[slot])
        here = shape.home == slot
        places = here.nonzero()[0]
        columns = (shape.left[:, places].T, shape.whole[:, places].T, most[places])
        nodes = zip(*(one.tolist() for one in columns), strict=True)
        self._nodes = {place: _Touched(*one) for place, one in zip(places.tolist(), nodes, strict=True)}
        self.pods = dict(zip(places.tolist(), shape.pods[places].tolist(), strict=True))
        self.holds: dict[int, list[tuple[int, list[int]]]] = {}
        self.holders: dict[int, list[int]] = {}
        rows = here[shape.node].nonzero()[0]
        rows = rows[may[shape.who[rows]]]
        columns = (shape.who[rows], shape.node[rows], shape.held[:, rows].T)
        for who, place, held in zip(*(one.tolist() for one in columns), strict=True):
            self.holds.setdefault(who, []).append((place, held))
            self.holders.setdefault(place, []).append(who)

    @property
    def missing(self) -> int:
        return max(0, self.needed - self.total)

    def move(self, candidate: int, sign: int) -> None:
        """It goes (1), or comes back (-1)."""
        for place, held in self.holds.get(candidate, ()):
            node = self._nodes[place]
            for at, amount in enumerate(held):
                node.left[at] += sign * amount
            pods = self._room(node.left, node.whole)
            self.total += pods - self.pods[place]
            self.pods[place] = pods

    def beside(self, candidate: int) -> Iterable[int]:
        """Who holds some of the same nodes."""
        return {who: None for place, _ in self.holds.get(candidate, ()) for who in self.holders[place]}

    def share(self, candidate: int) -> int:
        """What it holds of that which still keeps pods off its nodes, in millionths of a pod."""
        return sum(
            [self._share(self._nodes[place], self.pods[place], held) for place, held in self.holds.get(candidate, ())]
        )

    def loss(self, candidate: int) -> int:
        """Pods that there would be fewer if it came back."""
        lost = 0
        for place, held in self.holds.get(candidate, ()):
            node = self._nodes[place]
            left = [free - amount for free, amount in zip(node.left, held, strict=True)]
            lost += self.pods[place] - self._room(left, node.whole)
        return lost

    def _share(self, node: _Touched, pods: int, held: Sequence[int]) -> int:
        more = node.most - pods
        if more <= 0:
            return 0
        share = short = 0
        for ask, free, whole, amount in zip(self._asks, node.left, node.whole, held, strict=True):
            lacks = node.most * ask - min(free, whole)
            if lacks > 0:
                short += 1
                share += MILLION * more * min(amount, lacks) // lacks
        return share // short if short else 0

    def _room(self, left: Sequence[int], whole: Sequence[int]) -> int:
        pods = MOST_PODS
        for ask, free, most in zip(self._asks, left, whole, strict=True):
            pods = min(pods, min(free, most) // ask)
            if pods <= 0:
                return 0
        return pods
