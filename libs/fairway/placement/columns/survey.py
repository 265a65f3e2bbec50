"""What every cluster says to one gang at one moment, all clusters together.

In order: not selected, tainted, cordoned, kind not served, capacity unknown, stale, recently failed there, no room.
"""

import numpy as np
from msgspec.structs import astuple
from numpy.typing import NDArray

from fairway.placement.columns.change_log import Numbers
from fairway.placement.columns.choice_cache import ChoiceCache
from fairway.placement.columns.cluster_scores import Column, grades
from fairway.placement.columns.pod_counts import PodCounts
from fairway.placement.policy_rules import Answer, WantedClusters
from fairway.placement.scores import lead
from fairway.placement.shapes import Demand, Part
from fairway.placement.verdicts.table import AVOIDED, FIELDS, FITS, SCORES, SHORT, STALE, Columns, VerdictTable
from fairway.placement.verdicts.verdict import Context, room
from fairway.wire.reasons import Code

_FITS, _UNKNOWN, _STALE, _AVOIDED = range(4)
_FIXED: tuple[Answer, ...] = (
    (Code.FITS, ""),
    (Code.CAPACITY_UNKNOWN, ""),
    (Code.CAPACITY_STALE, ""),
    (Code.RECENTLY_FAILED, ""),
)
_SHORT = (Code.NOT_ENOUGH, Code.FRAGMENTED, Code.NEVER_FITS)


def survey(cache: ChoiceCache, demand: Demand, wanted: WantedClusters, context: Context) -> VerdictTable:
    """Every cluster's answer, in the order of names."""
    one = _Survey(cache, context)
    asked = one.rule(wanted)
    if len(demand.parts) == 1:
        one.fit(demand.parts[0], asked)
    else:
        one.try_each(demand, asked)
    return VerdictTable(cache.names, one.answers, one.answer, one.columns, one.best)


class _Survey:
    """The sheet in the making."""

    def __init__(self, cache: ChoiceCache, context: Context) -> None:
        self._cache = cache
        self._context = context
        self.answers = list(_FIXED)
        self.answer = np.zeros(len(cache.all), np.int64)
        self.columns: Columns = {}
        self.best: int | None = None

    def rule(self, wanted: WantedClusters) -> Numbers:
        """Answers for those that a rule or the time excludes; returns the others."""
        cache = self._cache
        context = self._context
        rules = cache.rules(wanted)
        fresh = cache.earliest >= max(context.now - context.stale_after, 1)
        if fresh and not rules.answers and not context.avoid:
            return cache.all
        ruled = rules.index
        seen = cache.observed
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
        rank = self._cache.names.rank
        now = self._context.now
        known = {rank[name]: until for name, until in self._context.avoid.items() if until > now and name in rank}
        found = sorted((at, until) for at, until in known.items() if self.answer[at] == _FITS)
        if found:
            self.answer[[at for at, _ in found]] = _AVOIDED
            until = np.array([until for _, until in found], np.int64)
            self.columns[AVOIDED] = {"left": until - now, "until": until}

    def fit(self, part: Part, asked: Numbers) -> None:
        """A gang of one shape: it fits where the sum over the nodes is enough."""
        pod_count = self._cache.pod_count(part.shape)
        total = pod_count.total if len(asked) == len(pod_count.total) else pod_count.total[asked]
        fits = total >= part.needed
        if fits.all():
            # the counts go on, the table stays
            yes = asked
            total = total.copy()
        else:
            yes = asked[fits]
            no = asked[~fits]
            self._lack(part, pod_count, no, total[~fits])
            total = total[fits]
        if len(yes):
            scores = grades(pod_count, yes, total, part, self._context.weights)
            self.columns[FITS] = {"needed": part.needed, "by_node": total, **dict(zip(SCORES, scores, strict=True))}
            best = int(scores[0].argmax())
            self.best = int(yes[best]) if scores[0][best] >= 0 else None

    def _lack(self, part: Part, pod_count: PodCounts, no: Numbers, total: Numbers) -> None:
        """`fit.shortfall` for these clusters, where one shape does not fit."""
        eligible = pod_count.eligible
        lacking = ("pods", *(name for name, _ in part.shape.requests))
        eligible.sum(no)
        at_most = pod_count.ever[no]
        never = at_most < part.needed
        by_sum, first = eligible.pods(part.shape.requests, no, never)
        by_sum = np.maximum(by_sum, total)
        code = np.where(never, 2, by_sum >= part.needed)
        self.answer[no] = len(self.answers) + code * len(lacking) + first
        self.answers += [(one, name) for one in _SHORT for name in lacking]
        good = eligible.good_nodes[no]
        numbers = (part.needed, total, by_sum, at_most, good, good - eligible.open_nodes[no])
        self.columns[SHORT] = dict(zip(FIELDS[SHORT], numbers, strict=True))

    def try_each(self, demand: Demand, asked: Numbers) -> None:
        """A gang of several shapes, which may be in each other's way: where the counts do not tell, only trying does,
        cluster by cluster."""
        views = self._cache.fleet_nodes.views
        weights = self._context.weights
        sure = self._certain(demand, asked)
        fits = {name: np.zeros(len(self.answer), np.int64) for name in FIELDS[FITS]}
        fits["total"][:] = -1
        if len(yes := asked[sure]):
            for name, column in zip(FIELDS[FITS], self._fit_all(demand, yes), strict=True):
                fits[name][yes] = column
        known = {answer: index for index, answer in enumerate(self.answers)}
        short: list[tuple[int, ...]] = []
        for at in asked[~sure].tolist():
            said = room(views[at], demand, weights)
            self.answer[at] = known.setdefault((said.code, said.about), len(known))
            if said.score is None:
                short.append((said.needed, said.by_node, said.by_sum, said.at_most, said.nodes, said.closed))
            else:
                for name, number in zip(FIELDS[FITS], (said.needed, said.by_node, *astuple(said.score)), strict=True):
                    fits[name][at] = number
        self.answers = list(known)
        if short:
            self.columns[SHORT] = dict(zip(FIELDS[SHORT], np.array(short, np.int64).T, strict=True))
        members = fits["total"] >= 0
        if members.any():
            self.columns[FITS] = {name: column[members] for name, column in fits.items()}
            self.best = int(fits["total"].argmax())

    def _certain(self, demand: Demand, asked: Numbers) -> NDArray[np.bool_]:
        """Of which of these clusters `bins.certain` says that the gang fits, and its leading part has room."""
        pod_counts = [self._cache.pod_count(part.shape) for part in demand.parts]
        if not pod_counts:
            return np.zeros(len(asked), np.bool_)
        totals = np.array([pod_count.total[asked] for pod_count in pod_counts])
        needed = np.array([[part.needed] for part in demand.parts])
        order = (totals // np.maximum(needed, 1)).argsort(axis=0, kind="stable")
        most = np.array([pod_count.most[asked] for pod_count in pod_counts])
        left = np.take_along_axis(totals, order, 0)
        asks = np.take_along_axis(needed, order, 0)
        left = left - (asks.cumsum(axis=0) - asks) * np.take_along_axis(most, order, 0)
        sure = (((asks == 0) | (left >= asks)) & (totals >= needed)).all(axis=0)
        found: NDArray[np.bool_] = sure & (totals[lead(demand)] > 0)
        return found

    def _fit_all(self, demand: Demand, slots: Numbers) -> tuple[Column, ...]:
        """The columns of these clusters, where a gang of several shapes is certain to fit."""
        totals = np.array([self._cache.pod_count(part.shape).total[slots] for part in demand.parts])
        wanted = np.array([[part.wanted] for part in demand.parts])
        share: Numbers = 100 * np.minimum(wanted, totals).sum(axis=0) // int(wanted.sum())
        first = lead(demand)
        weights = self._context.weights
        part = demand.parts[first]
        total, whole, *others = grades(self._cache.pod_count(part.shape), slots, totals[first], part, weights)
        return demand.needed, demand.needed, total + weights.whole_job * (share - whole), share, *others
