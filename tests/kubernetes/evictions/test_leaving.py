"""While those leave who have to, some of them late, their room is kept for whom it is; and no longer than for him."""

import time

from tests.kubernetes.evictions.fleet import FAR
from tests.kubernetes.evictions.house import LENDER, OWNER, EvictionHouse
from tests.kubernetes.evictions.manifests import Gang, least, tree
from tests.kubernetes.support.fleet import until

SOUTH = ("south",)
TOTAL = 72
# Its first job is within the min of the lender.
STAYS = Gang(LENDER, "stays", 1, 8, SOUTH, 1)


def whole(name: str, grace: int, clusters: tuple[str, ...] = SOUTH) -> Gang:
    return Gang(LENDER, name, 1, 8, clusters, grace)


def leaving(house: EvictionHouse, gang: Gang) -> bool:
    """Whether its pods have been told to go, and are there."""
    (member,) = gang.clusters
    pods = house.fleet.members[member].pods(gang.namespace, f"training.kubeflow.org/job-name={gang.name}")
    return bool(pods) and all("deletionTimestamp" in one["metadata"] for one in pods)


def test_room_is_kept_until_a_pod_that_does_not_heed_sigterm_has_gone(house: EvictionHouse) -> None:
    """Another has gone long before, and whoever would fit into its room waits."""
    grace = 20
    house.rules(tree(TOTAL, lender=least(8), owner=least(16)))
    soon = whole("soon", 1)
    late = whole("late", grace)
    house.fill((STAYS, soon, late))
    mine = Gang(OWNER, "mine", 2, 8, SOUTH)
    began = time.monotonic()
    house.apply(mine)
    until(lambda: leaving(house, late) and not house.nodes(soon), "one has gone and one has not")
    other = whole("other", 1)
    house.apply(other)
    while leaving(house, late):
        assert [house.nodes(one) for one in (mine, soon, other)] == [set()] * 3
        time.sleep(0.2)
    house.running(mine)
    took = time.monotonic() - began
    print(f"from apply to running: {took:.2f} s, of them {grace} s of grace")
    assert took > grace
    assert house.attempts((STAYS, soon, late, other)) == {"stays": 1, "soon": 2, "late": 2, "other": 1}
    assert {house.row(one)["state"] for one in (soon, late, other)} == {"queued"}


def test_nothing_is_kept_for_a_job_that_was_deleted_meanwhile(house: EvictionHouse) -> None:
    """Those who had to leave for it come back."""
    grace = 6
    house.rules(tree(TOTAL, lender=least(8), owner=least(16)))
    victims = (whole("one", grace), whole("two", grace))
    house.fill((STAYS, *victims))
    mine = Gang(OWNER, "mine", 2, 8, SOUTH)
    house.apply(mine)
    until(lambda: all(leaving(house, one) for one in victims), "they leave")
    house.delete(mine)
    for one in victims:
        assert house.running(one)["attempt"] == 2
    assert house.row(mine)["state"] == "cancelled"
    assert house.nodes(mine) == set()
    assert house.row(STAYS)["attempt"] == 1


def test_room_in_a_member_that_is_cut_off_meanwhile_is_kept_until_it_is_back(house: EvictionHouse) -> None:
    """Those who leave have gone long before anybody sees it. Nobody else has to go for the same room."""
    grace = 5
    far = (FAR,)
    house.rules(tree(TOTAL, lender=least(8), owner=least(16)))
    stays = whole("stays", 1, far)
    victims = (whole("one", grace, far), whole("two", grace, far))
    others = tuple(whole(f"south-{number}", 1) for number in range(3))
    house.fill((stays, *victims, *others))
    mine = Gang(OWNER, "mine", 2, 8, far)
    house.apply(mine)
    until(lambda: all(leaving(house, one) for one in victims), "they leave")
    with house.fleet.cut():
        until(lambda: not any(house.nodes(one) for one in victims), "they have gone")
        assert house.nodes(mine) == set()
        assert {house.row(one)["state"] for one in (stays, *others)} == {"running"}
    house.running(mine)
    assert house.attempts((stays, *others, *victims, mine)) == {
        **dict.fromkeys(("stays", "south-0", "south-1", "south-2", "mine"), 1),
        **dict.fromkeys(("one", "two"), 2),
    }
    house.delete(mine)
    for one in victims:
        assert house.running(one)["attempt"] == 2
