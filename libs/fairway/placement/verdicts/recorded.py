"""Verdicts as the decision record keeps them, and back again for whoever asks for words."""

from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import astuple

from fairway.placement.loops.layout import FITTING, ROWS, SCORE
from fairway.placement.loops.record_columns import ANSWER, FIRST_ROW, pack
from fairway.placement.policy_rules import Answer
from fairway.placement.verdicts.sentences import sentence
from fairway.placement.verdicts.table import FAMILIES, NUMBERS, SCORES, VerdictTable
from fairway.placement.verdicts.verdict import ClusterVerdict
from fairway.wire import jobs as wire

_encode = msgspec.json.Encoder().encode
_pack = msgspec.msgpack.Encoder().encode
Column = int | memoryview
# A number has at most eight bytes, and before each column stands how many.
_MOST_BYTES = 8


class _Found(Struct, omit_defaults=True):
    """`wire.spec.Found` on its way out: names as they were written before, columns as they lie."""

    clusters: Raw | UnsetType
    answers: list[Answer]
    answer: Column
    numbers: dict[str, dict[str, Column]]
    scores: dict[str, Column]
    weights: tuple[int, ...]


def recorded(verdict_table: VerdictTable) -> Raw:
    """Every cluster's verdict and scores. The weighted sum of these is left out: it follows from them."""
    return Raw(_encode(_found(verdict_table, verdict_table.names.written)))


def packed(verdict_table: VerdictTable) -> Raw:
    """The same in msgpack, and without the names of the clusters."""
    return Raw(_pack(_found(verdict_table, UNSET)))


def _found(verdict_table: VerdictTable, clusters: Raw | UnsetType) -> _Found:
    said = verdict_table.said
    answers = np.empty(2 * verdict_table.most_answers, np.int64)
    same = np.empty(FIRST_ROW + ROWS, np.int64)
    into = np.empty((FIRST_ROW + ROWS) * (_MOST_BYTES * len(verdict_table) + 1), np.uint8)
    used = pack(said, _COUNT_OF, answers, same, into)
    columns = _columns(same.tolist(), into.data)
    counts = said.counts.tolist()
    numbers: dict[str, dict[str, Column]] = {}
    for kind, count, constant, rows in _NUMBERS:
        if counts[count]:
            numbers[kind] = {name: columns[column] for name, column in rows}
            if constant:
                numbers[kind][constant] = verdict_table.constants[constant]
    scores: dict[str, Column] = {}
    weights: tuple[int, ...] = ()
    if counts[FITTING]:
        scores = {name: columns[column] for name, column in _SCORES}
        weights = astuple(verdict_table.weights)
    given = [verdict_table.answer(which) for which in answers[:used].tolist()]
    return _Found(clusters, given, columns[ANSWER], numbers, scores, weights)


def _columns(same: list[int], into: memoryview) -> list[Column]:
    columns: list[Column] = []
    end = 0
    for one in same:
        if one >= 0:
            columns.append(one)
        else:
            begin = end
            end -= one + 1
            columns.append(into[begin:end])
    return columns


def _rows(kind: str, of_scores: bool) -> list[tuple[str, int]]:
    rows = FAMILIES[kind].rows.items()
    return [(name, FIRST_ROW + row) for name, row in rows if (name in SCORES) is of_scores and row != SCORE]


# Of each kind of answer where its count, its constant number and its columns are.
_NUMBERS = [(kind, one.count, one.constant, _rows(kind, of_scores=False)) for kind, one in FAMILIES.items()]
_SCORES = _rows("fits", of_scores=True)
_COUNT_OF = np.array([-1 if row == SCORE else one.count for one in FAMILIES.values() for row in one.rows.values()])


def words(verdict: wire.Verdict, asks: str = "") -> str:
    """The sentence of a recorded verdict; `asks` is the gang in words."""
    numbers: dict[str, Any] = {name: value for name, value in verdict.numbers.items() if name in NUMBERS}
    return sentence(ClusterVerdict(verdict.cluster, verdict.code, verdict.about, **numbers), asks)
