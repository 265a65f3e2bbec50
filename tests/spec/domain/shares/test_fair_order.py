"""Who is next among leaves: by what their share would be, for their weight."""

import pytest

from fairway.domain.quota.fair_order import LeafHead, first, in_turn, share
from fairway.domain.quota.tree import QuotaNode
from tests.spec.builders.lives import GPU

CPU = "cpu"


def node(path: str, weight: str = "1", children: tuple[QuotaNode, ...] = (), least: int = 0) -> QuotaNode:
    found = {GPU: least} if least else {}
    return QuotaNode(path.rpartition("/")[2], path, found, {}, (), {"fairway.io/weight": weight}, children)


def tree(*children: QuotaNode) -> QuotaNode:
    return QuotaNode("root", "root", {GPU: 100}, {GPU: 100, CPU: 1_000}, (), {}, children)


FLAT = tree(node("root/a"), node("root/b", "3"))
DEEP = tree(
    node("root/one", children=(node("root/one/a"), node("root/one/b"))),
    node("root/two", children=(node("root/two/a"),)),
)


def head(leaf: str, gpus: int = 10, at: int = 0, **more: object) -> LeafHead:
    known = {"queue_priority": 0, "guaranteed": False, **more}
    return LeafHead(f"{leaf}#{at}", leaf, {GPU: gpus}, place=(0, at), **known)


CASES = {
    "equal shares: who was there first": ({}, [head("root/a", at=1), head("root/b", at=0)], "root/b"),
    "who uses less": ({f"root/a|{GPU}": 10}, [head("root/a"), head("root/b", at=1)], "root/b"),
    "for its weight: 60 of weight 3 are less than 30 of weight 1": (
        {f"root/a|{GPU}": 20, f"root/b|{GPU}": 50},
        [head("root/a", at=1), head("root/b", at=0)],
        "root/b",
    ),
    "with the job: a large one makes the share larger": ({}, [head("root/a", 40), head("root/b", 60, 1)], "root/b"),
    "a queue of higher priority before any share": (
        {f"root/a|{GPU}": 90},
        [head("root/a", queue_priority=1), head("root/b")],
        "root/a",
    ),
    "who is guaranteed before any queue": (
        {f"root/b|{GPU}": 90},
        [head("root/a", queue_priority=9), head("root/b", guaranteed=True)],
        "root/b",
    ),
}


@pytest.mark.parametrize(("usage", "heads", "leaf"), CASES.values(), ids=list(CASES))
def test_whose_turn_it_is(usage: dict[str, int], heads: list[LeafHead], leaf: str) -> None:
    found = first(FLAT, {one.leaf: one for one in heads}, usage)
    assert found is not None
    assert found.leaf == leaf


def test_shares_are_compared_among_siblings() -> None:
    """Leaf a of two is above each of one, and two is below one."""
    usage = {f"root/one|{GPU}": 40, f"root/one/a|{GPU}": 20, f"root/one/b|{GPU}": 20}
    usage |= {f"root/two|{GPU}": 30, f"root/two/a|{GPU}": 30}
    found = first(DEEP, {one: head(one) for one in ("root/one/a", "root/one/b", "root/two/a")}, usage)
    assert found is not None
    assert found.leaf == "root/two/a"


def test_the_largest_share_of_all_resources_counts_and_only_what_is_above_min() -> None:
    whole = {GPU: 100, CPU: 1_000}
    usage = {f"root/a|{GPU}": 10, f"root/a|{CPU}": 500}
    assert share(node("root/a"), {GPU: 10, CPU: 100}, usage, whole) == 600_000
    assert share(node("root/a", least=15), {GPU: 10}, usage, whole) == 50_000
    assert share(node("root/a", "2"), {GPU: 10}, usage, whole) == 100_000


def test_a_node_without_weight_has_what_nobody_else_wants() -> None:
    none = tree(node("root/a", "0"), node("root/b"))
    usage = {f"root/b|{GPU}": 90}
    found = first(none, {one: head(one) for one in ("root/a", "root/b")}, usage)
    assert found is not None
    assert found.leaf == "root/b"


def test_one_after_the_other_they_come_out_by_weight() -> None:
    jobs = [head(leaf, 1, at) for leaf in ("root/a", "root/b") for at in range(12)]
    went = [one.leaf for one in in_turn(FLAT, jobs, {})]
    assert [went[:8].count("root/b"), went[:16].count("root/b")] == [6, 12]
    assert len(went) == len(jobs)


def test_a_leaf_that_the_tree_has_lost_comes_last() -> None:
    heads = {"root/gone": head("root/gone"), "root/a": head("root/a", at=5)}
    found = first(FLAT, heads, {})
    assert found is not None
    assert found.leaf == "root/a"
    assert first(FLAT, {"root/gone": heads["root/gone"]}, {}) == heads["root/gone"]
