"""Why nobody is evicted, in words and numbers."""

from itertools import islice

from fairway.domain.resources import show
from fairway.placement.relief.case import Allowed, Case
from fairway.placement.relief.outcome import NoRelief
from fairway.placement.relief.room.shape_room import Mask
from fairway.placement.shapes import words
from fairway.placement.verdicts.sentences import sentence
from fairway.placement.verdicts.table import VerdictTable
from fairway.wire.reasons import Code, Reason

# Clusters that are named where none comes into question.
_NAMED = 5


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


def lacks_room(allowed: Allowed, table: VerdictTable, slot: int, missing: int) -> NoRelief:
    """Also if all went that may. `table` has what each cluster says, which is told where none comes into question."""
    case = allowed.case
    looked = len(case.columns.slot)
    asks = words(case.gang.demand)
    if slot < 0:
        each = _each(table, asks)
        text = f"none of {len(table)} clusters could take it now if all of {looked} candidates went: {each}"
        return NoRelief(Reason(Code.WAITING_FOR_ROOM, text), looked)
    name = case.engine.clusters.views[slot].name
    would = (
        f"{missing} of its {case.gang.demand.needed} pods would have no room" if missing else "not all of them may go"
    )
    short = f"{int(allowed.clusters.short.sum())} of {len(table)} clusters have too little room"
    text = f"needs {asks}; {short}, nearest is {name}: if all of {looked} candidates went that may, {would}"
    return NoRelief(Reason(Code.WAITING_FOR_ROOM, text), looked, name, missing)


def _each(table: VerdictTable, asks: str) -> str:
    several = [f"{one.cluster}: {sentence(one, asks)}" for one in islice(table, _NAMED)]
    more = [f"and {len(table) - _NAMED} more"] if len(table) > _NAMED else []
    return "; ".join([*several, *more])


def nearer(one: NoRelief | None, other: NoRelief) -> NoRelief:
    """Of two affinities' answers: the one that names a cluster where less is missing; else the later one."""
    if one is None or not one.cluster:
        return other
    return other if other.cluster and other.missing < one.missing else one
