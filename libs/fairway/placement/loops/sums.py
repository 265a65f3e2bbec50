"""How many pods would fit if all nodes of a cluster were one: what is said where there is no room node by node."""

from fairway.placement.loops.compiled import inner
from fairway.placement.loops.layout import (
    CLOSED,
    FOR_GOOD,
    MAX_PODS,
    NOBODY_HAS,
    NODES,
    NODES_UNLISTED,
    NOW,
    OPEN,
    PODS,
    UNLISTED,
    Arrays,
    GangAsked,
    Int1,
    ShapeAsked,
)


@inner
def take_sums(arrays: Arrays, e: int, slot: int) -> None:
    """Brings the sums of these nodes up to date. An overcommitted resource counts as nothing free."""
    summed = arrays.summed[e, slot]
    if summed[NOW] != arrays.changed[slot]:
        _sum(arrays.free, arrays, e, slot, NOW)
        summed[NOW] = arrays.changed[slot]
    if summed[FOR_GOOD] != arrays.deep[slot]:
        _sum(arrays.whole, arrays, e, slot, FOR_GOOD)
        summed[FOR_GOOD] = arrays.deep[slot]


@inner
def _sum(amounts: Int1, arrays: Arrays, e: int, slot: int, when: int) -> None:
    sums = arrays.sums[e, slot, when]
    sums[:] = 0
    least = OPEN if when == NOW else CLOSED
    for position in range(arrays.start[slot], arrays.start[slot] + arrays.size[slot]):
        if arrays.open[e, position] >= least:
            sums[NODES] += 1
            if amounts[position, PODS] == UNLISTED:
                sums[NODES_UNLISTED] += 1
            elif amounts[position, PODS] > 0:
                sums[PODS] += amounts[position, PODS]
            for column in range(1, amounts.shape[1]):
                if amounts[position, column] > 0:
                    sums[column] += amounts[position, column]


@inner
def by_sum(arrays: Arrays, shape: ShapeAsked, slot: int, when: int) -> tuple[int, int]:
    """The pods, and which resource ends first: 0 for `pods`, else 1 and the place among those that are asked for."""
    return _pods(arrays.sums[shape.e, slot, when], arrays.nothing, shape.columns, shape.asks)


@inner
def _pods(sums: Int1, gone: Int1, columns: Int1, asks: Int1) -> tuple[int, int]:
    least = UNLISTED if len(asks) else MAX_PODS * sums[NODES]
    first = 0
    if sums[NODES_UNLISTED] == 0:
        least = sums[PODS] - gone[PODS]
    for at in range(len(asks)):
        column = columns[at]
        here = 0 if column == NOBODY_HAS else (sums[column] - gone[column]) // asks[at]
        if here < least:
            least = here
            first = 1 + at
    return max(least, 0), first


@inner
def gang_by_sum(arrays: Arrays, gang: GangAsked, slot: int, when: int) -> tuple[int, int]:
    """The same for a gang of several shapes, with the rank of what ends first.

    Parts share the amounts only where they may be on the same nodes: so a no is certain, whatever the packing.
    """
    total = 0
    worst = 1 << 62
    lacking = 0
    for part in range(len(gang.k)):
        lengths = gang.lengths[part]
        taken = _alike(gang.e, part)
        if taken == part:
            gang.scratch.gone[part, :] = 0
        sums = arrays.sums[gang.e[part], slot, when]
        pods, first = _pods(sums, gang.scratch.gone[taken], gang.columns[part, :lengths], gang.asks[part, :lengths])
        pods = min(pods, gang.needed[part])
        left = pods - gang.needed[part]
        rank = gang.ranks[part, first]
        if left < worst or (left == worst and rank < lacking):
            worst = left
            lacking = rank
        total += pods
        gang.scratch.gone[taken, PODS] += pods
        for at in range(lengths):
            if gang.columns[part, at] != NOBODY_HAS:
                gang.scratch.gone[taken, gang.columns[part, at]] += gang.asks[part, at] * pods
    return total, lacking


@inner
def _alike(e: Int1, part: int) -> int:
    """The first part that may be on the same nodes."""
    for other in range(part):
        if e[other] == e[part]:
            return other
    return part
