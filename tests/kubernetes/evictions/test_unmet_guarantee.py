"""A min that cannot be got back where its job has to run: nobody is evicted, and `why` says in numbers what lacks."""

import time
from collections.abc import Iterator

import pytest

from tests.kubernetes.evictions.house import LENDER, OWNER, EvictionHouse
from tests.kubernetes.evictions.manifests import MODEL, Gang, least, tree
from tests.kubernetes.support.fleet import until

SOUTH = ("south",)
TOTAL = 72
# A second claim follows 2 s after the first one, and finds nobody either.
REST_S = 3
RARE_NODE = "v1/nodes/south-2"
COMMON = "A100"
RARE = "H100"


def wholes(member: str, count: int) -> list[Gang]:
    return [Gang(LENDER, f"{member}-{number}", clusters=(member,), grace=1) for number in range(count)]


def told(house: EvictionHouse, gang: Gang, sentence: str) -> None:
    """By `why`, and by an Event that `kubectl describe` shows."""
    until(lambda: sentence in house.why(gang)["because"], f"why of {gang.name} says that {sentence}")
    until(lambda: "Warning NoVictims" in house.described(gang), f"{gang.name} has the Event")
    assert sentence in house.described(gang)


@pytest.fixture
def rare(house: EvictionHouse) -> Iterator[None]:
    """One node of south has GPUs of another model meanwhile."""
    south = house.fleet.members["south"]
    south.patch(RARE_NODE, {"metadata": {"labels": {MODEL: RARE}}})
    yield
    south.patch(RARE_NODE, {"metadata": {"labels": {MODEL: COMMON}}})


def test_the_nodes_that_borrowers_hold_do_not_do_until_the_min_of_others_is_less(house: EvictionHouse) -> None:
    """Two of the three in south are inside the min of who lends, so that one node there can be got back at most."""
    house.rules(tree(TOTAL, lender=least(16), owner=least(16)))
    inside = wholes("south", 3)
    borrowed = [*wholes("east", 3), *wholes("west", 3)]
    house.fill([*inside, *borrowed])
    mine = Gang(OWNER, "mine", 2, 8, SOUTH)
    house.apply(mine)
    told(house, mine, "nearest is south: if all of 7 candidates went that may, 1 of its 2 pods would have no room")
    time.sleep(REST_S)
    assert {*house.attempts([*inside, *borrowed]).values()} == {1}, "nobody goes for nothing"

    house.rules(tree(TOTAL, lender=least(8), owner=least(16)))
    assert house.running(mine)["cluster"] == "south"
    attempts = house.attempts([*inside, *borrowed])
    assert {name for name, attempt in attempts.items() if attempt > 1} == {"south-1", "south-2"}


@pytest.mark.usefixtures("rare")
def test_gpus_of_the_wrong_model_do_not_do_until_who_has_the_right_ones_is_done(house: EvictionHouse) -> None:
    house.rules(tree(TOTAL, lender=least(8), owner=least(16)))
    right = Gang(LENDER, "right", grace=1, model=RARE)
    wrong = [*wholes("south", 2), *wholes("east", 3), *wholes("west", 3)]
    house.fill([right, *wrong])
    assert house.nodes(right) == {"south-2"}
    mine = Gang(OWNER, "mine", model=RARE)
    house.apply(mine)
    told(house, mine, "nearest is south: if all of 8 candidates went that may, 1 of its 1 pods would have no room")
    time.sleep(REST_S)
    assert {*house.attempts([right, *wrong]).values()} == {1}, "nobody goes for nothing"

    house.delete(right)
    house.running(mine)
    assert house.nodes(mine) == {"south-2"}
    assert {*house.attempts(wrong).values()} == {1}
