"""Every cluster's verdict in columns: what a choice rests on, made in one go and taken apart only for who asks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

from fairway.placement.engine.change_log import Numbers
from fairway.placement.loops.layout import (
    AGE,
    BEST,
    BY_NODE,
    COUNTS,
    FITTING,
    FREE,
    KEPT_AWAY,
    LEFT,
    OLD,
    PASSING,
    ROWS,
    RULED_OUT,
    SHORT,
    SHORT_BY_NODE,
    TAKEN,
    TOO_SMALL,
    USED,
    SurveyFindings,
)
from fairway.placement.loops.nearness import nearest
from fairway.placement.policy_rules import Answer
from fairway.placement.scores import Score, Weights
from fairway.placement.verdicts.verdict import ClusterVerdict
from fairway.wire.reasons import Code
from fairway.wire.spec import KINDS

SCORES = Score.__struct_fields__
NUMBERS = ClusterVerdict.__struct_fields__[3:-1]


class AnswerFamily:
    """Answers that come with the same numbers: the place of their `count` among the counts, and the names of their rows
    from `first` on. `constant` is the number that is the same for all of a choice."""

    def __init__(self, count: int, first: int, rows: tuple[str, ...], constant: str) -> None:
        self.count = count
        self.rows = {name: first + at for at, name in enumerate(rows)}
        self.constant = constant


# By the kind of answer. Answers of other kinds come with no numbers.
FAMILIES = {
    "fits": AnswerFamily(FITTING, BY_NODE, ("by_node", *SCORES), "needed"),
    "short": AnswerFamily(SHORT, SHORT_BY_NODE, ("by_node", "by_sum", "at_most", "nodes", "closed"), "needed"),
    "stale": AnswerFamily(OLD, AGE, ("age",), "limit"),
    "avoided": AnswerFamily(KEPT_AWAY, LEFT, ("left", "until"), ""),
}


_NEAR = {
    Code.FITS: FREE,
    Code.NOT_ENOUGH: TAKEN,
    Code.FRAGMENTED: TAKEN,
    Code.NEVER_FITS: TOO_SMALL,
    Code.CAPACITY_UNKNOWN: PASSING,
    Code.CAPACITY_STALE: PASSING,
    Code.RECENTLY_FAILED: PASSING,
}
Answers = tuple[Sequence[Answer], Sequence[Answer]]


class Names:
    """The clusters of a fleet in order, and that as it is written in a record; shared by all tables until a cluster
    comes or goes."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self.rank = {name: index for index, name in enumerate(self.names)}
        self.written = Raw(msgspec.json.encode(self.names))


class VerdictTable:
    """`said.answer` says for each cluster which of `answers` is its own: those of placement, with those of rules behind
    them. `constants` are the numbers that all clusters were asked with, `weights` those of the scores."""

    def __init__(
        self, names: Names, answers: Answers, said: SurveyFindings, constants: Mapping[str, int], weights: Weights
    ) -> None:
        self.names = names
        self._answers = answers
        self.said = said
        self.constants = constants
        self.weights = weights

    def __len__(self) -> int:
        return len(self.said.answer)

    def __iter__(self) -> Iterator[ClusterVerdict]:
        seen = dict.fromkeys(FAMILIES, 0)
        for name, which in zip(self.names.names, self.said.answer.tolist(), strict=True):
            code, about = self.answer(which)
            kind = KINDS.get(code, "")
            yield _verdict(name, code, about, self._numbers(kind, seen.get(kind, 0)))
            if kind:
                seen[kind] += 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VerdictTable) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it compares by content, which nobody looks up

    @property
    def most_answers(self) -> int:
        """So many there may be."""
        return len(self._answers[0]) + len(self._answers[1])

    def answer(self, which: int) -> Answer:
        own, others = self._answers
        return own[which] if which < len(own) else others[which - len(own)]

    @property
    def answers(self) -> Sequence[Answer]:
        return (*self._answers[0], *self._answers[1])

    @property
    def best(self) -> int | None:
        """The place of the best cluster that fits."""
        best = self.said.counts.item(BEST)
        return best if best >= 0 else None

    @property
    def nearest(self) -> int:
        """The place of the cluster that is nearest to a yes; of none is asked nothing."""
        return nearest(self.said, np.concatenate([_nearness(tuple(some)) for some in self._answers]))

    def filled(self) -> tuple[list[int], list[int]]:
        """Of one shape: the nodes of the best cluster by their places in it, and the pods on each."""
        used = self.said.counts.item(USED)
        return self.said.at[:used].tolist(), self.said.pods[:used].tolist()

    def at(self, index: int) -> ClusterVerdict:
        """One cluster's verdict."""
        code, about = self.answer(self.said.answer.item(index))
        kind = KINDS.get(code, "")
        before = np.bincount(self.said.answer[:index]).tolist() if kind and index else ()
        place = sum([count for which, count in enumerate(before) if count and KINDS.get(self.answer(which)[0]) == kind])
        return _verdict(self.names.names[index], code, about, self._numbers(kind, place))

    def _numbers(self, kind: str, place: int) -> dict[str, int]:
        if not kind:
            return {}
        family = FAMILIES[kind]
        column = self.said.numbers[:, place].tolist()
        numbers = {name: column[row] for name, row in family.rows.items()}
        if family.constant:
            numbers[family.constant] = self.constants[family.constant]
        return numbers

    def codes(self, *codes: Code) -> NDArray[np.bool_]:
        """Which clusters answered with one of these."""
        return np.array([code in codes for code, _ in self.answers], np.bool_)[self.said.answer]

    def of(self, kind: str) -> NDArray[np.bool_]:
        """Which clusters have the numbers of this kind of answer."""
        return self.codes(*(code for code, one in KINDS.items() if one == kind))

    def row(self, name: str) -> Numbers:
        """One number of every cluster, 0 where it has none of that name."""
        row = np.zeros(len(self), np.int64)
        for kind, family in FAMILIES.items():
            if name in family.rows:
                row[self.of(kind)] = self.said.numbers[family.rows[name], : self.said.counts[family.count]]
        return row

    def after(self, before: "VerdictTable", keep: NDArray[np.bool_]) -> "VerdictTable":
        """This one, with what `before` said where `keep` says so; both of the same clusters and the same gang."""
        answers = self.answers, before.answers
        said = blank(len(self))
        said.answer[:] = np.where(keep, before.said.answer + self.most_answers, self.said.answer)
        said.counts[:] = self.said.counts
        merged = VerdictTable(self.names, answers, said, self.constants, self.weights)
        for kind, family in FAMILIES.items():
            members = merged.of(kind)
            said.counts[family.count] = members.sum()
            for name, row in family.rows.items():
                said.numbers[row, : said.counts[family.count]] = np.where(keep, before.row(name), self.row(name))[
                    members
                ]
        return merged


def blank(clusters: int, nodes: int = 0) -> SurveyFindings:
    """To be written by the loops, with room for so many nodes of the best cluster; counts are zero."""
    return SurveyFindings(
        np.empty(clusters, np.int64),
        np.empty((ROWS, clusters), np.int64),
        np.zeros(COUNTS, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
    )


@lru_cache(maxsize=4096)
def _nearness(answers: tuple[Answer, ...]) -> Numbers:
    return np.array([_NEAR.get(code, RULED_OUT) for code, _ in answers], np.int64)


@cache
def empty() -> VerdictTable:
    return VerdictTable(Names(()), ((), ()), blank(0), {}, Weights())


def _verdict(cluster: str, code: Code, about: str, numbers: Mapping[str, int]) -> ClusterVerdict:
    """A verdict of its parts: the scores are among the numbers."""
    own: dict[str, Any] = {name: numbers[name] for name in NUMBERS if name in numbers}
    return ClusterVerdict(
        cluster, code, about, **own, score=Score(*(numbers[one] for one in SCORES)) if code is Code.FITS else None
    )
