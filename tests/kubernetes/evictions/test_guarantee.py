"""A min that others have borrowed is got back, in one cluster, from as few jobs as that takes."""

import time

from tests.kubernetes.evictions.fewest import fewest
from tests.kubernetes.evictions.house import LENDER, OWNER, EvictionHouse
from tests.kubernetes.evictions.manifests import Gang, least, tree

GRACE_S = 2
TOTAL = 72


def borrowers(member: str, halves: int = 0, pairs: int = 0, wholes: int = 0) -> list[Gang]:
    """Jobs of half a node, of a half of two nodes or of one, and of a whole node."""
    shapes = [("half", 1, 4)] * halves + [("pair", 2, 4)] * pairs + [("whole", 1, 8)] * wholes
    found = enumerate(shapes)
    return [Gang(LENDER, f"{member}-{word}-{at}", pods, gpus, (member,), GRACE_S) for at, (word, pods, gpus) in found]


def test_a_gang_inside_its_min_runs_after_the_grace_of_the_fewest_that_have_to_go(house: EvictionHouse) -> None:
    """By one claim and in one attempt. How long it takes is printed: docs/performance.md has it for a quiet machine."""
    house.rules(tree(TOTAL, lender=least(8), owner=least(16)))
    borrowed = [*borrowers("east", 4, 1), *borrowers("south", 0, 0, 3), *borrowers("west", 6)]
    house.fill(borrowed)
    before = {one.name: house.nodes(one) for one in borrowed}
    guaranteed = {one.name for one in borrowed[:2]}

    mine = Gang(OWNER, "mine", 2, 8)
    began = time.monotonic()
    house.apply(mine)
    row = house.running(mine)
    took = time.monotonic() - began
    print(f"from apply to running: {took:.2f} s, of them {GRACE_S} s of grace: {house.times(mine)}")
    assert [line["what"] for line in house.story(mine)["lines"]].count("claimed") == row["attempt"] == 1

    nodes = house.nodes(mine)
    assert nodes == house.nodes(mine, row["cluster"])
    victims = {name for name, attempt in house.attempts(borrowed).items() if attempt > 1}
    assert len(victims) == fewest(before, guaranteed) == 2
    assert all(before[one] <= nodes for one in victims)
    assert all(house.row(one)["state"] == ("queued" if one.name in victims else "running") for one in borrowed)

    house.delete(mine)
    for one in borrowed:
        assert house.running(one)["attempt"] == (2 if one.name in victims else 1)
        assert all("fail" not in line["what"] for line in house.story(one)["lines"])


def test_a_min_is_got_back_in_another_member_while_one_is_away(house: EvictionHouse) -> None:
    """Where a single job would have to go nobody can be asked: two go elsewhere, and nobody is touched there."""
    house.rules(tree(TOTAL, lender=least(8), owner=least(16)))
    alone = Gang(LENDER, "west-alone", 2, 8, ("west",), GRACE_S)
    borrowed = [*borrowers("east", 6), *borrowers("south", 0, 0, 3), *borrowers("west", 0, 0, 1), alone]
    house.fill(borrowed)
    with house.fleet.cut():
        mine = Gang(OWNER, "mine", 2, 8)
        began = time.monotonic()
        house.apply(mine)
        assert house.running(mine)["cluster"] == "south"
        took = time.monotonic() - began
    print(f"from apply to running: {took:.2f} s, of them {GRACE_S} s of grace: {house.times(mine)}")
    victims = {name for name, attempt in house.attempts(borrowed).items() if attempt > 1}
    assert len(victims) == 2
    assert all(name.startswith("south") for name in victims)
    assert {house.row(one)["state"] for one in borrowed if one.name not in victims} == {"running"}
    house.delete(mine)
    for one in borrowed:
        house.running(one)
