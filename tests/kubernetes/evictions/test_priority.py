"""In a full leaf the fewest of lower priority go for a gang of a higher one, and everybody concerned is told."""

import re
import time
from typing import Any

import pytest

from tests.kubernetes.evictions.fewest import fewest
from tests.kubernetes.evictions.house import OWNER, EvictionHouse
from tests.kubernetes.evictions.manifests import Gang, priority_class, tree
from tests.kubernetes.support.fleet import until

Json = dict[str, Any]
TOTAL = 72
PATIENCE_S = 2
QUICK = {"attributes": {"fairway.io/preempt-after": f"{PATIENCE_S}s", "fairway.io/min-runtime": "1s"}}
EAST = ("east",)
SOUTH = ("south",)
WEST = ("west",)


@pytest.fixture(autouse=True)
def _classes(house: EvictionHouse) -> None:
    house.hub.apply(
        priority_class("low", 100),
        priority_class("middle", 500),
        priority_class("high", 1000),
        priority_class("patient", 500, preemptionPolicy="Never"),
    )


def low(name: str, pods: int, gpus: int, where: tuple[str, ...], grace: int = 2) -> Gang:
    return Gang(OWNER, name, pods, gpus, where, grace, "low")


# As many would do in east, and have a higher priority. One of the three in south has that of who comes later.
FIRST = Gang(OWNER, "south-first", 1, 8, SOUTH, 1, "high")
SOON = low("south-soon", 1, 8, SOUTH, 1)
LATE = low("south-late", 1, 8, SOUTH, 6)
FULL = (
    *(Gang(OWNER, f"east-{number}", 2, 4, EAST, 2, "middle") for number in range(3)),
    *(FIRST, SOON, LATE),
    *(low(f"west-{number}", 1, 4, WEST) for number in range(6)),
)


def test_the_fewest_go_and_all_are_told_who_why_and_how_many(house: EvictionHouse) -> None:
    house.rules(tree(TOTAL, owner=QUICK))
    house.fill(FULL)
    before = {one.name: house.nodes(one) for one in FULL}
    mine = Gang(OWNER, "mine", 2, 8, priority="high")
    house.apply(mine)
    until(lambda: house.row(mine).get("reason") == "WaitingForEvictions", "those who have to go are known")
    for one in (SOON, LATE):
        until(lambda one=one: house.evicted(one).get("status") == "True", f"the binding of {one.name} says so")
        assert house.evicted(one)["reason"] == "Preempted"
        assert "its room is for a job of quota root/owner with priority 1000" in house.evicted(one)["message"]
        assert "it keeps its place, and no attempt was spent" in house.evicted(one)["message"]
        said = house.described(one)
        assert "Warning Evicted" in said
        assert "with priority 1000 (claim-" in said and "this one has 100 [Preempted]" in said
        assert "mine" not in said, "nobody is told whose job it is"
    assert "Room on 2 nodes of south is kept for it (claim 1): 2 attempts must leave first" in house.described(mine)
    # The one of a second's grace may have left by now.
    assert re.search("Waits for (2 attempts|1 attempt) to leave south", house.why(mine)["because"])

    house.running(mine)
    victims = {name for name, attempt in house.attempts(FULL).items() if attempt > 1}
    assert victims == {SOON.name, LATE.name}
    assert len(victims) == fewest(before, {FIRST.name})
    house.delete(mine)
    for one in (SOON, LATE):
        assert house.running(one)["attempt"] == 2
        until(lambda one=one: house.evicted(one)["status"] == "False", f"{one.name} was evicted before, and runs")


def test_nobody_takes_what_was_freed_and_nobody_goes_for_a_class_that_never_preempts(house: EvictionHouse) -> None:
    """One victim is gone long before the other; its room is no one's but the gang's."""
    house.rules(tree(TOTAL, owner=QUICK))
    house.fill((FIRST, SOON, LATE))
    patient = Gang(OWNER, "patient", 1, 8, SOUTH, priority="patient")
    house.apply(patient)
    house.waits(patient)
    time.sleep(2 * PATIENCE_S)
    assert house.attempts((FIRST, SOON, LATE)) == {FIRST.name: 1, SOON.name: 1, LATE.name: 1}
    assert "nobody is evicted for it: its PriorityClass has preemptionPolicy Never" in house.why(patient)["because"]

    mine = Gang(OWNER, "mine", 2, 8, SOUTH, priority="high")
    house.apply(mine)
    until(lambda: not house.nodes(SOON), "one victim has gone")
    third = Gang(OWNER, "third", 1, 8, SOUTH, priority="middle")
    house.apply(third)
    while house.nodes(LATE):
        assert [house.nodes(one) for one in (mine, patient, third)] == [set()] * 3
        time.sleep(0.2)
    house.running(mine)
    time.sleep(2 * PATIENCE_S)
    assert [house.row(one)["state"] for one in (patient, third, SOON, LATE)] == ["queued"] * 4
    assert house.row(FIRST)["attempt"] == 1

    house.delete(mine)
    for one in (patient, third):
        house.running(one)
    assert {house.row(one)["state"] for one in (SOON, LATE)} == {"queued"}
