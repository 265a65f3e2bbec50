"""What one cluster says to one gang: the first reason against it, with numbers, or that it fits.

In order: not selected, tainted, cordoned, kind not served, capacity unknown, stale, recently failed there, no room.
"""

from collections.abc import Mapping

from msgspec import Struct

from fairway.placement.bins import attempt, certain
from fairway.placement.cluster import ClusterView
from fairway.placement.constraints import matches, untolerated
from fairway.placement.fit import Shortfall, shortfall
from fairway.placement.index import Row
from fairway.placement.scores import Score, Weights, score
from fairway.placement.shapes import Demand
from fairway.wire.capacity import ClusterInfo
from fairway.wire.policy import Affinity
from fairway.wire.reasons import Code
from fairway.wire.workload import Expression, Toleration

# Verdicts kept per cluster and per shape; a fleet of tens of shapes and a few gang sizes needs no more.
MOST_REMEMBERED = 256


class Context(Struct, frozen=True):
    """What a decision knows besides clusters and job. Times in milliseconds; `avoid` maps a cluster to the
    time until which this job keeps away from it; a report older than `stale_after` is not trusted."""

    now: int
    stale_after: int = 30_000
    avoid: Mapping[str, int] = {}
    weights: Weights = Weights()


class Query(Struct, frozen=True, cache_hash=True):
    """All of a job that a verdict depends on while nothing changes in the cluster."""

    demand: Demand
    kind: str  # `Kind.group/version`, as clusters list it
    affinity: Affinity
    tolerations: tuple[Toleration, ...]
    weights: Weights


class Verdict(Struct, frozen=True, omit_defaults=True):
    """One cluster's answer as a code and numbers; `sentences.sentence` says it in words.

    `about` names the rule, label, taint, kind or lacking resource. `needed`, `by_node`, `by_sum`, `at_most`
    are pods, `nodes` and `closed` nodes (see `fit.Shortfall`). `age`, `limit`, `left` are milliseconds: of the
    last report, the age it may have, and until the job may go there again, which is at `until`. `score` only
    where it fits.
    """

    cluster: str
    code: Code
    about: str = ""
    needed: int = 0
    by_node: int = 0
    by_sum: int = 0
    at_most: int = 0
    nodes: int = 0
    closed: int = 0
    age: int = 0
    limit: int = 0
    left: int = 0
    until: int = 0
    score: Score | None = None


def verdict(view: ClusterView, query: Query, context: Context) -> Verdict:
    """The answer of one cluster at one moment."""
    lasting = view.memo.get(query) or judge(view, query)
    return passing(view, lasting, context) or lasting


def judge(view: ClusterView, query: Query) -> Verdict:
    """The answer without what only time changes; remembered until the cluster changes."""
    answer = _against(view.info, query) or _room(view, query)
    if len(view.memo) >= MOST_REMEMBERED:
        view.memo.clear()
    view.memo[query] = answer
    return answer


def passing(view: ClusterView, lasting: Verdict, context: Context) -> Verdict | None:
    """The reason that will pass by itself (a report, time), unless a rule already excludes the cluster."""
    if lasting.code in (Code.NOT_SELECTED, Code.LABELS_DIFFER, Code.TAINTED, Code.CORDONED):
        return None
    name, seen = view.name, view.observed_at
    if not seen:  # before the first report nobody knows its kinds either
        return Verdict(name, Code.CAPACITY_UNKNOWN)
    if lasting.code is Code.KIND_NOT_SERVED:
        return None
    age = context.now - seen
    if age > context.stale_after:
        return Verdict(name, Code.CAPACITY_STALE, age=age, limit=context.stale_after)
    until = context.avoid.get(name, 0)
    if until > context.now:
        return Verdict(name, Code.RECENTLY_FAILED, left=until - context.now, until=until)
    return None


def _against(info: ClusterInfo, query: Query) -> Verdict | None:
    affinity, name = query.affinity, info.name
    if affinity.cluster_names and name not in affinity.cluster_names:
        return Verdict(name, Code.NOT_SELECTED, about="clusterNames")
    if name in affinity.exclude:
        return Verdict(name, Code.NOT_SELECTED, about="exclude")
    for label in affinity.labels:
        if not matches(label, info.labels):
            return Verdict(name, Code.LABELS_DIFFER, about=_differs(label, info.labels))
    taint = untolerated(info.taints, query.tolerations) if info.taints else None
    if taint:
        return Verdict(name, Code.TAINTED, about=f"{taint.key}={taint.value}:{taint.effect}")
    if info.cordoned:
        return Verdict(name, Code.CORDONED)
    if query.kind not in info.kinds:
        return Verdict(name, Code.KIND_NOT_SERVED, about=query.kind)
    return None


def _differs(label: Expression, labels: Mapping[str, str]) -> str:
    values = f" ({', '.join(label.values)})" if label.values else ""
    here = f"it is {labels[label.key]}" if label.key in labels else "it has none"
    return f"{label.key} {label.operator}{values}; {here}"


def _room(view: ClusterView, query: Query) -> Verdict:
    demand = query.demand
    if len(demand.parts) == 1:
        return _one(view, view.row(demand.parts[0].shape), query)
    rows = [view.row(part.shape) for part in demand.parts]
    fitting = certain(rows, demand)
    if fitting is None:
        fitting = attempt(view, rows, [part.needed for part in demand.parts]) is not None
    if fitting:
        grade = score(rows, demand, query.weights)
        return Verdict(view.name, Code.FITS, "", demand.needed, demand.needed, score=grade)
    return _short(view.name, shortfall(view, demand))


def _one(view: ClusterView, row: Row, query: Query) -> Verdict:
    """For one shape, fitting or never fitting hangs on its counts alone: such an answer outlives changes of
    the cluster that leave those as they are."""
    answer: Verdict | None = row.memo.get(query)
    if answer is not None:
        return answer
    demand = query.demand
    if row.total >= demand.needed:
        grade = score((row,), demand, query.weights)
        answer = Verdict(view.name, Code.FITS, "", demand.needed, row.total, score=grade)
    else:
        answer = _short(view.name, shortfall(view, demand))
        if answer.code is not Code.NEVER_FITS:
            return answer
    if len(row.memo) >= MOST_REMEMBERED:
        row.memo.clear()
    row.memo[query] = answer
    return answer


def _short(name: str, short: Shortfall) -> Verdict:
    pods = short.needed, short.by_node, short.by_sum, short.at_most
    return Verdict(name, short.code, short.lacking, *pods, short.nodes, short.closed)
