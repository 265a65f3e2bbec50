"""reserver: what was promised on a node that a member filled otherwise is planned anew, and never promised twice."""

from given import node
from lives import GPU

from fairway.domain.ledger import Hold
from fairway.reserver.relocate import left, relocated
from fairway.wire.capacity import Node, Pods, Slot

EIGHT = {GPU: 8, "pods": 1}


def hold(*nodes: str) -> Hold:
    return Hold(tuple(Slot("w", name, 1) for name in nodes), {"w": EIGHT})


def laid(name: str, seen: tuple[str, ...] = (), planned: tuple[str, ...] = (), **more: object) -> Node:
    """A node of eight GPUs with pods of eight that were seen there, and others that are planned for it."""
    attempts = {key: Pods({"w": 1}, EIGHT) for key in seen}
    return node(name, attempts=attempts, holds=dict.fromkeys((*seen, *planned), EIGHT), **more)


def places(holds: dict[str, Hold]) -> dict[str, list[str]]:
    return {key: [slot.node for slot in one.slots] for key, one in holds.items()}


def test_a_pod_still_to_come_gives_way_to_one_that_is_there() -> None:
    nodes = {"n1": laid("n1", seen=("b/1",), planned=("a/1",)), "n2": laid("n2")}
    changed, moved = relocated(["n1"], nodes, {"a/1": hold("n1"), "b/1": hold("n2")})
    assert places(moved) == {"a/1": ["n2"]}
    assert {name: left(one)[GPU] for name, one in changed.items()} == {"n1": 0, "n2": 0}


def test_a_node_that_is_not_overfull_keeps_its_plan() -> None:
    nodes = {"n1": laid("n1", planned=("a/1",)), "n2": laid("n2")}
    assert relocated(["n1"], nodes, {"a/1": hold("n1")}) == ({}, {})


def test_pods_that_are_there_stay_even_where_there_are_too_many() -> None:
    nodes = {"n1": laid("n1", seen=("a/1", "b/1")), "n2": laid("n2")}
    assert relocated(["n1"], nodes, {"a/1": hold("n1"), "b/1": hold("n2")}) == ({}, {})


def test_without_another_node_of_its_kind_the_plan_stays() -> None:
    nodes = {"n1": laid("n1", seen=("b/1",), planned=("a/1",)), "n2": laid("n2", labels={"gpu": "other"})}
    assert relocated(["n1"], nodes, {"a/1": hold("n1"), "b/1": hold("n2")}) == ({}, {})


def test_only_the_unseen_part_of_a_gang_moves() -> None:
    nodes = {
        "n1": laid("n1", seen=("a/1",)), "n2": laid("n2", seen=("b/1",), planned=("a/1",)), "n3": laid("n3"),
    }  # fmt: skip
    _, moved = relocated(["n1", "n2", "n3"], nodes, {"a/1": hold("n1", "n2"), "b/1": hold("n3")})
    assert places(moved) == {"a/1": ["n1", "n3"]}
