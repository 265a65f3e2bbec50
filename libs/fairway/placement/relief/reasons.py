"""Why nobody is evicted, in words and numbers."""

from fairway.domain.resources import show
from fairway.placement.relief.case import Case
from fairway.placement.relief.outcome import NoRelief
from fairway.placement.relief.room.shape_room import Mask
from fairway.placement.shapes import words
from fairway.wire.reasons import Code, Reason


def lacks_quota(case: Case, may: Mask) -> NoRelief:
    """Also if all of these went."""
    looked = len(case.columns.slot)
    lacking = []
    for key, left in zip(case.quota.keys, case.quota.left(may), strict=True):
        node, _, resource = key.rpartition("|")
        if left:
            lacking.append(f"{node} would still lack {show(resource, left)} {resource}")
    said = "; ".join(lacking) or "not all of them may go"
    text = (
        f"quota is short, and evictions do not give enough back: of {looked} candidates {int(may.sum())} may go; {said}"
    )
    return NoRelief(Reason(Code.WAITING_FOR_QUOTA, text), looked)


def lacks_room(case: Case, slot: int, missing: int) -> NoRelief:
    looked = len(case.columns.slot)
    asks = words(case.gang.demand)
    if slot < 0:
        text = f"needs {asks}; no cluster that could hold it may be asked now ({looked} candidates)"
        return NoRelief(Reason(Code.WAITING_FOR_ROOM, text), looked)
    name = case.engine.clusters.views[slot].name
    would = (
        f"{missing} of its {case.gang.demand.needed} pods would have no room" if missing else "not all of them may go"
    )
    text = f"needs {asks}; nearest is {name}: if all of {looked} candidates went that may, {would}"
    return NoRelief(Reason(Code.WAITING_FOR_ROOM, text), looked, name, missing)


def nearer(one: NoRelief | None, other: NoRelief) -> NoRelief:
    """Of two affinities' answers: the one that names a cluster where less is missing; else the later one."""
    if one is None or not one.cluster:
        return other
    return other if other.cluster and other.missing < one.missing else one
