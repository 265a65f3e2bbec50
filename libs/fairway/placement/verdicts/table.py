"""Every cluster's verdict in columns: what a choice rests on, made in one go and taken apart only for who asks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import repeat
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

from fairway.placement.columns.change_log import Numbers
from fairway.placement.columns.cluster_scores import Column
from fairway.placement.policy_rules import Answer
from fairway.placement.scores import Score
from fairway.placement.verdicts.verdict import ClusterVerdict
from fairway.wire.reasons import Code
from fairway.wire.spec import KINDS

SCORES = Score.__struct_fields__
NUMBERS = ClusterVerdict.__struct_fields__[3:-1]
FITS = "fits"
SHORT = "short"
STALE = "stale"
AVOIDED = "avoided"
# Which numbers an answer comes with; other codes come with none.
FIELDS = {
    FITS: ("needed", "by_node", *SCORES),
    SHORT: ("needed", "by_node", "by_sum", "at_most", "nodes", "closed"),
    STALE: ("age", "limit"),
    AVOIDED: ("left", "until"),
}
Columns = dict[str, dict[str, Column]]


class Names:
    """The clusters of a fleet in order, and that as it is written in a record; shared by all sheets until a cluster
    comes or goes."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self.rank = {name: index for index, name in enumerate(self.names)}
        self.written = Raw(msgspec.json.encode(self.names))


class VerdictTable:
    """`answer` says for each cluster which of `answers` is its own. `columns` has the numbers of each family: those of
    its clusters in order, or one that holds for all of them. `best` is the place of the best cluster that fits."""

    def __init__(
        self, names: Names, answers: Sequence[Answer], answer: Numbers, columns: Columns, best: int | None = None
    ) -> None:
        self.names = names
        self.answers = answers
        self.answer = answer
        self.columns = columns
        self.best = best

    def __len__(self) -> int:
        return len(self.answer)

    def __iter__(self) -> Iterator[ClusterVerdict]:
        numbers = {
            family: {name: repeat(one) if isinstance(one, int) else iter(one.tolist()) for name, one in columns.items()}
            for family, columns in self.columns.items()
        }
        for name, which in zip(self.names.names, self.answer.tolist(), strict=True):
            code, about = self.answers[which]
            own = numbers.get(KINDS.get(code, ""), {})
            yield verdict(name, code, about, {one: next(values) for one, values in own.items()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VerdictTable) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it compares by content, which nobody looks up

    def at(self, index: int) -> ClusterVerdict:
        """One cluster's verdict."""
        code, about = self.answers[int(self.answer[index])]
        family = KINDS.get(code, "")
        place = int(self.of(family)[:index].sum())
        numbers = {
            name: one if isinstance(one, int) else int(one[place]) for name, one in self.columns.get(family, {}).items()
        }
        return verdict(self.names.names[index], code, about, numbers)

    def codes(self, *codes: Code) -> NDArray[np.bool_]:
        """Which clusters answered with one of these."""
        return np.array([code in codes for code, _ in self.answers], np.bool_)[self.answer]

    def of(self, family: str) -> NDArray[np.bool_]:
        """Which clusters have the numbers of this family."""
        return self.codes(*(code for code, one in KINDS.items() if one == family))

    def row(self, name: str) -> Numbers:
        """One number of every cluster, 0 where it has none of that name."""
        row = np.zeros(len(self), np.int64)
        for family, columns in self.columns.items():
            if name in columns:
                row[self.of(family)] = columns[name]
        return row

    def after(self, before: "VerdictTable", keep: NDArray[np.bool_]) -> "VerdictTable":
        """This one, with what `before` said where `keep` says so; both of the same clusters."""
        answers = [*self.answers, *before.answers]
        answer = np.where(keep, before.answer + len(self.answers), self.answer)
        every = dict.fromkeys(name for fields in FIELDS.values() for name in fields)
        rows = {name: np.where(keep, before.row(name), self.row(name)) for name in every}
        return gathered(self.names, answers, answer, rows)


def gathered(names: Names, answers: Sequence[Answer], answer: Numbers, rows: Mapping[str, Numbers]) -> VerdictTable:
    """A sheet of numbers that are there for every cluster."""
    verdict_table = VerdictTable(names, answers, answer, {})
    for family, fields in FIELDS.items():
        members = verdict_table.of(family)
        if members.any():
            verdict_table.columns[family] = {name: rows[name][members] for name in fields}
    return verdict_table


@cache
def empty() -> VerdictTable:
    return VerdictTable(Names(()), (), np.zeros(0, np.int64), {})


def verdict(cluster: str, code: Code, about: str, numbers: Mapping[str, int]) -> ClusterVerdict:
    """A verdict of its parts: the scores are among the numbers."""
    own: dict[str, Any] = {name: numbers[name] for name in NUMBERS if name in numbers}
    return ClusterVerdict(
        cluster, code, about, **own, score=Score(*(numbers[one] for one in SCORES)) if code is Code.FITS else None
    )
