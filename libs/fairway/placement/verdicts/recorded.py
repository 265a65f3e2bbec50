"""Verdicts as the decision record keeps them, and back again for whoever asks for words."""

from typing import Any

import msgspec
import numpy as np
from msgspec import Raw, Struct
from msgspec.structs import astuple

from fairway.placement.loops.layout import FITTING, ROWS, SCORE
from fairway.placement.loops.packing import ANSWER, FIRST_ROW, pack
from fairway.placement.policy_rules import Answer
from fairway.placement.verdicts.sentences import sentence
from fairway.placement.verdicts.table import FAMILIES, NUMBERS, SCORES, VerdictTable
from fairway.placement.verdicts.verdict import ClusterVerdict
from fairway.wire import jobs as wire

_encode = msgspec.json.Encoder().encode
Column = int | memoryview
# A number has at most eight bytes, and before each column stands how many.
_MOST_BYTES = 8


class _Found(Struct, omit_defaults=True):
    """`wire.spec.Found` on its way out: names as they were written before, columns as they lie."""

    clusters: Raw
    answers: list[Answer]
    answer: Column
    numbers: dict[str, dict[str, Column]]
    scores: dict[str, Column]
    weights: tuple[int, ...]


def recorded(verdict_table: VerdictTable) -> Raw:
    """Every cluster's verdict and scores. The weighted sum of these is left out: it follows from them."""
    said = verdict_table.said
    number = np.zeros(len(verdict_table.answers), np.int64)
    same = np.empty(FIRST_ROW + ROWS, np.int64)
    into = np.empty((FIRST_ROW + ROWS) * (_MOST_BYTES * len(verdict_table) + 1), np.uint8)
    pack(said, said.counts[_COUNTS] * _READ, number, same, into)
    columns = _columns(same.tolist(), into.data)
    counts = said.counts.tolist()
    numbers: dict[str, dict[str, Column]] = {}
    for kind, family in FAMILIES.items():
        if counts[family.count]:
            numbers[kind] = {name: columns[FIRST_ROW + row] for name, row in _NUMBERS[kind]}
            if family.constant:
                numbers[kind][family.constant] = verdict_table.constants[family.constant]
    scores: dict[str, Column] = {}
    weights: tuple[int, ...] = ()
    if counts[FITTING]:
        scores = {name: columns[FIRST_ROW + row] for name, row in _SCORES}
        weights = astuple(verdict_table.weights)
    answers = [answer for answer, one in zip(verdict_table.answers, number.tolist(), strict=True) if one >= 0]
    return Raw(_encode(_Found(verdict_table.names.written, answers, columns[ANSWER], numbers, scores, weights)))


def _columns(same: list[int], into: memoryview) -> list[Column]:
    columns: list[Column] = []
    end = 0
    for one in same:
        if one >= 0:
            columns.append(one)
        else:
            begin, end = end, end - one - 1
            columns.append(into[begin:end])
    return columns


# By kind of answer, and by name, where the numbers lie; and what has to be read of each row.
_NUMBERS = {
    kind: [(one, row) for one, row in each.rows.items() if one not in SCORES] for kind, each in FAMILIES.items()
}
_SCORES = [(name, row) for name, row in FAMILIES["fits"].rows.items() if name in SCORES and row != SCORE]
_COUNTS = np.array([family.count for family in FAMILIES.values() for _ in family.rows], np.int64)
_READ = np.array([int(row != SCORE) for row in range(ROWS)], np.int64)


def words(verdict: wire.Verdict, asks: str = "") -> str:
    """The sentence of a recorded verdict; `asks` is the gang in words."""
    numbers: dict[str, Any] = {name: value for name, value in verdict.numbers.items() if name in NUMBERS}
    return sentence(ClusterVerdict(verdict.cluster, verdict.code, verdict.about, **numbers), asks)
