"""Packing equal pods onto counted nodes: the fewest nodes, the tightest last one, big holes left whole."""

from bisect import bisect_left
from collections.abc import Mapping
from heapq import nsmallest

from fairway.placement.shape_index import Buckets, ShapeCounts, move

Placed = list[tuple[str, int]]


def pack(row: ShapeCounts, amount: int, recount: Mapping[str, int] | None = None) -> Placed | None:
    """`amount` pods as (node, count), or None when they do not fit. Ties are broken by node name.

    Nodes with resources that the pod does not ask for come last. `recount` replaces the counts of nodes where
    other pods of the same plan were put.
    """
    tiers = row.tiers
    plain = row.plain
    total = row.total
    if recount:
        tiers, plain, total = _recounted(row, recount)
    if amount > total:
        return None
    first = min(amount, plain)
    placed = _fill(tiers[0], first)
    if amount > first:
        placed += _fill(tiers[1], amount - first)
    return placed


def _fill(buckets: Buckets, amount: int) -> Placed:
    """Largest nodes whole while they are needed whole, then the smallest node that takes the rest.

    This uses the fewest nodes: no choice of n nodes holds more than the n largest. The sum must be enough.
    """
    placed: Placed = []
    sizes = sorted(buckets)
    while amount:
        size = sizes[-1]
        names = buckets[size]
        whole = min(len(names), amount // size)
        placed += [(name, size) for name in nsmallest(whole, names)]
        amount -= whole * size
        if whole == len(names):
            sizes.pop()
        elif amount:
            tightest = sizes[bisect_left(sizes, amount)]
            skip = whole if tightest == size else 0
            return [*placed, (nsmallest(skip + 1, buckets[tightest])[skip], amount)]
    return placed


def spread(row: ShapeCounts, amount: int) -> int:
    """On how many nodes `pack` would put that many pods; 0 when they do not fit."""
    if amount > row.total:
        return 0
    first = min(amount, row.plain)
    return _nodes(row.tiers[0], first) + _nodes(row.tiers[1], amount - first)


def _nodes(buckets: Buckets, amount: int) -> int:
    if amount <= 1:
        return amount
    nodes = 0
    for size in sorted(buckets, reverse=True):
        names = len(buckets[size])
        if names * size >= amount:
            return nodes - (-amount // size)
        nodes += names
        amount -= names * size
    return nodes


def _recounted(row: ShapeCounts, recount: Mapping[str, int]) -> tuple[tuple[Buckets, Buckets], int, int]:
    """Copies of the buckets concerned, with the new counts in place; also the plain and the whole total."""
    tiers = (dict(row.tiers[0]), dict(row.tiers[1]))
    plain = row.plain
    total = row.total
    own: set[tuple[int, int]] = set()
    for name, count in recount.items():
        old = row.counts[name]
        tier = row.fixed[name][1]
        for size in (old, count):
            if size in tiers[tier] and (tier, size) not in own:
                tiers[tier][size] = set(tiers[tier][size])
            own.add((tier, size))
        move(tiers[tier], name, old, count)
        total += count - old
        plain += (count - old) * (1 - tier)
    return tiers, plain, total
