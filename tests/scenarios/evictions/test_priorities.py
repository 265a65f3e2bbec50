"""A job of higher priority gets the room of lower ones of its leaf."""

import pytest

from fairway.wire.preemption.claims import Cause
from tests.scenarios.evictions.tenants import classes, evicted, submit, tree, until_running
from tests.scenarios.memory_fleet import Fleet


async def test_priority_evicts_the_lowest_in_its_own_leaf_after_its_patience(fleet: Fleet) -> None:
    tree(fleet, a={"attributes": {"fairway.io/min-runtime": "1s"}})
    classes(fleet, low=1, middle=5, high=10)
    for name, priority in (("x", "middle"), ("y", "low"), ("z", "middle")):
        await submit(fleet, name, 1, namespace="team-a", priority=priority)
    mine = await submit(fleet, "mine", 1, namespace="team-a", priority="high")
    await fleet.quiet(5)
    assert not evicted(fleet)
    job = await until_running(fleet, mine)
    assert job.state == "running"
    (victim,) = evicted(fleet)
    assert (victim.right, victim.priority, victim.own_priority) == (Cause.PREEMPTION, 10, 1)
    assert fleet.jobs()[victim.job].spec.workload.name == "y"


@pytest.mark.parametrize("priority", ["low", "never"])
async def test_equal_priority_and_a_class_that_never_preempts_wait(fleet: Fleet, priority: str) -> None:
    classes(fleet, low=1)
    fleet.configure("PriorityClass", "never", {"value": 9, "preemptionPolicy": "Never", "metadata": {"name": "never"}})
    for number in range(3):
        await submit(fleet, f"x{number}", 1, priority="low")
    await fleet.quiet(100)
    mine = await submit(fleet, "mine", 1, priority=priority)
    await fleet.quiet(60)
    assert fleet.jobs()[mine].state == "queued"
    assert not evicted(fleet)


@pytest.mark.parametrize(("attribute", "wins"), [("Never", False), ("PreemptLowerPriority", True)])
async def test_a_leaf_says_whether_its_jobs_evict_one_another(fleet: Fleet, attribute: str, wins: bool) -> None:
    classes(fleet, low=1, high=10)
    tree(fleet, a={"attributes": {"preempt-policy": attribute, "fairway.io/min-runtime": "1s"}})
    for number in range(3):
        await submit(fleet, f"x{number}", 1, namespace="team-a", priority="low")
    mine = await submit(fleet, "mine", 1, namespace="team-a", priority="high")
    await fleet.quiet(30)
    assert (fleet.jobs()[mine].state == "running") is wins


async def test_priority_counts_within_a_leaf_alone_unless_a_node_above_makes_one_of_its_leaves(fleet: Fleet) -> None:
    classes(fleet, low=1, high=10)
    soon = {"fairway.io/min-runtime": "1s", "fairway.io/preempt-after": "2s"}
    leaves = [{"name": name, "namespaces": [f"team-{name}"], "attributes": soon} for name in ("x", "y")]
    for wide, wins in (("false", False), ("true", True)):
        tree(fleet, org={"children": leaves, "attributes": {"fairway.io/preempt-domain": wide}})
        for number in range(3 if not wins else 0):
            await submit(fleet, f"x{number}", 1, namespace="team-x", priority="low")
        mine = await submit(fleet, f"mine-{wide}", 1, namespace="team-y", priority="high")
        await fleet.quiet(30)
        assert (fleet.jobs()[mine].state == "running") is wins


async def test_a_job_is_evicted_by_priority_only_so_often(fleet: Fleet) -> None:
    classes(fleet, low=1, high=10)
    soon = {"fairway.io/min-runtime": "1s", "fairway.io/preempt-after": "1s", "fairway.io/max-evictions": "2"}
    tree(fleet, a={"attributes": soon})
    await submit(fleet, "mine", 2, namespace="team-a", priority="low")
    for number in range(4):
        urgent = await submit(fleet, f"u{number}", 2, namespace="team-a", priority="high")
        await fleet.quiet(10)
        await fleet.cancel(urgent)
        await fleet.quiet(10)
    assert len(evicted(fleet)) == 2
