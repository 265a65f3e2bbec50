"""Which cluster is nearest to a yes, for who says what would help."""

from fairway.placement.loops.compiled import inner, loop
from fairway.placement.loops.layout import (
    BY_NODE,
    FREE,
    SHORT_AT_MOST,
    SHORT_BY_NODE,
    SHORT_BY_SUM,
    TAKEN,
    TOO_SMALL,
    Int1,
    SurveyFindings,
)


@loop
def nearest(said: SurveyFindings, nearness: Int1) -> int:
    """Its place, the first among equals: room that it has or that others hold first, by pods node by node, then by sum;
    then what a report or time will change; then what is too small, by the pods that it would hold. `nearness` by
    answer."""
    best = (-1, 0, 0)
    found = 0
    fits = 0
    short = 0
    for at in range(len(said.answer)):
        near = nearness[said.answer[at]]
        rank = _rank(said, near, fits if near == FREE else short)
        fits += near == FREE
        short += near in (TAKEN, TOO_SMALL)
        if rank > best:
            best = rank
            found = at
    return found


@inner
def _rank(said: SurveyFindings, near: int, place: int) -> tuple[int, int, int]:
    if near == FREE:
        return TAKEN, said.numbers[BY_NODE, place], 0
    if near == TAKEN:
        return TAKEN, said.numbers[SHORT_BY_NODE, place], said.numbers[SHORT_BY_SUM, place]
    if near == TOO_SMALL:
        return TOO_SMALL, said.numbers[SHORT_AT_MOST, place], 0
    return near, 0, 0
