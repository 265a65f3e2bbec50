"""Which jobs are within a guaranteed share: as the queue keeps it, and as the auditor works it out."""

from collections.abc import Callable, Iterable

import pytest

from fairway.audit.evictions.levels import guarantors as audited
from fairway.domain.preemption.levels import MOST_LEFT, ActiveJob
from fairway.domain.quota.tree import QuotaNode
from fairway.queue.preemption.kept_levels import KeptLevels
from tests.spec.builders.lives import GPU

A = QuotaNode("a", "root/org/a", {GPU: 8})
B = QuotaNode("b", "root/org/b", {GPU: 4})
ORG = QuotaNode("org", "root/org", {GPU: 16}, children=(A, B))
ROOT = QuotaNode("root", "root", {GPU: 100}, {GPU: 100}, children=(ORG,))


def job(name: str, gpus: int, leaf: str = "a", **more: int) -> ActiveJob:
    """`priority`, since when (`at`), and what it asks for besides."""
    priority = more.pop("priority", 0)
    at = more.pop("at", 0)
    return ActiveJob(name, f"root/org/{leaf}", priority, at, {GPU: gpus, **more})


CASES = {
    "what fits within the leaf's min": ([job("x", 8)], {"x": A.path}),
    "the first who was there": ([job("x", 8, at=1), job("y", 8, at=0)], {"y": A.path}),
    "the higher priority, whoever was there first": ([job("x", 8), job("y", 8, priority=1, at=1)], {"y": A.path}),
    "who does not fit is skipped": ([job("x", 12), job("y", 8, at=1)], {"y": A.path}),
    "then what the node above has beyond its children's": (
        [job("x", 8), job("y", 4, at=1), job("z", 4, at=2)],
        {"x": A.path, "y": ORG.path},
    ),
    "which is for all its leaves, in their common order": (
        [job("x", 4, at=1, leaf="b"), job("y", 4, at=3, leaf="b"), job("z", 4, at=2), job("w", 8)],
        {"x": B.path, "w": A.path, "z": ORG.path},
    ),
    "who asks for nothing that is guaranteed is in nobody's share": ([ActiveJob("x", A.path, 0, 0, {"cpu": 4})], {}),
    "resources that are not guaranteed are not in the way": ([job("x", 8, cpu=9_999)], {"x": A.path}),
    "a leaf that the tree has lost guarantees nothing": ([ActiveJob("x", "root/gone", 0, 0, {GPU: 1})], {}),
}


Guarantors = Callable[[QuotaNode | None, Iterable[ActiveJob]], dict[str, str]]


def kept(tree: QuotaNode | None, jobs: Iterable[ActiveJob]) -> dict[str, str]:
    levels = KeptLevels()
    levels.under(tree)
    known = list(jobs)
    for job in known:
        levels.add(job, [job.leaf.rsplit("/", up)[0] for up in range(job.leaf.count("/") + 1)])
    nodes = {job.id: levels.guarantor(job.id) for job in known}
    return {name: node.path for name, node in nodes.items() if node is not None}


@pytest.fixture(params=[kept, audited], ids=["kept", "audited"])
def guarantors(request: pytest.FixtureRequest) -> Guarantors:
    found: Guarantors = request.param
    return found


@pytest.mark.parametrize(("jobs", "wanted"), CASES.values(), ids=list(CASES))
def test_who_is_guaranteed_by_which_node(guarantors: Guarantors, jobs: list[ActiveJob], wanted: dict[str, str]) -> None:
    assert guarantors(ROOT, jobs) == wanted


def test_a_min_of_thousands_is_given_to_as_many_jobs(guarantors: Guarantors) -> None:
    leaf = QuotaNode("a", "root/a", {GPU: 5_000})
    tree = QuotaNode("root", "root", {GPU: 9_000}, children=(leaf,))
    jobs = [ActiveJob(f"j{number:04d}", leaf.path, 0, number, {GPU: 1}) for number in range(6_000)]
    assert set(guarantors(tree, jobs)) == {job.id for job in jobs[:5_000]}


@pytest.mark.parametrize(("others", "wanted"), [(MOST_LEFT - 1, {"last"}), (MOST_LEFT, set())])
def test_no_more_than_so_many_are_looked_at_that_do_not_fit(
    guarantors: Guarantors, others: int, wanted: set[str]
) -> None:
    large = [job(f"large-{number}", 99) for number in range(others)]
    assert set(guarantors(ROOT, [*large, job("last", 1, at=1)])) == wanted


def test_without_a_tree_nobody_is(guarantors: Guarantors) -> None:
    assert guarantors(None, [job("x", 1)]) == {}
