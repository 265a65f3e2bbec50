"""What is tried in a cluster, and the answer: where the gang goes, and who its victims are."""

from collections.abc import Sequence

import numpy as np

from fairway.placement.fit import Plan, named_slots
from fairway.placement.loops.filling import fill
from fairway.placement.relief.case import Allowed, Case
from fairway.placement.relief.clusters import Permitted
from fairway.placement.relief.quota_short import QuotaGiven
from fairway.placement.relief.reclaim import Reclaimed
from fairway.placement.relief.room.gang_room import CopiedCluster, GangRoom
from fairway.placement.relief.room.node_room import NodeRoom
from fairway.placement.relief.room.shape_room import ShapeRoom
from fairway.placement.relief.trial import Trial
from fairway.wire.capacity import Slot
from fairway.wire.preemption.claims import Cause
from fairway.wire.preemption.evictions import Borrowed, Victim


def trial_of(allowed: Allowed, slot: int, room: GangRoom | None) -> Trial:
    """Nobody is gone yet."""
    case = allowed.case
    reclaimed = Reclaimed(case.rights, case.columns.lender)
    return Trial(room, QuotaGiven(case.quota), reclaimed, allowed.resources(slot), {})


def gang_room(case: Case, permitted: Permitted, slot: int) -> GangRoom:
    """Of a cluster from which those may go that are permitted to."""
    parts = [
        NodeRoom(shape, slot, permitted.may, most)
        for shape, most in zip(permitted.shapes, permitted.with_gone, strict=True)
    ]
    if len(case.gang.demand.parts) == 1:
        return GangRoom(parts, None)
    view = case.engine.clusters.views[slot]
    return GangRoom(parts, CopiedCluster(view, case.asked.candidates, case.gang))


def slots_in(case: Case, shapes: Sequence[ShapeRoom], slot: int, room: GangRoom) -> tuple[Slot, ...]:
    """All pods, or else the gang and as many more as fit, with those gone that are."""
    if room.together is not None:
        plan = room.together.placed()
        assert isinstance(plan, Plan), "there is room for it"
        return plan.slots
    arrays = case.engine.arrays
    (part,) = case.gang.demand.parts
    (shape,) = case.engine.counts([part.shape])
    start = arrays.start.item(slot)
    nodes = slice(start, start + arrays.size.item(slot))
    fits = arrays.pods[shape.k, nodes].tolist()
    for place, pods in room.parts[0].pods.items():
        fits[shapes[0].touched.item(place) - start] = pods
    at = np.zeros(len(fits), np.int64)
    placed = np.zeros(len(fits), np.int64)
    kinds = arrays.kind[shape.k, nodes].tolist()
    used = fill(fits, kinds, min(part.wanted, sum(fits)), at, placed)
    names = case.engine.rows.names[slot]
    return tuple(named_slots(case.gang.sets[0], at[:used].tolist(), placed[:used].tolist(), names))


def named(case: Case, quota: QuotaGiven, chosen: Sequence[int]) -> tuple[Victim, ...]:
    """In this order, in which they may go; all of them are gone."""
    victims = []
    candidates = case.asked.candidates
    for at in chosen:
        job, _, attempt = candidates.attempts[at].rpartition("/")
        cause = Cause.PREEMPTION if candidates.lender[at] < 0 else Cause.RECLAIM
        rank = (candidates.level[at], candidates.priority[at])
        place = (job, int(attempt), candidates.cluster_of(at))
        victims.append(Victim(*place, cause, *rank, quota.lacks(at), _borrowed(case, at)))
    return tuple(victims)


def _borrowed(case: Case, candidate: int) -> Borrowed | None:
    """What its leaf has borrowed, of the first resource that it gives back."""
    lender = case.asked.candidates.lender[candidate]
    if lender < 0:
        return None
    leaf = case.asked.lenders[lender]
    for name, amount in zip(case.rights.resources, case.rights.amounts[candidate].tolist(), strict=True):
        if amount > 0 and leaf.over.get(name, 0) > 0:
            least = leaf.min.get(name, 0)
            return Borrowed(leaf.path, name, least + leaf.over[name], least)
    return None
