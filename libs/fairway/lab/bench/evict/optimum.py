"""The fewest victims there are, found by looking at every set; and small cases in which that is soon done."""

from itertools import combinations
from random import Random
from typing import NamedTuple

from fairway.domain.reservations import left_on
from fairway.lab.bench.evict.candidate_rows import in_rows
from fairway.lab.bench.evict.load import NOW, ClaimCase, LentFleet
from fairway.placement.fleet import Fleet
from fairway.placement.relief.outcome import Relief
from fairway.placement.relief.relieve import relieve
from fairway.placement.verdicts.verdict import Context
from fairway.wire.policy import Placement

_NODES = 8
_ATTEMPTS = 10
_GANGS = ((2, 1), (4, 1), (8, 1), (16, 1), (1, 4), (2, 4), (4, 4), (1, 8), (2, 8), (3, 8))


class Compared(NamedTuple):
    """Of one case: the jobs that were evicted, and the fewest of the lowest level and priority with which it can be."""

    jobs: int
    fewest: int


def compared(seed: int) -> Compared | None:
    """None where the gang fits as it is, or no set makes room for it."""
    draw = Random(seed)
    small = LentFleet(1, _NODES, draw, alike=draw.random() < 0.7)
    small.fill(_ATTEMPTS, 1)
    fleet = small.fleet()
    claim = small.claim(*draw.choice(_GANGS))
    found = relieve(fleet, claim.workload, Placement(), Context(now=NOW), claim.asked)
    fewest = _fewest(fleet, claim)
    assert isinstance(found, Relief) == (fewest is not None), "it has an answer where there is one"
    return Compared(len(found.victims), fewest) if isinstance(found, Relief) and fewest else None


def _fewest(fleet: Fleet, claim: ClaimCase) -> int | None:
    (pods,) = claim.workload.pod_sets
    (view,) = fleet.values()
    prices = []
    candidates = in_rows(claim.asked)
    for size in range(len(candidates) + 1):
        for gone in combinations(candidates, size):
            keys = {one.key for one in gone}
            room = 0
            for node in view.nodes.values():
                left = left_on(node)
                for key, amounts in node.holds.items():
                    if key in keys:
                        left = {name: amount + amounts.get(name, 0) for name, amount in left.items()}
                room += max(0, min(left[name] // amount for name, amount in pods.requests.items()))
            if room >= claim.workload.gang_minimum:
                highest = max((one.level for one in gone), default=-1), max((one.priority for one in gone), default=-1)
                prices.append((*highest, size))
    return min(prices)[2] if prices else None
