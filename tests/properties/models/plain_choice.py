"""The choice in its plainest form: every cluster judged by itself, from nothing, one after another. What the fast one
has to agree with, to the last number."""

from collections.abc import Mapping

from fairway.placement.bin_packing import attempt, certain

from fairway.placement.cluster import ClusterView
from fairway.placement.fit import Plan, Shortfall, place, shortfall
from fairway.placement.policy_rules import WantedClusters, against
from fairway.placement.scores import Weights, score
from fairway.placement.shapes import Ask, Demand, ask
from fairway.placement.verdicts.verdict import ClusterVerdict, Context
from fairway.wire.policy import Affinity, Placement
from fairway.wire.reasons import Code
from fairway.wire.workload import Workload

Chosen = tuple[str, Plan | None, str, tuple[ClusterVerdict, ...]]
_UNSELECTED = (Code.NOT_SELECTED, Code.LABELS_DIFFER)
_FOR_GOOD = (*_UNSELECTED, Code.TAINTED, Code.CORDONED)


def choose(clusters: Mapping[str, ClusterView], workload: Workload, placement: Placement, context: Context) -> Chosen:
    """The cluster, the plan, the affinity and the verdicts."""
    asked = ask(workload)
    kinds = (f"{workload.kind}.{workload.api_version}", *workload.wrapped_kinds)
    verdicts: list[ClusterVerdict] = []
    affinity = Affinity()
    for affinity in placement.affinities or (Affinity(),):
        wanted = WantedClusters(kinds, affinity, placement.tolerations)
        found = [verdict(clusters[name], asked.demand, wanted, context) for name in sorted(clusters)]
        verdicts = [
            old if new.code in _UNSELECTED and old.code not in _UNSELECTED else new
            for old, new in zip(verdicts or found, found, strict=True)
        ]
        best = None
        top = -1
        for one in found:
            if one.score is not None and one.score.total > top:
                best = one
                top = one.score.total
        plan = _place(clusters[best.cluster], asked) if best else None
        if best and isinstance(plan, Plan):
            return best.cluster, plan, affinity.name, tuple(verdicts)
    return "", None, affinity.name, tuple(verdicts)


def _place(view: ClusterView, asked: Ask) -> Plan | Shortfall:
    return place(view, asked)


def verdict(view: ClusterView, demand: Demand, wanted: WantedClusters, context: Context) -> ClusterVerdict:
    """The answer of one cluster at one moment."""
    ruled = against(view.info, wanted)
    lasting = ClusterVerdict(view.name, *ruled) if ruled else _room(view, demand, context.weights)
    return _passing(view, lasting, context) or lasting


def _passing(view: ClusterView, lasting: ClusterVerdict, context: Context) -> ClusterVerdict | None:
    """The reason that will pass by itself (a report, time), unless a rule already excludes the cluster."""
    if lasting.code in _FOR_GOOD:
        return None
    name = view.name
    seen = view.observed_at
    if not seen:  # before the first report nobody knows its kinds either
        return ClusterVerdict(name, Code.CAPACITY_UNKNOWN)
    if lasting.code is Code.KIND_NOT_SERVED:
        return None
    age = context.now - seen
    if age > context.stale_after:
        return ClusterVerdict(name, Code.CAPACITY_STALE, age=age, limit=context.stale_after)
    until = context.avoid.get(name, 0)
    if until > context.now:
        return ClusterVerdict(name, Code.RECENTLY_FAILED, left=until - context.now, until=until)
    return None


def _room(view: ClusterView, demand: Demand, weights: Weights) -> ClusterVerdict:
    rows = [view.row(part.shape) for part in demand.parts]
    fitting = certain(rows, demand)
    if fitting is None:
        fitting = attempt(view, rows, [part.needed for part in demand.parts]) is not None
    if fitting:
        by_node = rows[0].total if len(rows) == 1 else demand.needed
        return ClusterVerdict(view.name, Code.FITS, "", demand.needed, by_node, score=score(rows, demand, weights))
    short = shortfall(view, demand)
    pods = short.needed, short.by_node, short.by_sum, short.at_most
    return ClusterVerdict(view.name, short.code, short.lacking, *pods, short.nodes, short.closed)
