"""The search for the fewest victims within those that may go, all of them alike in level and priority or nearly so.

It starts from what is enough and then lets stay whom it can: whoever is left was needed. Two starts are compared: those
that give most, one after the other; and all.
"""

from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice, permutations

from fairway.placement.relief.cost import Cost, cost
from fairway.placement.relief.trial import Trial
from fairway.wire.preemption.evictions import Candidates

# With so many members or fewer, one that stays after the other from all of them is tried, too.
_FEW = 64
# Where the reclaim of some forbids that of others, so many sets are tried in one cluster, one after the other.
_MOST_SETS = 2_000
# So many orders of the resources that are reclaimed.
_MOST_TURNS = 6


def victims(trial: Trial, members: Sequence[int], candidates: Candidates) -> list[int] | None:
    """Who has to go, in an order in which they may, or None where nothing was found; who was gone last still is."""
    starts: list[Callable[[], bool]] = [lambda: _those_that_give_most(trial, members, candidates)]
    if len(members) <= _FEW:
        starts.append(lambda: _all(trial, members))
    found = _cheapest(trial, starts, candidates)
    if found is None and trial.reclaimed.refused:
        starts.append(lambda: _any_set(trial, members))
        for turns in islice(permutations(trial.reclaimed.turns), _MOST_TURNS):
            trial.clear()
            trial.reclaimed.turns = turns
            found = found or _cheapest(trial, starts, candidates)
    return found


def _cheapest(trial: Trial, starts: Iterable[Callable[[], bool]], candidates: Candidates) -> list[int] | None:
    found: dict[Cost, list[int]] = {}
    for start in starts:
        trial.clear()
        if start():
            _let_stay(trial, candidates)
            found[cost(candidates, trial.gone)] = sorted(trial.gone, key=trial.reclaimed.order)
    return found[min(found)] if found else None


def _those_that_give_most(trial: Trial, members: Sequence[int], candidates: Candidates) -> bool:
    """What one gives changes as others go: it is counted anew for who holds some of the same nodes, and for whoever is
    next."""

    def entry(one: int) -> tuple[int, int, int, int]:
        needed, given = trial.share(one)
        return -needed, candidates.lost[one], -given, one

    heap = [entry(one) for one in members]
    heapify(heap)
    refused: set[int] = set()
    while heap and not trial.enough:
        top = heappop(heap)
        one = top[-1]
        if one in trial.gone or one in refused:
            continue
        now = entry(one)
        if now > top:
            heappush(heap, now)
        elif trial.go(one):
            for other in trial.beside(one):
                if other not in trial.gone:
                    heappush(heap, entry(other))
        else:
            refused.add(one)
    return trial.enough


def _all(trial: Trial, members: Sequence[int]) -> bool:
    for one in sorted(members, key=lambda one: (-trial.share(one)[0], one)):
        trial.go(one)
    return trial.enough


def _any_set(trial: Trial, members: Sequence[int]) -> bool:
    """Set after set, within a bound."""
    left = _MOST_SETS

    def tried(at: int) -> bool:
        nonlocal left
        left -= 1
        if trial.enough:
            return True
        if at == len(members) or left < 0:
            return False
        if trial.go(members[at]):
            if tried(at + 1):
                return True
            trial.stay(members[at])
        return tried(at + 1)

    return tried(0)


def _let_stay(trial: Trial, candidates: Candidates) -> None:
    """From the dearest to the cheapest; of equals, those first that give least."""
    changed = True
    while changed:
        changed = False
        for one in sorted(trial.gone, key=lambda one: _dearness(trial, candidates, one)):
            trial.stay(one)
            if trial.enough:
                changed = True
            else:
                trial.go(one)


def _dearness(trial: Trial, candidates: Candidates, one: int) -> tuple[int, int, int, int, int]:
    return -candidates.level[one], -candidates.priority[one], trial.loss(one), -candidates.lost[one], -one
