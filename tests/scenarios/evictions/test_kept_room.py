"""What is freed for a claim is its own, whatever happens meanwhile."""

import pytest

from fairway.wire.preemption.claims import Claimed
from tests.scenarios.evictions.tenants import FOREVER, evicted, kept, least, shares, slowly, submit, tree, until_running
from tests.scenarios.memory_fleet import Fleet


async def test_what_was_freed_for_one_is_taken_by_nobody_else(fleet: Fleet) -> None:
    """Its victims take long to end; meanwhile others that would fit what is free wait."""
    tree(fleet, a=least(16), b=least(8))
    for number in range(6):
        await submit(fleet, f"b{number}", 1, 4, namespace="team-b")
    slowly(fleet, 10)
    mine = await submit(fleet, "mine", 2, namespace="team-a")
    others = [await submit(fleet, f"o{number}", 1, 4, namespace="team-b") for number in range(2)]
    job = await until_running(fleet, mine)
    assert job.state == "running"
    assert all(fleet.jobs()[one].state == "queued" for one in others)


async def test_a_claim_ends_when_its_job_is_cancelled(fleet: Fleet) -> None:
    tree(fleet, a=least(16), b=least(8))
    for number in range(3):
        await submit(fleet, f"b{number}", 1, namespace="team-b")
    slowly(fleet, 20)
    mine = await submit(fleet, "mine", 1, namespace="team-a")
    await fleet.quiet(5)
    assert len(kept(fleet)) == 1
    await fleet.cancel(mine)
    await fleet.quiet(60)
    assert fleet.jobs()[mine].state == "cancelled"
    assert not kept(fleet)
    assert sorted(fleet.states().values()) == ["cancelled", "running", "running", "running"]


@pytest.mark.parametrize(
    ("borrowed", "went_for"),
    [
        pytest.param({"x": 1, "y": 1}, ["root/a", "root/b"], id="each gets one of its own"),
        pytest.param({"x": 2}, ["root/a"], id="one is enough for both and goes once"),
    ],
)
async def test_of_two_claims_that_want_the_same_victim_both_get_room_and_nobody_goes_twice(
    fleet: Fleet, borrowed: dict[str, int], went_for: list[str]
) -> None:
    tree(fleet, a=least(8), b=least(8), d=least(8))
    for name, pods in {"own": 1, **borrowed}.items():
        await submit(fleet, name, pods, namespace="team-d")
    slowly(fleet, 5)
    fleet.plays.update(one=FOREVER, two=FOREVER)
    await fleet.submit("one", 1, 8, namespace="team-a")
    await fleet.submit("two", 1, 8, namespace="team-b")
    await fleet.quiet(60)
    claimed = [one.at for one in fleet.record() if isinstance(one, Claimed) and one.claim == 1]
    assert len(claimed) == 2
    assert claimed[0] == claimed[1]
    assert fleet.states() == {"one": "running", "two": "running", "own": "running", **dict.fromkeys(borrowed, "queued")}
    attempts = {job.spec.workload.name: job.attempt for job in fleet.jobs().values() if job.spec is not None}
    assert attempts == {"one": 1, "two": 1, "own": 1, **dict.fromkeys(borrowed, 2)}
    assert sorted(one.leaf for one in evicted(fleet)) == went_for
    assert not kept(fleet)


@pytest.mark.parametrize("service", ["queue", "global-scheduler", "reserver", "propagator"])
async def test_whoever_dies_in_between_the_room_is_got_back_and_nobody_is_evicted_for_nothing(
    fleet: Fleet, service: str
) -> None:
    tree(fleet, a=least(16), b=least(8))
    for number in range(3):
        await submit(fleet, f"b{number}", 1, namespace="team-b")
    slowly(fleet, 3)
    mine = await fleet.submit("mine", 1, 8, namespace="team-a")
    fleet.plays["mine"] = FOREVER
    for _ in range(8):
        await fleet.clock.advance(0.5)
        await fleet.crash(service)
    job = await until_running(fleet, mine, 60)
    assert (job.state, len(evicted(fleet))) == ("running", 1)


async def test_a_working_set_that_is_lost_in_between_is_made_anew_with_what_is_kept(fleet: Fleet) -> None:
    tree(fleet, a=least(16), b=least(8))
    for number in range(3):
        await submit(fleet, f"b{number}", 1, namespace="team-b")
    slowly(fleet, 10)
    mine = await submit(fleet, "mine", 1, namespace="team-a")
    await fleet.quiet(2)
    before = kept(fleet)
    assert len(before) == 1
    fleet.store.wipe()
    await fleet.quiet(2)
    assert kept(fleet) == before
    job = await until_running(fleet, mine, 60)
    assert (job.state, len(evicted(fleet))) == ("running", 1)


@pytest.mark.parametrize(
    ("least_of_a", "weight"),
    [
        pytest.param(8, "1", id="the min of its owner is halved"),
        pytest.param(16, "7", id="its owner has another weight"),
    ],
)
async def test_a_tree_that_changes_while_victims_leave_has_nobody_else_go_for_the_claim(
    fleet: Fleet, least_of_a: int, weight: str
) -> None:
    """Who was asked to go has gone: the room is for whom it was freed, and nobody goes a second time."""
    tree(fleet, a=least(16), b=least(8))
    for number in range(3):
        await submit(fleet, f"b{number}", 1, namespace="team-b")
    slowly(fleet, 6)
    mine = await submit(fleet, "mine", 1, namespace="team-a")
    await fleet.quiet(2)
    assert len(kept(fleet)) == 1
    tree(fleet, order="share", a={**least(least_of_a), "attributes": {"fairway.io/weight": weight}}, b=least(8))
    job = await until_running(fleet, mine, 60)
    assert (job.state, len(evicted(fleet))) == ("running", 1)
    assert shares(fleet) == {"a": 1, "b": 2}
    assert not kept(fleet)
