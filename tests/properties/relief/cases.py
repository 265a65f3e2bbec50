"""Fleets with candidates on their nodes, gangs that want room, and what they may have."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from hypothesis import strategies as st
from msgspec.structs import replace

from fairway.domain.reservations import left_on
from fairway.domain.resources import add
from fairway.lab.bench.evict.candidate_rows import CandidateRow, in_columns
from fairway.placement.cluster import ClusterView
from fairway.placement.fit import Plan, fit
from fairway.placement.fleet import Fleet
from fairway.placement.relief.outcome import NoRelief, Relief
from fairway.placement.relief.relieve import relieve
from fairway.placement.verdicts.verdict import Context
from fairway.wire.capacity import ClusterInfo, Node
from fairway.wire.policy import Placement
from fairway.wire.preemption.evictions import Lender, Relieve
from fairway.wire.workload import PodSet, Workload
from tests.properties.models.evictions import quota_left, without
from tests.properties.models.plain_choice import room

GPU = "gpu.example/a"
ANYWHERE = Placement()
CONTEXT = Context(now=10)


class Given:
    """A fleet and what is asked of it."""

    def __init__(self, nodes: dict[str, list[Node]], workload: Workload, asked: Relieve) -> None:
        self.nodes = nodes
        self.workload = workload
        self.asked = asked

    def __repr__(self) -> str:
        return f"{self.nodes}\n{self.workload}\n{self.asked}"

    @cached_property
    def views(self) -> dict[str, ClusterView]:
        return {name: view(name, nodes) for name, nodes in self.nodes.items()}

    def relieve(self) -> Relief | NoRelief:
        return relieve(Fleet(self.views), self.workload, ANYWHERE, CONTEXT, self.asked)

    def enough(self, cluster: str, gone: Sequence[CandidateRow]) -> bool:
        """Whether there is room in this cluster, and quota, with these gone."""
        left = without(self.views[cluster], gone)
        return isinstance(fit(left, self.workload), Plan) and not quota_left(self.asked, gone)

    def pods(self, cluster: str, gone: Iterable[CandidateRow]) -> int:
        """How many of one shape have room with these gone, counted from the nodes."""
        keys = {f"{one.job}/{one.attempt}" for one in gone if one.cluster == cluster}
        (pods,) = self.workload.pod_sets
        asks = [(name, amount) for name, amount in pods.requests.items() if amount]
        left = [
            replace(node, holds={key: held for key, held in node.holds.items() if key not in keys})
            for node in self.nodes[cluster]
            if node.schedulable
        ]
        return sum(room(asks, left_on(node)) for node in left)


def view(name: str, nodes: list[Node]) -> ClusterView:
    cluster = ClusterView(ClusterInfo(name, kinds=("Job.batch/v1",), observed_at=1))
    for node in nodes:
        cluster.put(node)
    return cluster


@st.composite
def held(draw: st.DrawFn, candidates: int) -> tuple[list[Node], list[dict[str, dict[str, int]]]]:
    """Nodes, and what each of these candidates holds on which of them."""
    nodes = draw(st.integers(1, 4))
    free = [{"cpu": 8, GPU: 4, "pods": 6} for _ in range(nodes)]
    holds: list[dict[str, dict[str, int]]] = []
    for _ in range(candidates):
        own: dict[str, dict[str, int]] = {}
        for node in draw(st.lists(st.integers(0, nodes - 1), min_size=1, max_size=3, unique=True)):
            amounts = {
                "cpu": draw(st.integers(0, min(4, free[node]["cpu"]))),
                GPU: draw(st.integers(0, free[node][GPU])),
                "pods": min(1, free[node]["pods"]),
            }
            free[node] = {one: amount - amounts[one] for one, amount in free[node].items()}
            own[f"n{node}"] = amounts
        holds.append(own)
    found = [
        Node(
            f"n{at}",
            {"cpu": 8, GPU: 4, "pods": 6},
            used={GPU: draw(st.integers(0, 1))} if draw(st.booleans()) else {},
            schedulable=draw(st.integers(0, 5)) > 0,
        )
        for at in range(nodes)
    ]
    return found, holds


@st.composite
def lenders(draw: st.DrawFn) -> tuple[Lender, ...]:
    """Leaves, and one node above them that lends, too."""
    leaves = draw(st.integers(1, 2))
    over = st.fixed_dictionaries({GPU: st.integers(-1, 6), "cpu": st.integers(-1, 8)})
    return (
        *(Lender(f"leaf{at}", draw(st.sampled_from((-1, leaves))), draw(over)) for at in range(leaves)),
        Lender("above", -1, draw(over)),
    )


@st.composite
def filled(draw: st.DrawFn, name: str, count: int, lending: int) -> tuple[list[Node], list[CandidateRow]]:
    """The nodes of a cluster with what so many candidates hold there."""
    found, holds = draw(held(count))
    candidates = []
    for at, own in enumerate(holds):
        charge: dict[str, int] = {}
        for amounts in own.values():
            charge = add(charge, amounts)
        level = draw(st.integers(0, 1))
        priority = draw(st.integers(0, 2))
        lender = draw(st.integers(-1, lending - 2))
        lost = draw(st.integers(0, 3))
        candidates.append(
            CandidateRow(f"{name}-{at}", name, 1, level, priority, lender, lost, draw(st.integers(0, 1)), charge)
        )
    nodes = []
    for node in found:
        here = {f"{name}-{at}/1": own[node.name] for at, own in enumerate(holds) if node.name in own}
        nodes.append(replace(node, holds=here))
    return nodes, candidates


@st.composite
def cases(draw: st.DrawFn, sets: int = 1) -> Given:
    lending = draw(lenders())
    names = [f"c{at}" for at in range(draw(st.integers(1, 2)))]
    clusters = {name: draw(filled(name, draw(st.integers(0, 8 // len(names))), len(lending))) for name in names}
    pod_sets = tuple(
        PodSet(f"s{at}", draw(st.integers(1, 6)), {"cpu": draw(st.integers(1, 3)), GPU: draw(st.integers(0, 4))})
        for at in range(draw(st.integers(1, sets)))
    )
    minimum = draw(st.integers(1, sum(one.count for one in pod_sets)))
    short = {f"root|{GPU}": draw(st.integers(0, 4)), "root/a|cpu": draw(st.integers(0, 4))}
    asked = Relieve(
        job="j",
        tenant="t",
        claim=1,
        until=1,
        candidates=in_columns(draw(st.permutations([one for _, some in clusters.values() for one in some]))),
        lenders=lending,
        paths=(("root", "root/a"), ("root", "root/b")),
        short=short if draw(st.booleans()) else {},
        reclaimable=draw(st.sampled_from(((GPU,), ("cpu", GPU), ()))),
    )
    nodes = {name: found for name, (found, _) in clusters.items()}
    return Given(nodes, Workload("batch/v1", "Job", "ns", "job", pod_sets, minimum), asked)
