"""What every cluster says to a gang of several shapes, which may be in each other's way."""

from fairway.placement.loops.bin_packing import MAYBE, YES, attempt, certain, most
from fairway.placement.loops.compiled import inner, loop
from fairway.placement.loops.judging import answered, begin, fitting, lack, score, share
from fairway.placement.loops.layout import (
    BY_NODE,
    EVER,
    FIRST_SCORE,
    FITTING,
    FIXED,
    FOR_GOOD,
    NODES,
    NOW,
    SHORT,
    SHORT_AT_MOST,
    SHORT_BY_NODE,
    SHORT_BY_SUM,
    SHORT_CLOSED,
    SHORT_NODES,
    TOTAL,
    WHOLE_JOB,
    Arrays,
    GangAsked,
    Question,
    ShapeAsked,
    SurveyFindings,
)
from fairway.placement.loops.sums import gang_by_sum, take_sums


@loop
def judge_several(arrays: Arrays, gang: GangAsked, lead: ShapeAsked, question: Question, said: SurveyFindings) -> None:
    """Where the counts do not tell, only trying does. `lead`: the shape of the part that decides."""
    begin(said)
    for at in range(len(question.order)):
        slot = question.order[at]
        if answered(question, slot, at, said):
            continue
        if _fits(arrays, gang, slot):
            place = said.counts[FITTING]
            said.numbers[BY_NODE, place] = question.needed
            said.numbers[FIRST_SCORE + WHOLE_JOB, place] = _whole(arrays, gang, slot)
            score(arrays, lead, slot, gang.wanted[gang.lead] if len(gang.k) else 0, said)
            fitting(question, at, said)
        else:
            said.answer[at] = _lacking(arrays, gang, slot, question, said)


@inner
def _fits(arrays: Arrays, gang: GangAsked, slot: int) -> bool:
    sure = certain(arrays, gang, slot)
    return attempt(arrays, gang, slot, False) if sure == MAYBE else sure == YES


@inner
def _whole(arrays: Arrays, gang: GangAsked, slot: int) -> int:
    """The share of all pods that fit, counted part by part, which may be in each other's way: an upper bound."""
    pods = 0
    wanted = 0
    for part in range(len(gang.k)):
        wanted += gang.wanted[part]
        pods += min(gang.wanted[part], arrays.facts[gang.k[part], slot, TOTAL])
    return share(pods, wanted) if wanted else 0


@inner
def _lacking(arrays: Arrays, gang: GangAsked, slot: int, question: Question, said: SurveyFindings) -> int:
    """The numbers of a cluster without room, and its answer."""
    needed = question.needed
    by_node = most(arrays, gang, slot)
    each = 0
    nodes = 1 << 62
    closed = 0
    for part in range(len(gang.k)):
        e = gang.e[part]
        take_sums(arrays, e, slot)
        each += min(arrays.facts[gang.k[part], slot, EVER], gang.needed[part])
        nodes = min(nodes, arrays.sums[e, slot, FOR_GOOD, NODES])
        closed = max(closed, arrays.sums[e, slot, FOR_GOOD, NODES] - arrays.sums[e, slot, NOW, NODES])
    pods, lacking = gang_by_sum(arrays, gang, slot, FOR_GOOD)
    at_most = max(min(each, pods), by_node)
    if at_most >= needed:
        pods, lacking = gang_by_sum(arrays, gang, slot, NOW)
    pods = max(pods, by_node)
    place = said.counts[SHORT]
    said.numbers[SHORT_BY_NODE, place] = by_node
    said.numbers[SHORT_BY_SUM, place] = pods
    said.numbers[SHORT_AT_MOST, place] = at_most
    said.numbers[SHORT_NODES, place] = nodes
    said.numbers[SHORT_CLOSED, place] = closed
    said.counts[SHORT] += 1
    return FIXED + lack(at_most < needed, pods, needed) * question.lacks + lacking
