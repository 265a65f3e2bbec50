"""Whom to evict, and where the gang goes then: one answer over all clusters."""

from itertools import islice

from fairway.placement.choose import merged
from fairway.placement.fit import plan_in
from fairway.placement.fleet import Fleet
from fairway.placement.policy_rules import WantedClusters
from fairway.placement.relief.answer import gang_room, named, slots_in, trial_of
from fairway.placement.relief.case import Allowed, case_of
from fairway.placement.relief.clusters import Clusters, Permitted
from fairway.placement.relief.cost import Cost, cost, steps
from fairway.placement.relief.outcome import NoRelief, Relief
from fairway.placement.relief.reasons import lacks_quota, lacks_room, nearer
from fairway.placement.relief.search import victims
from fairway.placement.shapes import ask
from fairway.placement.survey import survey
from fairway.placement.verdicts.table import VerdictTable
from fairway.placement.verdicts.verdict import Context
from fairway.wire.capacity import Slot
from fairway.wire.policy import Affinity, Placement
from fairway.wire.preemption.evictions import Relieve
from fairway.wire.workload import Workload

_ANY = (Affinity(),)
# So many clusters are compared by what their victims cost.
_COMPARED = 4


def relieve(
    fleet: Fleet, workload: Workload, placement: Placement, context: Context, asked: Relieve
) -> Relief | NoRelief:
    """The cheapest victims found with whom the gang, at least, has room in one cluster of the first affinity that has
    an answer, and quota. A cluster where it fits as it is wins."""
    gang = ask(workload)
    case = case_of(fleet, gang, asked, context)
    nearest: NoRelief | None = None
    seen: VerdictTable | None = None
    for affinity in placement.affinities or _ANY:
        wanted = WantedClusters(workload.served_kinds, affinity, placement.tolerations)
        table = survey(case.engine, gang.demand, wanted, context)
        seen = table if seen is None else merged(seen, table)
        best = table.best
        allowed = case.allowed(table)
        plan = None if best is None else plan_in(case.engine, case.engine.clusters.order.item(best), gang, table)
        found: Relief | NoRelief
        if best is not None and plan is not None:
            found = _for_quota(allowed, table.names.names[best], plan.slots)
        else:
            found = _for_room(allowed, seen)
        if isinstance(found, Relief):
            return found
        nearest = nearer(nearest, found)
    assert nearest is not None, "there is always an affinity"
    return nearest


def _for_quota(allowed: Allowed, cluster: str, slots: tuple[Slot, ...]) -> Relief | NoRelief:
    """There is room."""
    case = allowed.case
    looked = len(case.columns.slot)
    if not case.quota.keys:
        return Relief(cluster, slots, (), looked)
    for may in steps(case.columns, allowed.for_quota, lambda may: not any(case.quota.left(may))):
        trial = trial_of(allowed, -1, None)
        chosen = victims(trial, may.nonzero()[0].tolist(), case.asked.candidates)
        if chosen is not None:
            trial.without(chosen)
            return Relief(cluster, slots, named(case, trial.quota, chosen), looked)
    return lacks_quota(case, allowed.for_quota)


def _for_room(allowed: Allowed, seen: VerdictTable) -> Relief | NoRelief:
    """The first step with an answer has the lowest level and priority. `seen` is of all affinities so far."""
    clusters = Clusters(allowed, allowed.case.shapes())
    for permitted in clusters.steps():
        answers = (_in_cluster(allowed, permitted, slot) for slot in clusters.promising(permitted))
        found = list(islice(filter(None, answers), _COMPARED))
        if found:
            return min(found, key=lambda one: one[:2])[2]
    if any(allowed.case.quota.left(allowed.anybody)):
        return lacks_quota(allowed.case, allowed.anybody)
    return lacks_room(allowed, seen, *clusters.nearest())


def _in_cluster(allowed: Allowed, permitted: Permitted, slot: int) -> tuple[Cost, str, Relief] | None:
    case = allowed.case
    candidates = case.asked.candidates
    name = case.engine.clusters.views[slot].name
    room = gang_room(case, permitted, slot)
    trial = trial_of(allowed, slot, room)
    for_quota = (permitted.may & allowed.for_quota).nonzero()[0].tolist()
    chosen = victims(trial, sorted({*room.holders, *for_quota}), candidates)
    if chosen is None:
        return None
    trial.without(chosen)
    slots = slots_in(case, permitted.shapes, slot, room)
    return cost(candidates, chosen), name, Relief(name, slots, named(case, trial.quota, chosen), len(case.columns.slot))
