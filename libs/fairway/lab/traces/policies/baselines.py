"""The policies that Fairway is compared with, each on the nodes of the whole fleet."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from fairway.agent.observe import node_of
from fairway.lab.kubesim.__main__ import ClusterConfig
from fairway.lab.traces.policies.event_loop import JobRun, play
from fairway.lab.traces.policies.node_pool import NodePool
from fairway.lab.traces.policies.queues import Fifo, ShortestFirst
from fairway.lab.traces.trace import TraceJob
from fairway.wire.capacity import Node

STATIC = "static partition"
FIFO = "FIFO"
SJF = "SJF, run times known"


class ComparedFleet(Struct, frozen=True):
    """What a trace is played on: the clusters' nodes, and the tenants' `shares` of them (none: equal ones)."""

    clusters: tuple[ClusterConfig, ...]
    shares: dict[str, int] = {}

    def nodes(self) -> dict[str, list[Node]]:
        """By cluster."""
        return {one.name: [node_of(node)[0] for group in one.nodes for node in group.nodes()] for one in self.clusters}


Runs = list[JobRun | None]


def fifo(jobs: Sequence[TraceJob], fleet: ComparedFleet) -> Runs:
    return play(jobs, Fifo(), NodePool(fleet.nodes()))


def shortest_first(jobs: Sequence[TraceJob], fleet: ComparedFleet) -> Runs:
    return play(jobs, ShortestFirst(), NodePool(fleet.nodes()))


def static_partition(jobs: Sequence[TraceJob], fleet: ComparedFleet) -> Runs:
    """Each tenant has its share of the nodes, as one cluster of its own, and nothing of the others'."""
    tenants = sorted({job.tenant for job in jobs})
    nodes = [node for of_cluster in fleet.nodes().values() for node in of_cluster]
    sizes = split_nodes(len(nodes), {tenant: fleet.shares.get(tenant, 1) for tenant in tenants})
    runs: Runs = [None] * len(jobs)
    first = 0
    for tenant, size in sizes.items():
        own = [index for index, job in enumerate(jobs) if job.tenant == tenant]
        pool = NodePool({tenant: nodes[first : first + size]})
        for index, run in zip(own, play([jobs[index] for index in own], Fifo(), pool), strict=True):
            runs[index] = run
        first += size
    return runs


def split_nodes(count: int, shares: Mapping[str, int]) -> dict[str, int]:
    """`count` nodes by these shares: first the whole ones, then one more to the largest remainders."""
    total = sum(shares.values())
    sizes = {name: count * share // total for name, share in shares.items()}
    left = count - sum(sizes.values())
    for name in sorted(shares, key=lambda name: (-(count * shares[name] % total), name))[:left]:
        sizes[name] += 1
    return sizes


BASELINES: dict[str, Callable[[Sequence[TraceJob], ComparedFleet], Runs]] = {
    STATIC: static_partition,
    FIFO: fifo,
    SJF: shortest_first,
}
