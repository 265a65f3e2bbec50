"""Several shapes on the same nodes: bin packing, by a bounded heuristic that never says yes wrongly.

Parts are packed one after another, most constrained first; if that fails, in the reverse order, and no further. It can
miss a plan that exists. It never returns one that does not: every part is counted on the nodes with what the parts
before it took already off.
"""

from fairway.placement.loops.compiled import inner, loop
from fairway.placement.loops.filling import fill
from fairway.placement.loops.layout import NOBODY_HAS, PODS, TOP, TOTAL, UNLISTED, Arrays, GangAsked, Int1
from fairway.placement.loops.room import room

NO, YES, MAYBE = range(3)


@loop
def placed(arrays: Arrays, gang: GangAsked, slot: int) -> bool:
    """All pods, or else the gang and as many more as fit, part by part in manifest order."""
    if attempt(arrays, gang, slot, True):
        return True
    if not attempt(arrays, gang, slot, False):
        return False
    for part in range(len(gang.k)):
        have = gang.into.used[part]
        more = gang.wanted[part]
        for which in range(have):
            more -= gang.into.pods[part, which]
        _add(arrays, gang, slot, part, more)
        _merge(gang, part, have)
    return True


@inner
def certain(arrays: Arrays, gang: GangAsked, slot: int) -> int:
    """Whether the gang fits, without placing it: MAYBE when only trying can tell.

    k pods touch at most k nodes: what is left for a part is at least its total less, for every pod placed before it,
    the most that one node holds.
    """
    for part in range(len(gang.k)):
        if arrays.facts[gang.k[part], slot, TOTAL] < gang.needed[part]:
            return NO
    constrained_first(arrays, gang, slot, gang.needed)
    before = 0
    for at in range(len(gang.k)):
        part = gang.scratch.order[at]
        needed = gang.needed[part]
        largest = max(arrays.facts[gang.k[part], slot, TOP], arrays.facts[gang.k[part], slot, TOP + 1])
        if needed > 0 and arrays.facts[gang.k[part], slot, TOTAL] - before * largest < needed:
            return MAYBE
        before += needed
    return YES


@inner
def constrained_first(arrays: Arrays, gang: GangAsked, slot: int, amounts: Int1) -> None:
    """Orders the parts: the least room for each pod to place first, manifest order among equals."""
    for part in range(len(gang.k)):
        gang.scratch.each[part] = arrays.facts[gang.k[part], slot, TOTAL] // max(amounts[part], 1)
        at = part
        while at > 0 and gang.scratch.each[gang.scratch.order[at - 1]] > gang.scratch.each[part]:
            gang.scratch.order[at] = gang.scratch.order[at - 1]
            at -= 1
        gang.scratch.order[at] = part


@inner
def attempt(arrays: Arrays, gang: GangAsked, slot: int, every: bool) -> bool:
    """All pods of every part on nodes of a cluster, or (`every` is False) those that must fit, if one of the orders
    finds room for them."""
    amounts = gang.wanted if every else gang.needed
    for part in range(len(gang.k)):
        if arrays.facts[gang.k[part], slot, TOTAL] < amounts[part]:
            return False
    constrained_first(arrays, gang, slot, amounts)
    return _attempt_in_order(arrays, gang, slot, every, 0) or _attempt_in_order(arrays, gang, slot, every, 1)


@inner
def _attempt_in_order(arrays: Arrays, gang: GangAsked, slot: int, every: bool, turn: int) -> bool:
    _begin(arrays, gang, slot)
    for at in range(len(gang.k)):
        part = gang.scratch.order[len(gang.k) - 1 - at if turn else at]
        amount = gang.wanted[part] if every else gang.needed[part]
        gang.into.used[part] = 0
        if _add(arrays, gang, slot, part, amount) < amount:
            return False
    return True


@inner
def _begin(arrays: Arrays, gang: GangAsked, slot: int) -> None:
    """The cluster as it is, for one more try: what is free on a node is copied when pods are put there."""
    for node in range(arrays.size[slot]):
        gang.scratch.touched[node] = 0


@inner
def _add(arrays: Arrays, gang: GangAsked, slot: int, part: int, amount: int) -> int:
    """Places so many pods of a part, or as many as fit, behind those that were placed, and takes them off what is free.
    Returns how many."""
    k = gang.k[part]
    if amount <= 0 or arrays.facts[k, slot, TOTAL] == 0:
        return 0
    start = arrays.start[slot]
    size = arrays.size[slot]
    lengths = gang.lengths[part]
    for node in range(size):
        gang.scratch.fits[node] = arrays.pods[k, start + node]
        if gang.scratch.touched[node] and gang.scratch.fits[node] > 0:
            left = room(gang.scratch.free, node, gang.columns[part, :lengths], gang.asks[part, :lengths])
            gang.scratch.fits[node] = min(gang.scratch.fits[node], left)
    kinds = arrays.kind[k, start : start + size]
    first = gang.into.used[part]
    gang.into.used[part] += fill(
        gang.scratch.fits[:size], kinds, amount, gang.into.at[part, first:], gang.into.pods[part, first:]
    )
    done = 0
    for which in range(first, gang.into.used[part]):
        _take(arrays, gang, slot, part, which)
        done += gang.into.pods[part, which]
    return done


@inner
def _take(arrays: Arrays, gang: GangAsked, slot: int, part: int, which: int) -> None:
    node = gang.into.at[part, which]
    pods = gang.into.pods[part, which]
    if not gang.scratch.touched[node]:
        gang.scratch.touched[node] = 1
        for column in range(arrays.free.shape[1]):
            gang.scratch.free[node, column] = arrays.free[arrays.start[slot] + node, column]
    if gang.scratch.free[node, PODS] != UNLISTED:
        gang.scratch.free[node, PODS] -= pods
    for ask in range(gang.lengths[part]):
        if gang.columns[part, ask] != NOBODY_HAS:
            gang.scratch.free[node, gang.columns[part, ask]] -= gang.asks[part, ask] * pods


@inner
def _merge(gang: GangAsked, part: int, first: int) -> None:
    """A node stands there once, also if more pods were placed on it later (from place `first` on)."""
    kept = first
    for which in range(first, gang.into.used[part]):
        same = -1
        for before in range(first):
            if gang.into.at[part, before] == gang.into.at[part, which]:
                same = before
        if same >= 0:
            gang.into.pods[part, same] += gang.into.pods[part, which]
        else:
            gang.into.at[part, kept] = gang.into.at[part, which]
            gang.into.pods[part, kept] = gang.into.pods[part, which]
            kept += 1
    gang.into.used[part] = kept


@inner
def most(arrays: Arrays, gang: GangAsked, slot: int) -> int:
    """The most pods of the gang that one of the tried orders places."""
    constrained_first(arrays, gang, slot, gang.needed)
    bound = 0
    for part in range(len(gang.k)):
        bound += min(gang.needed[part], arrays.facts[gang.k[part], slot, TOTAL])
    best = 0
    for turn in range(2):
        if best == bound:
            break
        _begin(arrays, gang, slot)
        pods = 0
        for at in range(len(gang.k)):
            part = gang.scratch.order[len(gang.k) - 1 - at if turn else at]
            gang.into.used[part] = 0
            pods += _add(arrays, gang, slot, part, gang.needed[part])
        best = max(best, pods)
    return best
