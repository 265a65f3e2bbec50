"""Who is evicted with notice: its pods are told when they end, have the time until then, and no more grace than that
leaves."""

from datetime import datetime, timedelta
from typing import Any

from tests.kubernetes.evictions.house import LENDER, OWNER, EvictionHouse
from tests.kubernetes.evictions.manifests import Gang, least, tree
from tests.kubernetes.support.fleet import in_namespace, until

SOUTH = ("south",)
TOTAL = 72
NOTICE_S = 8
MOST_S = 20
_JOBS = "kubeflow.org/v1/pytorchjobs"
_EVICT_AT = "fairway.io/evict-at"


def pods(house: EvictionHouse, gang: Gang) -> list[Any]:
    selector = f"training.kubeflow.org/job-name={gang.name}"
    return [one["metadata"] for one in house.fleet.members["south"].pods(gang.namespace, selector)]


def test_a_victim_with_notice_is_told_and_has_its_time(house: EvictionHouse) -> None:
    lender = {**least(8), "attributes": {"fairway.io/max-grace": f"{MOST_S}s"}}
    house.rules(tree(TOTAL, lender=lender, owner=least(16)))
    stays = Gang(LENDER, "stays", 1, 8, SOUTH, 1)
    soon = Gang(LENDER, "soon", 1, 8, SOUTH, 1)
    told = Gang(LENDER, "told", 1, 8, SOUTH, MOST_S, notice=f"{NOTICE_S}s")
    house.fill((stays, soon, told))
    mine = Gang(OWNER, "mine", 2, 8, SOUTH)
    house.apply(mine)
    marked = until(
        lambda: [one for one in pods(house, told) if _EVICT_AT in one.get("annotations", {})], "its pod is told"
    )
    assert "deletionTimestamp" not in marked[0]
    text = marked[0]["annotations"][_EVICT_AT]
    its = house.fleet.members["south"].get(in_namespace(_JOBS, LENDER, told.name))
    assert its["metadata"]["annotations"][_EVICT_AT] == text
    leaving = until(lambda: [one for one in pods(house, told) if "deletionTimestamp" in one], "its pod is to go")
    grace = leaving[0]["deletionGracePeriodSeconds"]
    asked = datetime.fromisoformat(leaving[0]["deletionTimestamp"]) - timedelta(seconds=grace)
    assert asked >= datetime.fromisoformat(text)
    until(
        lambda: all(one["deletionGracePeriodSeconds"] == MOST_S - NOTICE_S for one in pods(house, told)),
        "it has no more grace than its notice leaves",
    )
    house.running(mine)
    assert house.attempts((stays, soon, told)) == {"stays": 1, "soon": 2, "told": 2}
