"""A closed system, in which nobody comes or goes, comes to rest, in whatever order its jobs are asked."""

from graphlib import CycleError, TopologicalSorter
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct, field

from fairway.domain.preemption.claim import within_min
from fairway.domain.preemption.levels import ActiveJob, guarantors
from fairway.domain.preemption.precedence import Party, by_priority, by_reclaim, lenders
from fairway.domain.quota.charge import quota_key
from fairway.domain.quota.tree import QuotaNode, leaf_named
from fairway.domain.resources import Resources

GPU = "nvidia.com/gpu"
STEPS = 600


class Closed(Struct):
    """One pool of `room`, whose jobs run or wait. `edges` are who evicted whom."""

    tree: QuotaNode
    jobs: dict[str, ActiveJob]
    domains: dict[str, str]
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
        inner.append(QuotaNode(name=f"n{number}", path=f"root/n{number}", min={GPU: share}, children=tuple(leaves)))
    tree = QuotaNode(name="root", path="root", min={GPU: room}, max={GPU: room}, children=tuple(inner))
    wide = {node.path: draw(st.booleans()) for node in inner}
    paths = [leaf.path for node in inner for leaf in node.children]
    jobs = {}
    for number in range(draw(st.integers(4, 16))):
        name = f"j{number:02}"
        asks = {GPU: draw(st.integers(1, 8))}
        jobs[name] = ActiveJob(name, draw(st.sampled_from(paths)), draw(st.integers(0, 3)), number, asks)
    domains = {path: path.rpartition("/")[0] if wide[path.rpartition("/")[0]] else path for path in paths}
    return Closed(tree, jobs, domains, room)


def parties(system: Closed) -> dict[str, Party]:
    found = guarantors(system.tree, system.jobs.values())
    return {
        name: Party(system.path(name), system.domains[job.leaf], job.priority, 2 if name in found else 0)
        for name, job in system.jobs.items()
    }


def evicts(system: Closed, one: str, victim: str, usage: Resources, may_reclaim: bool) -> bool:
    """As the queue, the scheduler and the auditor ask it; `usage` without the victims before."""
    nodes = nodes_of(system.tree)
    known = parties(system)

    def over(path: str) -> bool:
        return usage.get(quota_key(path, GPU), 0) > nodes[path].min.get(GPU, 0)

    return by_priority(known[one], known[victim]) or (may_reclaim and by_reclaim(known[one], known[victim], over))


def turn(system: Closed, one: str) -> bool:
    """Whether the job gets to run: in free room, or in that of whom it evicts."""
    found = guarantors(system.tree, system.jobs.values())
    node = nodes_of(system.tree).get(found.get(one, ""))
    after = dict(system.running)
    victims: list[str] = []
    while system.free(after) < system.size(one):
        usage = system.used(after)
        may_reclaim = node is not None and within_min(node, usage, system.jobs[one].asks)
        able = [name for name in after if evicts(system, one, name, usage, may_reclaim)]
        if not able:
            return False
        known = parties(system)
        victims.append(min(able, key=lambda name: (known[name].level, known[name].priority, name)))
        del after[victims[-1]]
    for name in list(victims):
        if system.free(after) - system.size(name) >= system.size(one):
            after[name] = None
            victims.remove(name)
    system.edges += [(one, name) for name in victims]
    system.running = {**after, one: None}
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


@settings(max_examples=400, deadline=None)
@given(closed_systems(), st.integers(0, 2**16))
def test_a_closed_system_comes_to_rest_without_a_circle_of_evictions(system: Closed, seed: int) -> None:
    assert at_rest(system, Random(seed)), f"endless: {system.edges[-20:]}"
    assert no_cycle(system.edges)


@settings(max_examples=400, deadline=None)
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
def test_levels_do_not_depend_on_the_order_in_which_jobs_are_named(system: Closed, random: Random) -> None:
    jobs = list(system.jobs.values())
    before = guarantors(system.tree, jobs)
    random.shuffle(jobs)
    assert guarantors(system.tree, jobs) == before


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


def test_jobs_of_one_leaf_lend_each_other_nothing() -> None:
    assert lenders(("root", "root/a"), ("root", "root/a")) == ()
    assert lenders(("root", "root/a", "root/a/x"), ("root", "root/b", "root/b/y")) == ("root/b/y", "root/b")
