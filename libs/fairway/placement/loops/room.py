"""How many pods of a shape a node takes, kept by node and by cluster as amounts change."""

from fairway.placement.loops.compiled import inner, loop
from fairway.placement.loops.layout import (
    EVER,
    KEPT_OUT,
    LARGEST,
    MAX_PODS,
    MIXED,
    MOST_PODS,
    NOBODY_HAS,
    NONE,
    ON_PLAIN,
    OPEN,
    PLAIN,
    PODS,
    TOP,
    TOTAL,
    UNLISTED,
    Arrays,
    Int1,
    Int2,
    ShapeAsked,
)


@inner
def room(amounts: Int2, position: int, columns: Int1, asks: Int1) -> int:
    """Pods that fit in a row of amounts, each taking one of `pods` where the node lists it."""
    least = amounts[position, PODS]
    if least == UNLISTED and len(asks) == 0:
        least = MAX_PODS
    for at in range(len(asks)):  # most nodes that are full end here, without a division
        if columns[at] == NOBODY_HAS or amounts[position, columns[at]] < asks[at]:
            return 0
    for at in range(len(asks)):
        if least > 1:
            least = min(least, amounts[position, columns[at]] // asks[at])
    return int(max(0, min(least, MOST_PODS)))


@inner
def recount(arrays: Arrays, shape: ShapeAsked, positions: Int1) -> None:
    """Counts anew on nodes whose free amounts changed. A position may be there twice, and nobody's by now."""
    for position in positions:
        if arrays.kind[shape.k, position] != NONE:
            fit = room(arrays.free, position, shape.columns, shape.asks)
            if fit != arrays.pods[shape.k, position] and _is_of_a_node(arrays, position):
                move(arrays, shape, position, fit)


@inner
def _is_of_a_node(arrays: Arrays, position: int) -> bool:
    slot = arrays.home[position]
    return bool(0 <= position - arrays.start[slot] < arrays.size[slot])


@loop
def recounted(arrays: Arrays, shape: ShapeAsked, positions: Int1) -> None:
    """For who asks about no cluster yet."""
    recount(arrays, shape, positions)


@loop
def count(arrays: Arrays, shape: ShapeAsked, slots: Int1) -> None:
    """Counts these clusters from nothing: their nodes are others now."""
    for slot in slots:
        facts = arrays.facts[shape.k, slot]
        facts[:] = 0
        facts[LARGEST] = 1
        shape.tally[slot] = 0
        for position in range(arrays.start[slot], arrays.start[slot] + arrays.size[slot]):
            arrays.pods[shape.k, position] = 0
            arrays.kind[shape.k, position] = NONE
            may = arrays.open[shape.e, position]
            if may != KEPT_OUT:
                ever = room(arrays.whole, position, shape.columns, shape.asks)
                facts[EVER] += ever
                facts[LARGEST] = max(facts[LARGEST], ever)
            if may == OPEN:
                arrays.kind[shape.k, position] = _kind(arrays.whole[position], shape.besides)
                move(arrays, shape, position, room(arrays.free, position, shape.columns, shape.asks))


@loop
def shift(arrays: Arrays, asks: Int2, moved: Int2) -> None:
    """Pods come or go: rows of `moved` are a position, which row of `asks` each takes, and how many, negative when they
    come. Nothing is free of what a node does not have."""
    for at in range(len(moved)):
        position = moved[at, 0]
        for column in range(asks.shape[1]):
            if arrays.whole[position, column] > 0 and arrays.free[position, column] != UNLISTED:
                arrays.free[position, column] += asks[moved[at, 1], column] * moved[at, 2]


@inner
def _kind(whole: Int1, besides: Int1) -> int:
    for column in besides:
        if whole[column] > 0:
            return MIXED
    return PLAIN


@inner
def move(arrays: Arrays, shape: ShapeAsked, position: int, fit: int) -> None:
    """The open node takes so many pods now."""
    slot = arrays.home[position]
    before = arrays.pods[shape.k, position]
    sort = arrays.kind[shape.k, position] - PLAIN
    last = shape.tally.shape[2] - 1
    arrays.pods[shape.k, position] = fit
    arrays.facts[shape.k, slot, TOTAL] += fit - before
    if sort == 0:
        arrays.facts[shape.k, slot, ON_PLAIN] += fit - before
    if before > 0:
        shape.tally[slot, sort, min(before, last)] -= 1
    if fit > 0:
        shape.tally[slot, sort, min(fit, last)] += 1
    top = max(arrays.facts[shape.k, slot, TOP + sort], fit)
    while top > 0 and shape.tally[slot, sort, min(top, last)] == 0:
        top = min(top, last) - 1
    arrays.facts[shape.k, slot, TOP + sort] = top
