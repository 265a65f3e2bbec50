"""What docs/quota-and-queues.md says below the trees of three organisations, statement by statement.

Jobs are of one pod with a whole node where nothing else is said.
"""

import pytest

from fairway.queue.view import PATIENCE_EVERY_MS
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code
from tests.scenarios.evictions.organisations import CLASSES, DEPARTMENTS, SHARING, come, organisation
from tests.scenarios.evictions.tenants import FOREVER, bounds, claims, classes, evicted, shares, submit, waits_for, went
from tests.scenarios.memory_fleet import Fleet


def waited(fleet: Fleet) -> list[int]:
    """How long (ms) each had waited when others were first asked to go for it."""
    jobs = fleet.jobs()
    return [one.at - jobs[one.job].enqueued_at for one in claims(fleet) if one.claim == 1]


def about(times: list[int], patience: int) -> bool:
    """Whether all of them are this, or up to the next look for claims more."""
    return all(patience <= one <= patience + PATIENCE_EVERY_MS for one in times)


async def test_each_of_the_teams_that_share_gets_its_min_back_a_second_after_it_asks() -> None:
    async with organisation(SHARING, 8) as fleet:
        await come(fleet, "vision", 8)
        assert shares(fleet) == {"vision": 8}
        speech = await come(fleet, "speech", 4)
        robotics = await come(fleet, "robotics", 2)
        await fleet.quiet(60)
        assert shares(fleet) == {"robotics": 1, "speech": 3, "vision": 4}
        assert went(fleet, Cause.RECLAIM) == [("vision", "speech")] * 3 + [("vision", "robotics")]
        assert about(waited(fleet), 1_000)
        assert waits_for(fleet, speech[3], robotics[1]) == {Code.WAITING_FOR_QUOTA}


async def test_for_a_share_nobody_goes_and_who_is_next_on_what_ends_is_by_weight() -> None:
    async with organisation(SHARING, 8) as fleet:
        await come(fleet, "robotics", 1)
        await come(fleet, "speech", 3)
        *_, borrowed = await come(fleet, "vision", 4)
        turns = ("robotics", "speech", "vision") * 8
        small = [job for leaf in turns for job in await come(fleet, leaf, 1, gpus=1)]
        await fleet.quiet(60)
        assert waits_for(fleet, *small) == {Code.WAITING_FOR_QUOTA}
        await fleet.cancel(borrowed)
        await fleet.quiet(5)
        assert not evicted(fleet)
        # Of eight GPUs three, three and one; the last is of who was there first, of two with equal shares.
        assert shares(fleet) == {"robotics": 1 + 1, "speech": 3 + 4, "vision": 3 + 3}


async def test_production_and_research_get_their_mins_back_from_batch_however_short_that_has_run() -> None:
    async with organisation(CLASSES, 8) as fleet:
        batch = await come(fleet, "batch", 9, priority="batch")
        assert shares(fleet) == {"batch": 8}
        production = await come(fleet, "production", 5, priority="production")
        research = await come(fleet, "research", 4)
        await fleet.quiet(30)
        assert shares(fleet) == {"batch": 1, "production": 4, "research": 3}
        assert went(fleet, Cause.RECLAIM) == [("batch", "production")] * 4 + [("batch", "research")] * 3
        assert about(waited(fleet), 1_000)
        assert waits_for(fleet, batch[8], production[4], research[3]) == {Code.WAITING_FOR_QUOTA}


async def test_what_research_has_borrowed_goes_back_to_production_once_batch_has_none() -> None:
    async with organisation(CLASSES, 8) as fleet:
        research = await come(fleet, "research", 6)
        await come(fleet, "batch", 2, priority="batch")
        await come(fleet, "production", 5, priority="production")
        await fleet.quiet(30)
        assert went(fleet, Cause.RECLAIM) == [("batch", "production")] * 2 + [("research", "production")] * 2
        assert shares(fleet) == {"production": 4, "research": 4}
        assert {one.job for one in evicted(fleet)}.isdisjoint(research[:3]), "they are within the min"


async def test_research_beyond_its_min_evicts_batch_once_it_waited_a_minute_and_that_ran_for_ten() -> None:
    async with organisation(CLASSES, 8) as fleet:
        await come(fleet, "research", 3)
        await come(fleet, "batch", 5, priority="batch")
        (early,) = await come(fleet, "research", 1)
        await fleet.quiet(590)
        assert (waits_for(fleet, early), evicted(fleet)) == ({Code.WAITING_FOR_QUOTA}, [])
        await fleet.quiet(30)
        await come(fleet, "research", 1)
        await fleet.quiet(90)
        assert went(fleet, Cause.PREEMPTION) == [("batch", "research")] * 2
        began = [fleet.jobs()[one.job].attempts[0].started_at for one in evicted(fleet)]
        ran = [one.at - at for one, at in zip(evicted(fleet), began, strict=True)]
        assert about(ran[:1], 600_000)
        assert about(waited(fleet)[1:], 60_000)


async def test_for_batch_nobody_goes_and_when_it_has_to_it_has_five_minutes() -> None:
    async with organisation(CLASSES, 8) as fleet:
        classes(fleet, lower=1)
        bounds(fleet, "nightly", "batch", "lower")
        await come(fleet, "research", 3)
        await come(fleet, "batch", 1, priority="lower")
        batch = await come(fleet, "batch", 5, priority="batch", annotations={"fairway.io/evict-notice": "10m"})
        await fleet.quiet(660)
        assert (waits_for(fleet, batch[4]), evicted(fleet)) == ({Code.WAITING_FOR_QUOTA}, [])
        await come(fleet, "research", 2)
        await fleet.quiet(70)
        lower, other = evicted(fleet)
        assert (lower.own_priority, other.own_priority) == (1, 100)
        recalls = {one.job: one.delete_at for one in fleet.record() if isinstance(one, wire.Recall)}
        assert recalls[other.job] - other.at == 300_000
        (refused,) = await come(fleet, "batch", 1, priority="production")
        assert fleet.jobs()[refused].state == "rejected"
        (classless,) = await come(fleet, "batch", 1)
        await fleet.quiet(70)
        assert waits_for(fleet, classless) == {Code.WAITING_FOR_QUOTA}
        assert went(fleet, Cause.PREEMPTION) == [("batch", "research")] * 2


async def test_production_beyond_its_min_waits_and_gives_way_to_research_within_its_own() -> None:
    async with organisation(CLASSES, 8) as fleet:
        await come(fleet, "production", 4, priority="production")
        batch = await come(fleet, "batch", 4, priority="batch")
        beyond = await come(fleet, "production", 2, priority="production")
        await fleet.quiet(660)
        assert (waits_for(fleet, *beyond), evicted(fleet)) == ({Code.WAITING_FOR_QUOTA}, [])
        for job in batch[:2]:
            await fleet.cancel(job)
        await fleet.quiet(5)
        assert shares(fleet) == {"batch": 2, "production": 6}
        await come(fleet, "research", 3)
        await fleet.quiet(5)
        assert went(fleet, Cause.RECLAIM) == [("batch", "research")] * 2 + [("production", "research")]
        victim = evicted(fleet)[-1]
        assert (victim.job in beyond, victim.own_priority, victim.priority) == (True, 10_000, 1_000)
        assert waits_for(fleet, victim.job) == {Code.WAITING_FOR_QUOTA}


async def test_engineering_keeps_a_third_of_its_min_free_and_its_teams_start_there_at_once() -> None:
    async with organisation(DEPARTMENTS, 16) as fleet:
        await come(fleet, "physics", 10)
        biology = await come(fleet, "biology", 4)
        await fleet.quiet(30)
        assert shares(fleet) == {"biology": 2, "physics": 10}
        assert waits_for(fleet, *biology[2:]) == {Code.WAITING_FOR_QUOTA}
        await come(fleet, "apps", 4)
        assert shares(fleet) == {"apps": 4, "biology": 2, "physics": 10}
        assert not evicted(fleet)


async def test_what_is_in_no_teams_min_is_guaranteed_by_priority_and_then_by_time() -> None:
    async with organisation(DEPARTMENTS, 16) as fleet:
        classes(fleet, low=1, middle=5, high=10)
        for leaf, count in (("platform", 4), ("apps", 6), ("physics", 4), ("biology", 2)):
            await come(fleet, leaf, count, priority="high")
        more = [("a", "apps", "low"), ("b", "platform", "middle"), ("c", "apps", "middle"), ("d", "platform", "middle")]
        fleet.plays.update({name: FOREVER for name, _, _ in more})
        jobs = [await fleet.submit(name, 1, 8, namespace=f"team-{leaf}", priority=of) for name, leaf, of in more]
        await fleet.quiet(120)
        assert {one.job: one.guarantor for one in claims(fleet)} == dict.fromkeys(jobs[1:3], "root/engineering")
        assert sorted(went(fleet, Cause.RECLAIM)) == [("physics", "apps"), ("physics", "platform")]
        assert waits_for(fleet, jobs[0], jobs[3]) == {Code.WAITING_FOR_QUOTA}
        assert shares(fleet) == {"apps": 7, "biology": 2, "physics": 2, "platform": 5}


async def test_what_science_has_borrowed_goes_back_from_the_team_that_is_over_its_own_min() -> None:
    async with organisation(DEPARTMENTS, 16) as fleet:
        physics = await come(fleet, "physics", 10)
        await come(fleet, "biology", 2)
        await come(fleet, "platform", 5)
        await come(fleet, "apps", 7)
        await fleet.quiet(30)
        assert went(fleet, Cause.RECLAIM) == [("physics", "platform")] + [("physics", "apps")] * 7
        assert shares(fleet) == {"apps": 7, "biology": 2, "physics": 2, "platform": 5}
        assert {one.job for one in evicted(fleet)} == {*physics[2:]}


async def test_of_what_science_has_within_its_min_biology_alone_gets_anything_from_physics() -> None:
    """A node is away: of what is guaranteed to engineering one job has no room."""
    async with organisation(DEPARTMENTS, 15) as fleet:
        await come(fleet, "physics", 4)
        await come(fleet, "platform", 4)
        apps = await come(fleet, "apps", 8)
        await fleet.quiet(120)
        assert (waits_for(fleet, apps[7]), evicted(fleet)) == ({Code.WAITING_FOR_ROOM}, [])
        biology = await come(fleet, "biology", 3)
        await fleet.quiet(30)
        assert went(fleet, Cause.RECLAIM) == [("physics", "biology")] * 2
        assert shares(fleet) == {"apps": 7, "biology": 2, "physics": 2, "platform": 4}
        assert waits_for(fleet, apps[7], biology[2]) == {Code.WAITING_FOR_ROOM}


@pytest.mark.parametrize(("one", "within", "other", "more"), [("platform", 4, "apps", 8), ("apps", 6, "platform", 6)])
async def test_teams_of_engineering_evict_each_other_by_priority_but_none_within_a_min_for_one_that_is_not(
    one: str, within: int, other: str, more: int
) -> None:
    async with organisation(DEPARTMENTS, 16) as fleet:
        classes(fleet, low=1, middle=5, high=10)
        await come(fleet, one, within, priority="middle")
        others = await come(fleet, other, more, priority="low")
        await come(fleet, "physics", 2, priority="low")
        await come(fleet, "biology", 2, priority="low")
        large = await submit(fleet, "large", within + 1, namespace=f"team-{one}", priority="high")
        await fleet.quiet(120)
        assert (waits_for(fleet, large), evicted(fleet)) == ({Code.WAITING_FOR_QUOTA}, [])
        await come(fleet, one, 1, priority="high")
        await fleet.quiet(30)
        assert went(fleet, Cause.PREEMPTION) == [(other, one)]
        assert [victim.job for victim in evicted(fleet)] == others[-1:]


async def test_in_science_priority_evicts_in_each_team_alone() -> None:
    async with organisation(DEPARTMENTS, 16) as fleet:
        classes(fleet, low=1, high=10)
        for leaf, count in (("platform", 4), ("apps", 7), ("biology", 3), ("physics", 1)):
            await come(fleet, leaf, count, priority="low")
        _, second, third = await come(fleet, "physics", 3, priority="high")
        await fleet.quiet(120)
        assert went(fleet, Cause.PREEMPTION) == [("physics", "physics")]
        assert fleet.jobs()[second].state == "running"
        assert waits_for(fleet, third) == {Code.WAITING_FOR_QUOTA}
        assert shares(fleet) == {"apps": 7, "biology": 3, "physics": 2, "platform": 4}
