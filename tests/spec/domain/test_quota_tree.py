"""Leaves of a quota tree are looked up, however many there are: every claim of every job asks for one."""

from collections.abc import Iterator
from typing import Any

import pytest

from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.tree import QuotaNode, leaf_named, leaf_of
from fairway.domain.tenancy.entitlement import leaf_refused, queue_admits
from fairway.domain.tenancy.profile import Tenancy


class Counted(tuple[QuotaNode, ...]):
    """Children of a node, which count how often they are walked."""

    walks = 0

    def __iter__(self) -> Iterator[QuotaNode]:
        Counted.walks += 1
        return super().__iter__()

    def __reversed__(self) -> Iterator[QuotaNode]:
        Counted.walks += 1
        return iter(self[::-1])


def tree() -> QuotaNode:
    leaves = [QuotaNode(f"l{n}", f"root/l{n}", namespaces=(f"n{n}", "shared")) for n in range(50)]
    twice = QuotaNode("inner", "root/inner", children=(QuotaNode("l7", "root/inner/l7"), QuotaNode("x", "root/l8")))
    return QuotaNode("root", "root", children=Counted((*leaves, twice)))


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("l3", "root/l3"),
        ("root/l3", "root/l3"),
        ("l7", "root/l7"),
        ("root/inner/l7", "root/inner/l7"),
        ("inner", ""),
        ("root", ""),
        ("", ""),
    ],
)
def test_a_leaf_is_known_by_its_name_and_by_its_path_and_the_first_one_counts(name: str, want: str) -> None:
    found = leaf_named(tree(), name)
    assert (found[-1].path if found else "") == want


def test_the_tree_is_walked_once_whatever_is_asked_of_it() -> None:
    """A thousand leaves were walked for each of 35,000 claims, and for each queue of the hub."""
    whole = tree()
    mine = Tenancy("n3")
    Counted.walks = 0
    asked: list[Any] = [leaf_refused(whole, mine, f"l{n}", "x") for n in range(60)]
    asked += [queue_admits(QueueSpec(f"l{n}"), mine, whole) for n in range(60)]
    asked += [leaf_of(whole, f"n{n}", {}) for n in range(60)]
    assert [each for each in asked if each is True] == [True]
    assert Counted.walks == 1
