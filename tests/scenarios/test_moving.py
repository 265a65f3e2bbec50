"""Attempts that come to nothing and names that are used again: what is left of the one before is not in the way."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from fairway.domain.job import Job
from fairway.domain.recorded_verdicts import verdicts
from fairway.runtime.cluster_port import Change
from tests.scenarios.memory_fleet import Fleet, done, policy, running, runs
from tests.support.memory.cluster import MemoryCluster, Scene

FOR_EVER = runs(ends="")


def all_is_sound(fleet: Fleet) -> None:
    assert fleet.findings().violations == ()
    assert not fleet.bus.stored("DLQ")


def waits_for(job: Job) -> tuple[str, set[str]]:
    """The recorded reason, and what each cluster lacks."""
    return job.why.code if job.why else "", {one.code for one in verdicts(job)}


@contextmanager
def stalled(cluster: MemoryCluster) -> Iterator[None]:
    """Nothing comes through its watches; when that is over all of it comes, in its order."""
    lines = cluster._watches
    behind = cluster._watches = [(kind, selector, asyncio.Queue[Change]()) for kind, selector, _ in lines]
    yield
    cluster._watches = lines
    for (*_, late), (*_, line) in zip(behind, lines, strict=True):
        while not late.empty():
            line.put_nowait(late.get_nowait())


async def test_a_job_that_has_to_move_and_fits_nowhere_says_why_and_goes_when_there_is_room() -> None:
    async with running(c1=(8,), c2=(8,)) as fleet:
        fleet.configure("ClusterPropagationPolicy", "all", policy(avoid_failed_for="60s"))
        fleet.plays |= {"a": [runs(500, "Failed"), runs()], "b": [runs(9_000)]}
        job = await fleet.submit("a", 1, 8)
        await fleet.submit("b", 1, 8)
        await fleet.quiet(5)
        assert fleet.states() == {"a": "queued", "b": "running"}
        assert waits_for(fleet.jobs()[job]) == ("WaitingForRoom", {"RecentlyFailed", "NotEnough"})
        await fleet.quiet(20)
        assert fleet.states() == {"a": "succeeded", "b": "succeeded"}
        first, second = fleet.jobs()[job].attempts
        assert first.cluster != second.cluster
        all_is_sound(fleet)


async def test_a_gang_that_starts_in_part_is_recalled_as_a_whole_before_its_next_attempt_is_made() -> None:
    async with running(c1=(8, 8)) as fleet:
        fleet.configure("ClusterPropagationPolicy", "all", policy(start_timeout="5s", avoid_failed_for="1s"))
        fleet.plays["gang"] = [[Scene(100, {"active": 2, "ready": 1})], FOR_EVER]
        job = await fleet.submit("gang", 2, 8)
        await fleet.quiet(4)
        assert fleet.states() == {"gang": "dispatched"}, "one of its two pods is up"
        await fleet.quiet(10)
        assert fleet.states() == {"gang": "running"}
        said = [(one.verb, one.attempt) for one in fleet.record() if one.job == job and one.attempt]
        assert [one for one in said if one[0] in ("dispatched", "lost", "recall", "removed", "running")] == [
            ("dispatched", 1),
            ("lost", 1),
            ("recall", 1),
            ("removed", 1),
            ("dispatched", 2),
            ("running", 2),
        ]
        assert [one.why.code for one in fleet.jobs()[job].attempts if one.why] == ["StartTimeout"]
        (left,) = fleet.clusters["c1"].objects.values()
        assert left["metadata"]["labels"]["fairway.io/attempt"] == "2"
        all_is_sound(fleet)


async def test_what_is_told_late_of_an_object_that_was_deleted_does_not_touch_the_next_job_of_that_name() -> None:
    async with running(c1=(8,)) as fleet:
        cluster = fleet.clusters["c1"]
        fleet.plays["a"] = [FOR_EVER]
        first = await fleet.submit("a")
        await fleet.quiet(1)
        (key,) = cluster.objects
        with stalled(cluster):
            cluster.show(key, done("Failed"))
            await fleet.cancel(first)
            await fleet.quiet(2)
            second = await fleet.submit("a")
            await fleet.quiet(2)
            assert [fleet.jobs()[one].state for one in (first, second)] == ["cancelled", "dispatched"]
            before = len(fleet.record())
        await fleet.quiet(10)
        assert [one.verb for one in fleet.record()[before:] if one.job == second] == ["running"]
        assert fleet.jobs()[first].state == "cancelled"
        cluster.show(key, done("Complete"))
        await fleet.quiet(1)
        assert [fleet.jobs()[one].state for one in (first, second)] == ["cancelled", "succeeded"]
        assert cluster.applied == [f"{first}/1", f"{second}/1"]
        all_is_sound(fleet)
