"""What a set of victims costs, and in which steps dearer ones are let in."""

from collections.abc import Callable, Collection, Iterator

import numpy as np

from fairway.placement.relief.candidate_columns import CandidateColumns
from fairway.placement.relief.room.shape_room import Mask
from fairway.wire.preemption.evictions import Candidates

# The highest level and priority, the number of jobs, the work that is lost, their names.
Cost = tuple[int, int, int, int, tuple[str, ...]]


def cost(candidates: Candidates, victims: Collection[int]) -> Cost:
    return (
        max((candidates.level[at] for at in victims), default=-(1 << 62)),
        max((candidates.priority[at] for at in victims), default=-(1 << 62)),
        len(victims),
        sum([candidates.lost[at] for at in victims]),
        tuple(sorted([candidates.attempts[at] for at in victims])),
    )


def steps(columns: CandidateColumns, may: Mask, possible: Callable[[Mask], bool]) -> Iterator[Mask]:
    """Who may be victims, from the cheapest set that may be enough up to all: by the highest level, then by the highest
    priority."""
    for level in _enough(columns.level, may, possible):
        within = may & (columns.level <= level)
        for priority in _enough(columns.priority, within, possible):
            yield within & (columns.priority <= priority)


def _enough(
    values: np.ndarray[tuple[int], np.dtype[np.int64]], may: Mask, possible: Callable[[Mask], bool]
) -> list[int]:
    """The values up to which candidates have to go, from the lowest with which it is possible."""
    known: list[int] = np.unique(values[may]).tolist()
    low = 0
    high = len(known)
    while low < high:
        middle = (low + high) // 2
        if possible(may & (values <= known[middle])):
            high = middle
        else:
            low = middle + 1
    return known[low:]
