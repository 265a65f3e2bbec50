"""Levels: which active jobs are within a guaranteed share (min) of the quota tree. Pure.

Nobody asks who runs. So an eviction changes no level, and no chain of evictions comes back to where it began: from
evictor to victim the level never grows, and where it stays the priority falls (`precedence.py`).
"""

from collections.abc import Iterable, Iterator, Mapping
from heapq import merge

from msgspec import Struct

from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources, add

# Within a guaranteed share; what is between is for fair shares above min; all others.
GUARANTEED = 2
SPARE = 0
# So many jobs at most are within the share of one node, and so many that are not are looked at and left to the nodes
# above; who lies behind is spare.
MOST_TAKEN = 16_384
MOST_LEFT = 1_024


class ActiveJob(Struct, frozen=True):
    """A job that waits, or that has its quota charged: what it `asks` for, of the leaf at this path."""

    id: str
    leaf: str
    priority: int
    enqueued_at: int
    asks: Resources

    @property
    def place(self) -> tuple[int, int, str]:
        return (-self.priority, self.enqueued_at, self.id)


class Passed(Struct, frozen=True):
    """Of one pass over jobs in order: who is within the share, by id, and who is left, in order."""

    taken: Mapping[str, None]
    left: tuple[ActiveJob, ...]


def within(share: Resources, ordered: Iterable[ActiveJob]) -> Passed:
    """Takes jobs in order as long as their sum stays within the share, and skips what does not fit. Only resources of
    the share count; who asks for none of them takes no part in it."""
    sums: Resources = dict.fromkeys(share, 0)
    taken: dict[str, None] = {}
    left: list[ActiveJob] = []
    for job in ordered:
        asks = [(name, amount) for name, amount in job.asks.items() if amount and name in share]
        room = len(taken) < MOST_TAKEN and all(sums[name] + amount <= share[name] for name, amount in asks)
        if asks and room:
            taken[job.id] = None
            for name, amount in asks:
                sums[name] += amount
        else:
            left.append(job)
            if len(left) == MOST_LEFT:
                break
    return Passed(taken, tuple(left))


def own_share(node: QuotaNode) -> Resources:
    """What a node guarantees: a leaf its min, an inner node what its min has beyond its children's, to whatever leaf
    below. The root, whose min is the whole fleet, guarantees nothing to its children's leaves."""
    if node.children and "/" not in node.path:
        return {}
    below: Resources = {}
    for child in node.children:
        below = add(below, child.min)
    return {name: amount - below.get(name, 0) for name, amount in node.min.items() if amount > below.get(name, 0)}


def in_order(several: Iterable[Iterable[ActiveJob]]) -> Iterator[ActiveJob]:
    return merge(*several, key=lambda job: job.place)
