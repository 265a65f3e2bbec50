"""What every cluster says to one gang at one moment, all clusters together."""

from functools import lru_cache

import numpy as np
from msgspec.structs import astuple

from fairway.placement.engine.change_log import Numbers
from fairway.placement.engine.engine import Engine
from fairway.placement.engine.gangs import lacking_names
from fairway.placement.loops.gang_judging import judge_several
from fairway.placement.loops.judging import judge
from fairway.placement.loops.layout import Question, SurveyFindings
from fairway.placement.policy_rules import Answer, WantedClusters
from fairway.placement.scores import Weights
from fairway.placement.shapes import Demand, Shape, Where, lead
from fairway.placement.verdicts.table import Names, VerdictTable, blank
from fairway.placement.verdicts.verdict import Context
from fairway.wire.reasons import Code

_FIXED: tuple[Answer, ...] = (
    (Code.FITS, ""),
    (Code.CAPACITY_UNKNOWN, ""),
    (Code.CAPACITY_STALE, ""),
    (Code.RECENTLY_FAILED, ""),
)
_NO_RULES = np.zeros(1, np.uint8)
_WITHOUT_REQUESTS = Shape((), Where())
_LACKS = (Code.NOT_ENOUGH, Code.FRAGMENTED, Code.NEVER_FITS)


def survey(engine: Engine, demand: Demand, wanted: WantedClusters, context: Context) -> VerdictTable:
    """Every cluster's answer, in the order of names; of one shape with where the pods go in the best."""
    rules = engine.rules(wanted)
    clusters = engine.clusters
    answers, lacks = _answers(demand)
    needed = demand.needed
    stale_after = context.stale_after
    question = Question(
        clusters.order,
        rules.index,
        rules.of_kinds,
        clusters.observed,
        clusters.avoided(context.avoid),
        _weights(context.weights),
        context.now,
        stale_after,
        lacks,
        needed,
        demand.parts[0].wanted if demand.parts else 0,
    )
    said = _asked(engine, demand, question)
    constants = {"needed": needed, "limit": stale_after}
    return VerdictTable(clusters.names, (answers, rules.answers), said, constants, context.weights)


def room_of(engine: Engine, slot: int, demand: Demand) -> VerdictTable:
    """What one cluster says, rules and time aside."""
    answers, lacks = _answers(demand)
    order = np.array([slot], np.int64)
    none = np.zeros(slot + 1, np.int64)
    pods = (demand.needed, demand.parts[0].wanted if demand.parts else 0)
    question = Question(order, none, _NO_RULES, none + 1, none, _weights(Weights()), 1, 1, lacks, *pods)
    said = _asked(engine, demand, question)
    return VerdictTable(Names(("",)), (answers, ()), said, {"needed": demand.needed}, Weights())


def _asked(engine: Engine, demand: Demand, question: Question) -> SurveyFindings:
    clusters = len(question.order)
    if len(demand.parts) == 1:
        shape, changed = engine.changed(demand.parts[0].shape)
        said = blank(clusters, min(question.wanted, engine.rows.largest))
        judge.run(engine.arrays, shape, changed, question, said)
        return said
    gang, shapes = engine.gang(demand)
    if not shapes:
        shapes = engine.counts([_WITHOUT_REQUESTS])
    said = blank(clusters)
    judge_several.run(engine.arrays, gang, shapes[lead(demand)], question, said)
    return said


@lru_cache(maxsize=4096)
def _answers(demand: Demand) -> tuple[tuple[Answer, ...], int]:
    """What a cluster may answer, rules aside; and how many things it may lack."""
    lacking = lacking_names(demand)
    return (*_FIXED, *((code, name) for code in _LACKS for name in lacking)), len(lacking)


@lru_cache(maxsize=64)
def _weights(weights: Weights) -> Numbers:
    return np.array(astuple(weights), np.int64)
