"""Verdicts as the decision record keeps them, and back again for whoever asks for words."""

from typing import Any

import msgspec
import numpy as np
from msgspec import Raw, Struct

from fairway.placement.columns.cluster_scores import Column
from fairway.placement.policy_rules import Answer
from fairway.placement.verdicts.sentences import sentence
from fairway.placement.verdicts.table import FITS, NUMBERS, SCORES, VerdictTable
from fairway.placement.verdicts.verdict import ClusterVerdict
from fairway.wire import jobs as wire

_encode = msgspec.json.Encoder().encode


class _Found(Struct, omit_defaults=True):
    """`wire.spec.Found` on its way out: names as they were written before, columns as they lie."""

    clusters: Raw
    answers: list[Answer]
    answer: Any
    numbers: dict[str, dict[str, Any]]
    scores: dict[str, Any]


def recorded(verdict_table: VerdictTable) -> Raw:
    """Every cluster's verdict and scores."""
    used = np.bincount(verdict_table.answer, minlength=len(verdict_table.answers)).nonzero()[0]
    answers = [verdict_table.answers[index] for index in used.tolist()]
    place = np.zeros(len(verdict_table.answers), np.int64)
    place[used] = np.arange(len(used))
    numbers = {
        family: {name: _column(one) for name, one in columns.items() if name not in SCORES}
        for family, columns in verdict_table.columns.items()
    }
    scores = {name: _column(one) for name, one in verdict_table.columns.get(FITS, {}).items() if name in SCORES}
    answer = 0 if len(answers) == 1 else place[verdict_table.answer].tolist()
    return Raw(_encode(_Found(verdict_table.names.written, answers, answer, numbers, scores)))


def _column(one: Column) -> int | list[int]:
    return one if isinstance(one, int) else one.tolist()


def words(verdict: wire.Verdict, asks: str = "") -> str:
    """The sentence of a recorded verdict; `asks` is the gang in words."""
    numbers: dict[str, Any] = {name: value for name, value in verdict.numbers.items() if name in NUMBERS}
    return sentence(ClusterVerdict(verdict.cluster, verdict.code, verdict.about, **numbers), asks)
