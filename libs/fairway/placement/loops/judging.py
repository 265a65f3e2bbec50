"""What every cluster says to one gang at one moment, and how good it is for it.

In order: a rule against it, capacity unknown, stale, recently failed there, no room. Integers only, so that the same
arrays give the same winner on every machine.
"""

from fairway.placement.loops.compiled import inner, loop
from fairway.placement.loops.filling import fill, nodes_filled
from fairway.placement.loops.layout import (
    AGE,
    AVOIDED,
    BEST,
    BEST_FITTING,
    BY_NODE,
    EVER,
    FEWEST_NODES,
    FIRST_SCORE,
    FITS,
    FITTING,
    FIXED,
    FOR_GOOD,
    FRAGMENTED,
    KEPT_AWAY,
    LACKS,
    LARGEST,
    LEFT,
    NEVER,
    NODES,
    NOT_ENOUGH,
    NOW,
    OLD,
    ON_PLAIN,
    SCARCE_GPU,
    SCORE,
    SCORES,
    SHORT,
    SHORT_AT_MOST,
    SHORT_BY_NODE,
    SHORT_BY_SUM,
    SHORT_CLOSED,
    SHORT_NODES,
    SPREAD_LOAD,
    STALE,
    TIGHTNESS,
    TOTAL,
    UNKNOWN,
    UNTIL,
    USED,
    WHOLE_JOB,
    Arrays,
    Int1,
    Question,
    ShapeAsked,
    SurveyFindings,
)
from fairway.placement.loops.room import recount
from fairway.placement.loops.sums import by_sum, take_sums


@loop
def judge(arrays: Arrays, shape: ShapeAsked, positions: Int1, question: Question, said: SurveyFindings) -> None:
    """A gang of one shape, after what changed at these positions: it fits where the sum over the nodes is enough. The
    best cluster is filled with all pods that fit."""
    needed = question.needed
    wanted = question.wanted
    recount(arrays, shape, positions)
    begin(said)
    for at in range(len(question.order)):
        slot = question.order[at]
        if answered(question, slot, at, said):
            continue
        total = arrays.facts[shape.k, slot, TOTAL]
        if total >= needed:
            place = said.counts[FITTING]
            said.numbers[BY_NODE, place] = total
            said.numbers[FIRST_SCORE + WHOLE_JOB, place] = share(min(wanted, total), wanted)
            score(arrays, shape, slot, wanted, said)
            fitting(question, at, said)
        else:
            said.answer[at] = _lacking(arrays, shape, slot, needed, said)
    if said.counts[BEST] >= 0:
        slot = question.order[said.counts[BEST]]
        end = arrays.start[slot] + arrays.size[slot]
        fits = arrays.pods[shape.k, arrays.start[slot] : end]
        said.counts[USED] = fill(fits, arrays.kind[shape.k, arrays.start[slot] : end], wanted, said.at, said.pods)


@inner
def begin(said: SurveyFindings) -> None:
    for one in range(len(said.counts)):
        said.counts[one] = 0
    said.counts[BEST] = -1


@inner
def answered(question: Question, slot: int, at: int, said: SurveyFindings) -> bool:
    """What a rule or the time says against this cluster, if they do."""
    rule = question.ruled[slot]
    seen = question.observed[slot]
    if seen == 0 and (rule == 0 or question.kind_rules[rule]):
        said.answer[at] = UNKNOWN  # before the first report nobody knows its kinds either
    elif rule > 0:
        said.answer[at] = FIXED + LACKS * question.lacks + rule - 1
    elif question.now - seen > question.stale_after:
        said.answer[at] = STALE
        said.numbers[AGE, said.counts[OLD]] = question.now - seen
        said.counts[OLD] += 1
    elif question.avoided[slot] > question.now:
        said.answer[at] = AVOIDED
        said.numbers[LEFT, said.counts[KEPT_AWAY]] = question.avoided[slot] - question.now
        said.numbers[UNTIL, said.counts[KEPT_AWAY]] = question.avoided[slot]
        said.counts[KEPT_AWAY] += 1
    else:
        return False
    return True


@inner
def score(arrays: Arrays, shape: ShapeAsked, slot: int, wanted: int, said: SurveyFindings) -> None:
    """All scores but that of the whole job, by the shape that decides; all are 0 where it has no room."""
    place = said.counts[FITTING]
    total = arrays.facts[shape.k, slot, TOTAL]
    pods = min(wanted, total)
    if pods == 0:
        for one in range(SCORES):
            said.numbers[FIRST_SCORE + one, place] = 0
        return
    largest = arrays.facts[shape.k, slot, LARGEST]
    said.numbers[FIRST_SCORE + SCARCE_GPU, place] = share(min(pods, arrays.facts[shape.k, slot, ON_PLAIN]), pods)
    said.numbers[FIRST_SCORE + TIGHTNESS, place] = share(pods, total)
    nodes = nodes_filled(arrays, shape, slot, pods)
    said.numbers[FIRST_SCORE + FEWEST_NODES, place] = (
        100 if nodes == 1 else share((pods + largest - 1) // largest, nodes)
    )
    said.numbers[FIRST_SCORE + SPREAD_LOAD, place] = share(total - pods, max(arrays.facts[shape.k, slot, EVER], 1))


@inner
def share(part: int, of: int) -> int:
    """In hundredths, rounded down. A division is most of what a cluster costs here."""
    return 100 if part == of else 100 * part // of


@inner
def fitting(question: Question, at: int, said: SurveyFindings) -> None:
    """Weighs the scores of the cluster that was looked at last."""
    place = said.counts[FITTING]
    weighed = 0
    for one in range(SCORES):
        weighed += question.weights[one] * said.numbers[FIRST_SCORE + one, place]
    said.numbers[SCORE, place] = weighed
    if said.counts[BEST] < 0 or weighed > said.numbers[SCORE, said.counts[BEST_FITTING]]:
        said.counts[BEST] = at
        said.counts[BEST_FITTING] = place
    said.answer[at] = FITS
    said.counts[FITTING] += 1


@inner
def _lacking(arrays: Arrays, shape: ShapeAsked, slot: int, needed: int, said: SurveyFindings) -> int:
    """The numbers of a cluster without room, and its answer."""
    take_sums(arrays, shape.e, slot)
    total = arrays.facts[shape.k, slot, TOTAL]
    ever = arrays.facts[shape.k, slot, EVER]
    never = ever < needed
    pods, first = by_sum(arrays, shape, slot, FOR_GOOD if never else NOW)
    pods = max(pods, total)
    nodes = arrays.sums[shape.e, slot, FOR_GOOD, NODES]
    place = said.counts[SHORT]
    said.numbers[SHORT_BY_NODE, place] = total
    said.numbers[SHORT_BY_SUM, place] = pods
    said.numbers[SHORT_AT_MOST, place] = ever
    said.numbers[SHORT_NODES, place] = nodes
    said.numbers[SHORT_CLOSED, place] = nodes - arrays.sums[shape.e, slot, NOW, NODES]
    said.counts[SHORT] += 1
    return FIXED + lack(never, pods, needed) * (1 + len(shape.asks)) + first


@inner
def lack(never: bool, by_sum: int, needed: int) -> int:
    """Which of the three lacks it is."""
    if never:
        return NEVER
    return FRAGMENTED if by_sum >= needed else NOT_ENOUGH
