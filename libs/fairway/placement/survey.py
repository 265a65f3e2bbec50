"""What every cluster says to one gang at one moment, all clusters together.

In order: not selected, tainted, cordoned, kind not served, capacity unknown, stale, recently failed there, no room.
"""

import numpy as np

from fairway.placement.board import Board
from fairway.placement.filters import Context, Verdict, room
from fairway.placement.gauge import Gauge
from fairway.placement.grades import grades
from fairway.placement.rules import Answer, Wanted
from fairway.placement.shapes import Demand, Part
from fairway.placement.sheet import AVOIDED, FIELDS, FITS, SCORES, SHORT, STALE, Columns, Sheet
from fairway.placement.trail import Numbers
from fairway.wire.reasons import Code

_FITS, _UNKNOWN, _STALE, _AVOIDED = range(4)
_FIXED: tuple[Answer, ...] = (
    (Code.FITS, ""),
    (Code.CAPACITY_UNKNOWN, ""),
    (Code.CAPACITY_STALE, ""),
    (Code.RECENTLY_FAILED, ""),
)
_SHORT = (Code.NOT_ENOUGH, Code.FRAGMENTED, Code.NEVER_FITS)


def survey(board: Board, demand: Demand, wanted: Wanted, context: Context) -> Sheet:
    """Every cluster's answer, in the order of names."""
    one = _Survey(board, context)
    asked = one.rule(wanted)
    if len(demand.parts) == 1:
        one.fit(demand.parts[0], asked)
    else:
        one.try_each(demand, asked)
    return Sheet(board.names, one.answers, one.answer, one.columns, one.best)


class _Survey:
    """The sheet in the making."""

    def __init__(self, board: Board, context: Context) -> None:
        self._board, self._context = board, context
        self.answers = list(_FIXED)
        self.answer = np.zeros(len(board.all), np.int64)
        self.columns: Columns = {}
        self.best: int | None = None

    def rule(self, wanted: Wanted) -> Numbers:
        """Answers for those that a rule or the time excludes; returns the others."""
        board, context = self._board, self._context
        rules = board.rules(wanted)
        fresh = board.earliest >= max(context.now - context.stale_after, 1)
        if fresh and not rules.answers and not context.avoid:
            return board.all
        ruled, seen = rules.index, board.observed
        # Before the first report nobody knows its kinds either.
        kind = np.array([False, *(code is Code.KIND_NOT_SERVED for code, _ in rules.answers)])[ruled]
        unknown = (seen == 0) & ((ruled == 0) | kind)
        self.answer = np.where(unknown, _UNKNOWN, np.where(ruled > 0, ruled + len(self.answers) - 1, _FITS))
        self.answers += rules.answers
        age = context.now - seen
        stale = (age > context.stale_after) & (self.answer == _FITS)
        if stale.any():
            self.answer[stale] = _STALE
            self.columns[STALE] = {"age": age[stale], "limit": context.stale_after}
        self._avoid()
        asked: Numbers = (self.answer == _FITS).nonzero()[0]
        return asked

    def _avoid(self) -> None:
        rank, now = self._board.names.rank, self._context.now
        known = {rank[name]: until for name, until in self._context.avoid.items() if until > now and name in rank}
        found = sorted((at, until) for at, until in known.items() if self.answer[at] == _FITS)
        if found:
            self.answer[[at for at, _ in found]] = _AVOIDED
            until = np.array([until for _, until in found], np.int64)
            self.columns[AVOIDED] = {"left": until - now, "until": until}

    def fit(self, part: Part, asked: Numbers) -> None:
        """A gang of one shape: it fits where the sum over the nodes is enough."""
        gauge = self._board.gauge(part.shape)
        total = gauge.total if len(asked) == len(gauge.total) else gauge.total[asked]
        fits = total >= part.needed
        if fits.all():
            yes, total = asked, total.copy()  # the gauge goes on, the sheet stays
        else:
            yes, no = asked[fits], asked[~fits]
            self._lack(part, gauge, no, total[~fits])
            total = total[fits]
        if len(yes):
            scores = grades(gauge, yes, total, part, self._context.weights)
            self.columns[FITS] = {"needed": part.needed, "by_node": total, **dict(zip(SCORES, scores, strict=True))}
            best = int(scores[0].argmax())
            self.best = int(yes[best]) if scores[0][best] >= 0 else None

    def _lack(self, part: Part, gauge: Gauge, no: Numbers, total: Numbers) -> None:
        """`fit.shortfall` for these clusters, where one shape does not fit."""
        reach, lacking = gauge.reach, ("pods", *(name for name, _ in part.shape.requests))
        reach.sum(no)
        at_most = gauge.ever[no]
        never = at_most < part.needed
        by_sum, first = reach.pods(part.shape.requests, no, never)
        by_sum = np.maximum(by_sum, total)
        code = np.where(never, 2, by_sum >= part.needed)
        self.answer[no] = len(self.answers) + code * len(lacking) + first
        self.answers += [(one, name) for one in _SHORT for name in lacking]
        good = reach.good_nodes[no]
        numbers = (part.needed, total, by_sum, at_most, good, good - reach.open_nodes[no])
        self.columns[SHORT] = dict(zip(FIELDS[SHORT], numbers, strict=True))

    def try_each(self, demand: Demand, asked: Numbers) -> None:
        """A gang of several shapes, cluster by cluster: only trying tells whether they are in each other's way."""
        views, weights = self._board.ground.views, self._context.weights
        known = {answer: index for index, answer in enumerate(self.answers)}
        told: dict[str, list[tuple[int, ...]]] = {FITS: [], SHORT: []}
        top = -1
        for at in asked.tolist():
            said = room(views[at], demand, weights)
            self.answer[at] = known.setdefault((said.code, said.about), len(known))
            told[SHORT if said.score is None else FITS].append(_cells(said))
            if said.score is not None and said.score.total > top:
                self.best, top = at, said.score.total
        self.answers = list(known)
        for family, cells in told.items():
            if cells:
                columns = np.array(cells, np.int64).T
                self.columns[family] = dict(zip(FIELDS[family], columns, strict=True))


def _cells(said: Verdict) -> tuple[int, ...]:
    """The numbers of a verdict about room, as its family has them."""
    if said.score is None:
        return said.needed, said.by_node, said.by_sum, said.at_most, said.nodes, said.closed
    return said.needed, said.by_node, *(getattr(said.score, name) for name in SCORES)
