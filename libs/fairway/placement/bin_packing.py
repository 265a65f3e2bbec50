"""Several shapes on the same nodes: bin packing, by a bounded heuristic that never says yes wrongly.

Parts are packed one after another, most constrained first; if that fails, in the reverse order, and no
further. It can miss a plan that exists. It never returns one that does not: every part is counted on the
nodes with what the parts before it took already off.
"""

from collections.abc import Sequence

from fairway.domain.resources import Resources
from fairway.placement.cluster import ClusterView
from fairway.placement.node_packing import Placed, pack
from fairway.placement.shape_index import ShapeCounts, room
from fairway.placement.shapes import Demand


def certain(rows: Sequence[ShapeCounts], demand: Demand) -> bool | None:
    """Whether the gang fits, without placing it: None when only trying can tell.

    Sound for several parts because k pods touch at most k nodes: what is left for a part is at least its
    total less, for every pod placed before it, the most that one node holds.
    """
    if len(rows) == 1:
        return rows[0].total >= demand.needed
    if any(row.total < part.needed for row, part in zip(rows, demand.parts, strict=True)):
        return False
    before = 0
    for index in _order(rows, [part.needed for part in demand.parts]):
        row = rows[index]
        needed = demand.parts[index].needed
        largest = max(max(tier, default=0) for tier in row.tiers)
        if needed and row.total - before * largest < needed:
            return None
        before += needed
    return True


def _order(rows: Sequence[ShapeCounts], amounts: Sequence[int]) -> list[int]:
    """Most constrained first: least room per pod to place; manifest order among equals."""
    return sorted(range(len(rows)), key=lambda one: (rows[one].total // max(amounts[one], 1), one))


def attempt(cluster: ClusterView, rows: Sequence[ShapeCounts], amounts: Sequence[int]) -> list[Placed] | None:
    """These amounts of every part on nodes, or None when neither order finds room for all."""
    if any(row.total < amount for row, amount in zip(rows, amounts, strict=True)):
        return None
    order = _order(rows, amounts)
    for indexes in (order, order[::-1]):
        cache = _Board(cluster)
        placed: list[Placed] = [[] for _ in rows]
        if all(cache.add(rows[index], amounts[index], placed[index]) for index in indexes):
            return placed
    return None


def extend(
    cluster: ClusterView, rows: Sequence[ShapeCounts], placed: list[Placed], wants: Sequence[int]
) -> list[Placed]:
    """As many more pods as fit, part by part in manifest order."""
    cache = _Board(cluster)
    for row, nodes in zip(rows, placed, strict=True):
        cache.take(row, nodes)
    for row, nodes, want in zip(rows, placed, wants, strict=True):
        more = min(want - sum(count for _, count in nodes), cache.left(row))
        cache.add(row, more, nodes)
    return [_merged(nodes) for nodes in placed]


def _merged(nodes: Placed) -> Placed:
    counts: dict[str, int] = {}
    for name, count in nodes:
        counts[name] = counts.get(name, 0) + count
    return list(counts.items())


def most(cluster: ClusterView, rows: Sequence[ShapeCounts], demand: Demand) -> int:
    """The most pods of the gang that one of the tried orders places."""
    order = _order(rows, [part.needed for part in demand.parts])
    best = 0
    for indexes in (order, order[::-1]):
        cache = _Board(cluster)
        count = 0
        for index in indexes:
            here = min(demand.parts[index].needed, cache.left(rows[index]))
            cache.add(rows[index], here, [])
            count += here
        best = max(best, count)
    return best


class _Board:
    """The touched nodes of one try, with what was placed on them taken off."""

    def __init__(self, cluster: ClusterView) -> None:
        self._states = cluster.states
        self._free: dict[str, Resources] = {}

    def add(self, row: ShapeCounts, amount: int, into: Placed) -> bool:
        """Place `amount` pods and append them to `into`; False, and nothing placed, when they do not fit."""
        placed = pack(row, amount, self._recount(row))
        if placed is None:
            return False
        self.take(row, placed)
        into += placed
        return True

    def take(self, row: ShapeCounts, placed: Placed) -> None:
        for name, count in placed:
            left = self._free.setdefault(name, dict(self._states[name].free))
            for resource, amount in (*row.requests, ("pods", 1)):
                if resource in left:
                    left[resource] -= amount * count

    def left(self, row: ShapeCounts) -> int:
        """How many pods of this row still fit."""
        recount = self._recount(row)
        return row.total + sum(count - row.counts[name] for name, count in recount.items())

    def _recount(self, row: ShapeCounts) -> dict[str, int]:
        counted = ((name, row.counts.get(name, 0)) for name in self._free)
        return {name: min(old, room(row.requests, self._free[name])) for name, old in counted if old}
