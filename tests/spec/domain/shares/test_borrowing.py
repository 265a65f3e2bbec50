"""Who has borrowed what, and of whom; and mins that the fleet cannot back."""

import pytest

from fairway.domain.quota.borrowing import Unbacked, balances, unbacked
from fairway.domain.quota.node_terms import LEND_LIMIT, WEIGHT
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources
from tests.spec.builders.lives import GPU


def node(path: str, least: int, *children: QuotaNode, **attributes: str) -> QuotaNode:
    most = {GPU: least} if "/" not in path else {}
    return QuotaNode(path.rpartition("/")[2], path, {GPU: least}, most, attributes=attributes, children=children)


def flat(whole: int = 24, **attributes: str) -> QuotaNode:
    """Three leaves with a min of 8 each; the attributes are those of the first."""
    first = node("root/a", 8, **attributes)
    return node("root", whole, first, node("root/b", 8), node("root/c", 8))


DEEP = node(
    "root", 16, node("root/x", 8, node("root/x/a", 4), node("root/x/b", 0)), node("root/y", 8, node("root/y/c", 8))
)

# Given a tree and what its leaves use: what each node has borrowed, and what others have of its min.
CASES = {
    "nobody borrows": (flat(), {"a": 8, "b": 8}, {}, {}),
    "one borrows of one": (flat(), {"a": 8, "b": 11, "c": 5}, {"b": 3}, {"c": 3}),
    "of two that lend each gives in proportion": (flat(), {"b": 12, "c": 4}, {"b": 4}, {"a": 2, "c": 2}),
    "no GPU is lost by rounding": (flat(), {"b": 9}, {"b": 1}, {"c": 1}),
    "what nobody is guaranteed goes first": (flat(30), {"b": 15}, {"b": 7}, {"c": 1}),
    "what a node keeps it does not lend": (
        flat(**{LEND_LIMIT: '{"nvidia.com/gpu": 0}'}),
        {"b": 12},
        {"b": 4},
        {"c": 4},
    ),
    "through the node above": (
        DEEP,
        {"x/a": 1, "x": 1, "y/c": 12, "y": 12},
        {"y": 4, "y/c": 4},
        {"x": 4},
    ),
    "and of its leaf only what its node has not itself": (
        DEEP,
        {"y/c": 16, "y": 16},
        {"y": 8, "y/c": 8},
        {"x": 8, "x/a": 4},
    ),
}


@pytest.mark.parametrize(("tree", "used", "borrowed", "lent"), CASES.values(), ids=list(CASES))
def test_who_has_borrowed_and_who_lends(
    tree: QuotaNode, used: dict[str, int], borrowed: dict[str, int], lent: dict[str, int]
) -> None:
    found = balances(tree, usage(used))
    assert {name: one.borrowed[GPU] for name, one in found.items() if one.borrowed} == rooted(borrowed)
    assert {name: one.lent[GPU] for name, one in found.items() if one.lent} == rooted(lent)


def rooted(amounts: dict[str, int]) -> dict[str, int]:
    return {f"root/{name}": amount for name, amount in amounts.items()}


def usage(used: dict[str, int]) -> dict[str, int]:
    return {f"{name}|{GPU}": amount for name, amount in rooted(used).items()}


def test_a_share_is_of_what_is_above_min_by_weight() -> None:
    used = usage({"a": 14, "b": 14, "c": 4})
    assert [balances(flat(), used)[f"root/{name}"].share for name in "abc"] == [250_000, 250_000, 0]
    assert balances(flat(**{WEIGHT: "2"}), used)["root/a"].share == 125_000
    assert balances(flat(**{WEIGHT: "0"}), used)["root/a"].share == -1


@pytest.mark.parametrize(("fleet", "short"), [({GPU: 24}, {}), ({GPU: 23}, {GPU: Unbacked(24, 23)})])
def test_mins_that_the_fleet_does_not_have(fleet: Resources, short: dict[str, Unbacked]) -> None:
    assert unbacked(flat(30), fleet) == short


def test_a_resource_that_no_cluster_has_backs_no_min() -> None:
    assert unbacked(flat(), {"cpu": 1}) == {GPU: Unbacked(24, 0)}
