"""Which nodes of a cluster are filled with equal pods: the fewest, the tightest last, big holes left whole."""

from fairway.placement.loops.compiled import inner
from fairway.placement.loops.layout import MIXED, ON_PLAIN, PLAIN, TOP, Arrays, Byte1, Int1, ShapeAsked, Small1


@inner
def fill(fits: Int1 | Small1, kinds: Byte1, amount: int, at: Int1, pods: Int1) -> int:
    """Puts `amount` pods, or as many as fit, on nodes that take so many each. Nodes with resources that a pod does not
    ask for come last. Writes the places of nodes and the pods on each; returns how many nodes."""
    used = 0
    for kind in (PLAIN, MIXED):
        total = 0
        for node in range(len(fits)):
            if kinds[node] == kind:
                total += fits[node]
        here = min(amount, total)
        used = _fill_equal(fits, kinds, (kind, here), (at, pods), used)
        amount -= here
    return used


@inner
def _fill_equal(fits: Int1 | Small1, kinds: Byte1, wanted: tuple[int, int], into: tuple[Int1, Int1], used: int) -> int:
    """Nodes of one kind: the largest whole while they are needed whole, then the smallest that takes the rest. Equals
    go by name.

    This uses the fewest nodes: no choice of n nodes holds more than the n largest.
    """
    kind, amount = wanted
    at, pods = into
    size = 1 << 62
    while amount > 0:
        size = _next_smaller(fits, kinds, kind, size)
        for node in range(len(fits)):
            if kinds[node] == kind and fits[node] == size and amount > 0:
                at[used] = node
                if amount < size:
                    at[used] = _tightest(fits, kinds, (kind, amount, size), node)
                pods[used] = min(amount, size)
                amount -= pods[used]
                used += 1
    return used


@inner
def _next_smaller(fits: Int1 | Small1, kinds: Byte1, kind: int, size: int) -> int:
    largest = 0
    for node in range(len(fits)):
        if kinds[node] == kind and largest < fits[node] < size:
            largest = fits[node]
    return largest


@inner
def _tightest(fits: Int1 | Small1, kinds: Byte1, wanted: tuple[int, int, int], node: int) -> int:
    """The first of the smallest nodes that take so many, if one is smaller than this node of the given size."""
    kind, amount, size = wanted
    best = node
    for other in range(len(fits)):
        if kinds[other] == kind and amount <= fits[other] < size:
            best = other
            size = fits[other]
    return best


@inner
def nodes_filled(arrays: Arrays, shape: ShapeAsked, slot: int, amount: int) -> int:
    """On how many nodes so many pods go, which must fit."""
    first = min(amount, arrays.facts[shape.k, slot, ON_PLAIN])
    return _nodes_of(arrays, shape, slot, 0, first) + _nodes_of(arrays, shape, slot, 1, amount - first)


@inner
def _nodes_of(arrays: Arrays, shape: ShapeAsked, slot: int, sort: int, amount: int) -> int:
    size = arrays.facts[shape.k, slot, TOP + sort]
    if size >= shape.tally.shape[2] - 1:
        return _untallied(arrays, shape, slot, sort, amount)
    if amount <= size:
        return min(amount, 1)
    tally = shape.tally
    nodes = 0
    while tally[slot, sort, size] * size < amount:
        nodes += tally[slot, sort, size]
        amount -= tally[slot, sort, size] * size
        size -= 1
    return nodes + 1 if amount <= size else nodes + (amount + size - 1) // size


@inner
def _untallied(arrays: Arrays, shape: ShapeAsked, slot: int, sort: int, amount: int) -> int:
    """Where some nodes take more pods than are told apart: the largest one after the other, looked for each time."""
    nodes = 0
    before = 1 << 62
    while amount > 0:
        size = 0
        alike = 0
        for position in range(arrays.start[slot], arrays.start[slot] + arrays.size[slot]):
            fit = arrays.pods[shape.k, position]
            if arrays.kind[shape.k, position] == PLAIN + sort and size <= fit < before:
                alike = alike + 1 if fit == size else 1
                size = fit
        nodes += min(alike, (amount + size - 1) // size)
        amount -= alike * size
        before = size
    return nodes
