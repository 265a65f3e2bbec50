"""Who is evicted with notice is told when it ends, and has until then."""

from typing import Any

from fairway.explain.wording import rfc3339
from fairway.wire import jobs as wire
from fairway.workloads.member_copy import EVICT_AT
from tests.scenarios.evictions.tenants import evicted, least, submit, tree, until_running
from tests.scenarios.memory_agents import KIND
from tests.scenarios.memory_fleet import Fleet, done

NOTICE = {"fairway.io/evict-notice": "20s"}


async def lent(fleet: Fleet, **attributes: str) -> str:
    """All is in use by those of b, of whom one goes with notice; who wants his room back."""
    tree(fleet, a=least(16), b=least(8, **attributes))
    for number in range(3):
        await submit(fleet, f"b{number}", 1, namespace="team-b", annotations=NOTICE)
    mine = await submit(fleet, "mine", 1, namespace="team-a")
    await fleet.quiet(2)
    return mine


def left(fleet: Fleet) -> Any:
    """The victim's object in its member, if it is there."""
    (victim,) = evicted(fleet)
    return fleet.clusters[victim.cluster].objects.get((KIND, "team-b", name_of(victim)))


def name_of(victim: wire.Evicted) -> str:
    return victim.job.rsplit("-", 1)[0]


def recall(fleet: Fleet) -> wire.Recall:
    (found,) = [one for one in fleet.record() if isinstance(one, wire.Recall)]
    return found


async def test_it_is_told_and_is_there_until_its_time_has_come(fleet: Fleet) -> None:
    mine = await lent(fleet)
    at = recall(fleet).delete_at
    assert at - evicted(fleet)[0].at == 20_000
    assert left(fleet)["metadata"]["annotations"][EVICT_AT] == rfc3339(at)
    await fleet.quiet((at - fleet.clock.now()) / 1000 - 0.5)
    assert left(fleet) is not None
    assert fleet.jobs()[mine].state == "queued"
    job = await until_running(fleet, mine, 5)
    assert (job.state, left(fleet)) == ("running", None)
    assert fleet.jobs()[evicted(fleet)[0].job].attempt == 2


async def test_it_has_no_more_than_its_quota_allows(fleet: Fleet) -> None:
    await lent(fleet, **{"fairway.io/max-grace": "5s"})
    told = recall(fleet)
    assert (told.delete_at - evicted(fleet)[0].at, told.grace) == (5_000, 1_000)


async def test_who_has_saved_its_work_and_ends_gives_its_room_at_once(fleet: Fleet) -> None:
    """The attempt is over all the same: it had been said to be."""
    mine = await lent(fleet)
    (victim,) = evicted(fleet)
    fleet.clusters[victim.cluster].show((KIND, "team-b", name_of(victim)), done("Complete"))
    job = await until_running(fleet, mine, 8)
    assert (job.state, fleet.jobs()[victim.job].state, fleet.jobs()[victim.job].attempt) == ("running", "queued", 2)


async def test_a_victim_that_is_cancelled_meanwhile_goes_at_once(fleet: Fleet) -> None:
    mine = await lent(fleet)
    (victim,) = evicted(fleet)
    await fleet.cancel(victim.job)
    job = await until_running(fleet, mine, 3)
    assert (job.state, fleet.jobs()[victim.job].state) == ("running", "cancelled")


async def test_if_the_job_for_which_it_goes_is_cancelled_it_goes_all_the_same_and_comes_back(fleet: Fleet) -> None:
    mine = await lent(fleet)
    (victim,) = evicted(fleet)
    await fleet.cancel(mine)
    back = await until_running(fleet, victim.job, 30)
    assert (back.state, back.attempt) == ("running", 2)


async def test_whoever_is_to_delete_it_may_die_and_it_has_its_time(fleet: Fleet) -> None:
    mine = await lent(fleet)
    at = recall(fleet).delete_at
    while fleet.clock.now() < at - 1_000:
        assert left(fleet) is not None
        await fleet.crash("propagator-recall")
        await fleet.quiet(1)
    job = await until_running(fleet, mine, 10)
    assert (job.state, len(evicted(fleet))) == ("running", 1)


async def test_a_member_that_does_not_answer_meanwhile_takes_nothing_from_it(fleet: Fleet) -> None:
    mine = await lent(fleet)
    (victim,) = evicted(fleet)
    cluster = fleet.clusters[victim.cluster]
    cluster.away = True
    await fleet.quiet(10)
    cluster.away = False
    await fleet.quiet((recall(fleet).delete_at - fleet.clock.now()) / 1000 - 0.5)
    assert left(fleet) is not None
    assert (await until_running(fleet, mine, 10)).state == "running"
