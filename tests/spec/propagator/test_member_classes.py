"""The PriorityClass that a job names is in its member before the job is."""

import pytest

from fairway.propagator.needed_objects import PRIORITY_CLASS as KIND
from fairway.propagator.needed_objects import NeededObjects
from tests.support.memory.clock import ManualClock
from tests.support.memory.cluster import MemoryCluster

MINUTE_S = 60


def member(clock: ManualClock, *kinds: str) -> MemoryCluster:
    return MemoryCluster("c1", clock, list(kinds))


def values(cluster: MemoryCluster) -> dict[str, int]:
    return {name: manifest["value"] for (kind, _, name), manifest in cluster.objects.items() if kind == KIND}


async def test_a_class_that_is_missing_is_made_with_the_value_it_has_on_the_hub() -> None:
    clock = ManualClock(1)
    cluster = member(clock, KIND)
    await NeededObjects(clock).priority_class(cluster, "urgent", 77)
    assert values(cluster) == {"urgent": 77}


async def test_a_class_that_is_there_is_left_as_it_is() -> None:
    clock = ManualClock(1)
    cluster = member(clock, KIND)
    await cluster.create(KIND, {"metadata": {"name": "urgent"}, "value": 5})
    await NeededObjects(clock).priority_class(cluster, "urgent", 77)
    assert values(cluster) == {"urgent": 5}


@pytest.mark.parametrize("name", ["", "system-node-critical"], ids=["no class", "a class that every cluster has"])
async def test_nothing_is_made_for(name: str) -> None:
    clock = ManualClock(1)
    cluster = member(clock, KIND)
    await NeededObjects(clock).priority_class(cluster, name, 1)
    assert values(cluster) == {}


async def test_a_cluster_that_does_not_let_us_gets_the_job_all_the_same() -> None:
    clock = ManualClock(1)
    cluster = member(clock)
    await NeededObjects(clock).priority_class(cluster, "urgent", 77)
    assert values(cluster) == {}


async def test_it_is_looked_after_once_in_a_while_and_not_for_every_job() -> None:
    clock = ManualClock(1)
    cluster = member(clock, KIND)
    classes = NeededObjects(clock)
    await classes.priority_class(cluster, "urgent", 77)
    await cluster.drop(KIND, "default", "urgent")
    await classes.priority_class(cluster, "urgent", 77)
    assert values(cluster) == {}
    await clock.advance(5 * MINUTE_S)
    await classes.priority_class(cluster, "urgent", 77)
    assert values(cluster) == {"urgent": 77}
