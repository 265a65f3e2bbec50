"""The choice for gangs of one shape in its plainest form, from the rules as they are written down: every cluster judged
by itself, from nothing, one node after another. What the engine has to agree with, to the last number."""

from collections.abc import Mapping, Sequence

from fairway.domain.resources import Resources
from fairway.placement.cluster import ClusterView
from fairway.placement.constraints import admits
from fairway.placement.fit import Plan
from fairway.placement.policy_rules import WantedClusters, against
from fairway.placement.scores import Score, Weights
from fairway.placement.shapes import Ask, Part, Shape, ask
from fairway.placement.verdicts.verdict import ClusterVerdict, Context
from fairway.wire.capacity import Slot
from fairway.wire.policy import Affinity, Placement
from fairway.wire.reasons import Code
from fairway.wire.workload import Workload

Chosen = tuple[str, Plan | None, str, tuple[ClusterVerdict, ...]]
_UNSELECTED = (Code.NOT_SELECTED, Code.LABELS_DIFFER)
_FOR_GOOD = (*_UNSELECTED, Code.TAINTED, Code.CORDONED)
_NO_LIMIT = 1 << 62
_MAX_PODS = 110
_MOST_PODS = (1 << 17) - 1


def room(requests: Sequence[tuple[str, int]], free: Mapping[str, int]) -> int:
    """How many pods with these requests fit in `free`, each taking one of `pods` where the node lists it."""
    counts = [_MOST_PODS, *(free.get(name, 0) // amount for name, amount in requests)]
    return max(0, min([free.get("pods", _NO_LIMIT if requests else _MAX_PODS), *counts]))


def choose(clusters: Mapping[str, ClusterView], workload: Workload, placement: Placement, context: Context) -> Chosen:
    """The cluster, the plan, the affinity and the verdicts; for pod sets of one shape."""
    asked = ask(workload)
    (part,) = asked.demand.parts
    verdicts: list[ClusterVerdict] = []
    affinity = Affinity()
    for affinity in placement.affinities or (Affinity(),):
        wanted = WantedClusters(workload.served_kinds, affinity, placement.tolerations)
        found = [_verdict(clusters[name], part, wanted, context) for name in sorted(clusters)]
        verdicts = [
            old if new.code in _UNSELECTED and old.code not in _UNSELECTED else new
            for old, new in zip(verdicts or found, found, strict=True)
        ]
        fitting = [one for one in found if one.score is not None]
        if fitting:
            best = max(fitting, key=lambda one: one.score.total if one.score else 0)  # the first of equals
            plan = _plan(_Counted(clusters[best.cluster], part.shape), asked)
            return best.cluster, plan, affinity.name, tuple(verdicts)
    return "", None, affinity.name, tuple(verdicts)


class _Counted:
    """Pods by node, now and when empty; which nodes have what such a pod does not ask for."""

    def __init__(self, view: ClusterView, shape: Shape) -> None:
        self.good = {name: node for name, node in view.nodes.items() if admits(shape.where, node)[1]}
        self.open = [name for name, node in self.good.items() if admits(shape.where, node)[0]]
        self.free = {name: view.free(name) for name in self.open}
        self.pods = {name: room(shape.requests, self.free[name]) for name in self.open}
        self.ever = [room(shape.requests, node.allocatable) for node in self.good.values()]
        asked = dict(shape.requests)
        self.mixed = {
            name
            for name, node in self.good.items()
            if any("/" in one and amount > 0 and one not in asked for one, amount in node.allocatable.items())
        }
        self.total = sum(self.pods.values())

    def fill(self, amount: int) -> list[tuple[str, int]]:
        plain = {name: count for name, count in self.pods.items() if name not in self.mixed}
        first = min(amount, sum(plain.values()))
        rest = {name: count for name, count in self.pods.items() if name in self.mixed}
        return [*_fill(plain, first), *_fill(rest, amount - first)]


def _fill(pods: Mapping[str, int], amount: int) -> list[tuple[str, int]]:
    """The largest whole, by name among equals; what is left where it fits most tightly."""
    order = sorted(pods, key=lambda name: (-pods[name], name))
    placed: list[tuple[str, int]] = []
    while amount and pods[order[0]] <= amount:
        name = order.pop(0)
        placed.append((name, pods[name]))
        amount -= pods[name]
    if amount:
        placed.append((min((name for name in order if pods[name] >= amount), key=lambda one: (pods[one], one)), amount))
    return placed


def _verdict(view: ClusterView, part: Part, wanted: WantedClusters, context: Context) -> ClusterVerdict:
    ruled = against(view.info, wanted)
    lasting = ClusterVerdict(view.name, *ruled) if ruled else _room(view, part, context.weights)
    return _passing(view, lasting, context) or lasting


def _passing(view: ClusterView, lasting: ClusterVerdict, context: Context) -> ClusterVerdict | None:
    """The reason that will pass by itself (a report, time), unless a rule already excludes the cluster."""
    if lasting.code in _FOR_GOOD:
        return None
    name = view.name
    seen = view.info.observed_at
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


def _room(view: ClusterView, part: Part, weights: Weights) -> ClusterVerdict:
    counted = _Counted(view, part.shape)
    if counted.total >= part.needed:
        score = _score(counted, part, weights)
        return ClusterVerdict(view.name, Code.FITS, "", part.needed, counted.total, score=score)
    at_most = sum(counted.ever)
    nodes = [node.allocatable for node in counted.good.values()] if at_most < part.needed else counted.free.values()
    by_sum, lacking = _by_sum(list(nodes), part.shape.requests)
    by_sum = max(by_sum, counted.total)
    code = Code.FRAGMENTED if by_sum >= part.needed else Code.NOT_ENOUGH
    if at_most < part.needed:
        code = Code.NEVER_FITS
    closed = len(counted.good) - len(counted.open)
    pods = part.needed, counted.total, by_sum, at_most
    return ClusterVerdict(view.name, code, lacking, *pods, len(counted.good), closed)


def _by_sum(nodes: Sequence[Resources], requests: Sequence[tuple[str, int]]) -> tuple[int, str]:
    unlisted = any("pods" not in one for one in nodes)
    pods = (_NO_LIMIT if requests else _MAX_PODS * len(nodes)) if unlisted or not nodes else 0
    if not unlisted:
        pods = sum(max(0, one["pods"]) for one in nodes)
    counts = [(pods, "pods")]
    counts += [(sum(max(0, one.get(name, 0)) for one in nodes) // amount, name) for name, amount in requests]
    return min(counts, key=lambda one: one[0])


def _score(counted: _Counted, part: Part, weights: Weights) -> Score:
    pods = min(part.wanted, counted.total)
    if not pods:
        return Score(0, 0, 0, 0, 0, 0)
    plain = sum(count for name, count in counted.pods.items() if name not in counted.mixed)
    scores = (
        100 * pods // part.wanted,
        100 * min(pods, plain) // pods,
        100 * pods // counted.total,
        100 * -(-pods // max(1, *counted.ever, 0)) // len(counted.fill(pods)),
        100 * (counted.total - pods) // max(1, sum(counted.ever)),
    )
    each = (weights.whole_job, weights.scarce_gpu, weights.tightness, weights.fewest_nodes, weights.spread_load)
    return Score(sum(weight * score for weight, score in zip(each, scores, strict=True)), *scores)


def _plan(counted: _Counted, asked: Ask) -> Plan:
    """Pod set by pod set, node by node."""
    (named,) = asked.sets
    pods = [name for name, count in named for _ in range(count)]
    slots: list[Slot] = []
    for node, count in counted.fill(min(asked.demand.parts[0].wanted, counted.total)):
        for name in dict.fromkeys(pods[:count]):
            slots.append(Slot(name, node, pods[:count].count(name)))
        del pods[:count]
    return Plan(tuple(slots), sum(slot.count for slot in slots))
