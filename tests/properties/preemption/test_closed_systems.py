"""A closed system, in which nobody comes or goes, comes to rest, in whatever order its jobs are asked: who evicts whom
is what the queue and the scheduler decide."""

from graphlib import CycleError, TopologicalSorter
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct, field

from fairway.audit.evictions.levels import guarantors
from fairway.audit.evictions.relation import giving_back
from fairway.domain.fold import fold
from fairway.domain.preemption.claim import within_min
from fairway.domain.preemption.levels import ActiveJob
from fairway.domain.preemption.precedence import lenders
from fairway.domain.quota.charge import quota_key
from fairway.domain.quota.node_terms import DOMAIN
from fairway.domain.quota.tree import QuotaNode, leaf_named
from fairway.domain.resources import Resources
from fairway.global_scheduler.decide import decide as scheduler
from fairway.placement.fleet import Fleet
from fairway.queue.decide import decide as queue
from fairway.queue.preemption.kept_levels import KeptLevels
from fairway.queue.view import Patience
from fairway.wire import jobs as wire
from fairway.wire.capacity import Node
from tests.spec.builders.lives import GPU, SLOTS, T0, Life, S
from tests.spec.builders.views import KIND, Given, cluster, events, of, told
from tests.spec.builders.waiting import quota, waiting

# Longer after the last one came than any patience.
NOW = T0 + 3_600 * S
STEPS = 600


class Closed(Struct):
    """One quota of `room`, in a cluster that has more, whose jobs run or wait. `edges` are who evicted whom."""

    tree: QuotaNode
    jobs: dict[str, ActiveJob]
    room: int
    running: dict[str, None] = field(default_factory=dict)
    edges: list[tuple[str, str]] = field(default_factory=list)

    def path(self, name: str) -> tuple[str, ...]:
        found = leaf_named(self.tree, self.jobs[name].leaf)
        assert found is not None
        return tuple(node.path for node in found)

    def size(self, name: str) -> int:
        return self.jobs[name].asks[GPU]

    def used(self, running: dict[str, None]) -> Resources:
        usage: Resources = {}
        for name in running:
            for node in self.path(name):
                key = quota_key(node, GPU)
                usage[key] = usage.get(key, 0) + self.size(name)
        return usage

    def free(self, running: dict[str, None]) -> int:
        return self.room - sum(map(self.size, running))

    def fleet(self) -> Fleet:
        holds = {f"{name}/1": {GPU: self.size(name), "pods": 1} for name in self.running}
        return Fleet({"c1": cluster("c1", [Node("n1", {GPU: 1_000, "pods": 110}, holds=holds)], NOW, kinds=(KIND,))})


def nodes_of(tree: QuotaNode) -> dict[str, QuotaNode]:
    found = {tree.path: tree}
    for child in tree.children:
        found |= nodes_of(child)
    return found


@st.composite
def closed_systems(draw: st.DrawFn) -> Closed:
    room = draw(st.integers(6, 24))
    left = room
    inner = []
    for number in range(draw(st.integers(1, 3))):
        share = draw(st.integers(0, left))
        left -= share
        rest = share
        leaves = []
        for leaf in range(draw(st.integers(1, 3))):
            least = draw(st.integers(0, rest))
            rest -= least
            path = f"root/n{number}/l{number}{leaf}"
            leaves.append(QuotaNode(name=f"l{number}{leaf}", path=path, min={GPU: least}))
        wide = draw(st.sampled_from([{DOMAIN: "true"}, {DOMAIN: "true"}, {}]))
        node = QuotaNode(f"n{number}", f"root/n{number}", {GPU: share}, attributes=wide, children=tuple(leaves))
        inner.append(node)
    tree = QuotaNode(name="root", path="root", min={GPU: room}, max={GPU: room}, children=tuple(inner))
    paths = [leaf.path for node in inner for leaf in node.children]
    jobs = {}
    for number in range(draw(st.integers(4, 16))):
        name = f"j{number:02}"
        asks = {GPU: draw(st.integers(1, 8))}
        jobs[name] = ActiveJob(name, draw(st.sampled_from(paths)), draw(st.integers(0, 3)), number, asks)
    return Closed(tree, jobs, room)


def life(system: Closed, name: str, asking: bool) -> Life:
    """As long patient as any node says; only who asks was told what it waits for."""
    job = system.jobs[name]
    more = {"queue": job.leaf, "leaf": system.path(name), "gpus": system.size(name), "priority": job.priority}
    if name in system.running:
        running = waiting(name, job.enqueued_at, **more)
        running.then(wire.Dequeued, path=running.now.leaf, charge=job.asks)
        running.then(wire.Placed, cluster="c1", slots=SLOTS)
        return running.then(wire.Reserved, cluster="c1", slots=SLOTS, expires_at=NOW)
    return waiting(name, job.enqueued_at, **more, **({"why": quota("root")} if asking else {}))


def turn(system: Closed, one: str) -> bool:
    """Whether the job gets to run: in free room, or in that of whom it evicts by what the queue and the scheduler
    decide."""
    victims: set[str] = set()
    if system.free(system.running) < system.size(one):
        lives = [life(system, name, name == one) for name in system.jobs]
        usage = system.used(system.running)
        asked = events(queue(of(*lives, tree=system.tree, usage=usage), told(Patience(at=NOW)), NOW))
        if not asked:
            return False
        there = Given(jobs={each.name: each.now for each in lives}, clusters=system.fleet(), freed={})
        there.jobs[one] = fold(there.jobs[one], asked[0])
        (said,) = events(scheduler(there, told(asked[1]), NOW))
        if said.verb != "evict":
            return False
        victims = {victim.job for victim in said.victims}
    system.edges += [(one, name) for name in sorted(victims)]
    system.running = {**{name: None for name in system.running if name not in victims}, one: None}
    return True


def at_rest(system: Closed, random: Random) -> bool:
    for _ in range(STEPS):
        waiting = [name for name in system.jobs if name not in system.running]
        random.shuffle(waiting)
        if not any(turn(system, name) for name in waiting):
            return True
    return False


def no_cycle(edges: list[tuple[str, str]]) -> bool:
    graph: dict[str, set[str]] = {}
    for one, victim in edges:
        graph.setdefault(one, set()).add(victim)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return False
    return True


@settings(max_examples=150, deadline=None)
@given(closed_systems(), st.integers(0, 2**16))
def test_a_closed_system_comes_to_rest_without_a_circle_of_evictions(system: Closed, seed: int) -> None:
    assert at_rest(system, Random(seed)), f"endless: {system.edges[-20:]}"
    assert no_cycle(system.edges)


@settings(max_examples=60, deadline=None)
@given(closed_systems(), st.integers(0, 2**16))
def test_at_rest_no_job_waits_that_its_leaf_is_guaranteed(system: Closed, seed: int) -> None:
    assert at_rest(system, Random(seed))
    found = guarantors(system.tree, system.jobs.values())
    nodes = nodes_of(system.tree)
    usage = system.used(system.running)
    waiting = [
        name
        for name, node in found.items()
        if node == system.jobs[name].leaf
        and name not in system.running
        and within_min(nodes[node], usage, system.jobs[name].asks)
    ]
    assert not waiting


@settings(max_examples=200, deadline=None)
@given(closed_systems(), st.randoms(use_true_random=False))
def test_levels_are_the_auditors_in_whatever_order_jobs_come_and_go(system: Closed, random: Random) -> None:
    jobs = list(system.jobs.values())
    random.shuffle(jobs)
    levels = KeptLevels()
    levels.under(system.tree)
    for job in jobs:
        levels.add(job, system.path(job.id))
    while jobs:
        kept = {job.id: levels.guarantor(job.id) for job in jobs}
        assert {name: node.path for name, node in kept.items() if node} == guarantors(system.tree, jobs)
        gone = jobs.pop()
        levels.remove(gone, system.path(gone.id))


@settings(max_examples=200, deadline=None)
@given(closed_systems())
def test_what_is_guaranteed_stays_within_the_min_of_every_node(system: Closed) -> None:
    sums: dict[str, int] = {}
    for name, guarantor in guarantors(system.tree, system.jobs.values()).items():
        for node in system.path(name):
            if guarantor.startswith(node):
                sums[node] = sums.get(node, 0) + system.size(name)
    nodes = nodes_of(system.tree)
    assert all(amount <= nodes[path].min.get(GPU, 0) for path, amount in sums.items())


@given(closed_systems(), st.data())
def test_who_gives_back_is_the_same_to_the_auditor(system: Closed, data: st.DataObject) -> None:
    one, other = (system.path(data.draw(st.sampled_from(sorted(system.jobs)))) for _ in range(2))
    assert set(lenders(one, other)) == set(giving_back(one, other))


def test_jobs_of_one_leaf_lend_each_other_nothing() -> None:
    assert lenders(("root", "root/a"), ("root", "root/a")) == ()
    assert lenders(("root", "root/a", "root/a/x"), ("root", "root/b", "root/b/y")) == ("root/b/y", "root/b")
