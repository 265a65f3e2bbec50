"""Whole lives through every service, each turning on one moment."""

import msgspec

from fairway.domain.names import job_id
from fairway.domain.recorded_verdicts import verdicts
from fairway.wire import jobs as wire
from fairway.wire.capacity import Node
from tests.scenarios.faults import BLOCK
from tests.scenarios.memory_agents import GPU
from tests.scenarios.memory_fleet import Fleet, policy, running, runs
from tests.support.memory.clock import settle
from tests.support.memory.cluster import Scene

STRICT = {"annotations": {"kube-queue/queue-name": "strict"}}


async def ended(fleet: Fleet, seconds: float = 20) -> dict[str, str]:
    await fleet.quiet(seconds)
    assert fleet.findings().violations == ()
    assert fleet.meter.sweep_wakes.labels("queue")._value.get() == 0
    assert not fleet.bus.stored("DLQ")
    return fleet.states()


async def test_a_gang_waits_for_one_cluster_that_can_hold_it_node_by_node() -> None:
    async with running(c1=(8, 8), c2=(8, 8)) as fleet:
        fleet.plays |= {"a": [runs(5_000)], "b": [runs(3_000)]}
        for name in ("a", "b"):
            await fleet.submit(name, 1, 8)
            await fleet.quiet()
        gang = await fleet.submit("gang", 2, 8)
        await fleet.submit("c", 1, 8)
        await fleet.quiet(1)
        assert await ended(fleet) == dict.fromkeys(["a", "b", "c", "gang"], "succeeded")
        assert fleet.said(gang).count("placed") == 1


async def test_a_job_that_fails_in_one_cluster_finishes_in_another() -> None:
    async with running(c1=(8,), c2=(8,)) as fleet:
        fleet.plays["a"] = [runs(500, "Failed"), runs()]
        job = await fleet.submit("a", 1, 8)
        assert await ended(fleet) == {"a": "succeeded"}
        tried = fleet.jobs()[job].attempts
        assert [one.number for one in tried] == [1, 2]
        assert tried[0].cluster != tried[1].cluster
        assert [len(cluster.objects) for cluster in fleet.clusters.values()].count(1) == 1


async def test_attempts_end_with_the_reason_of_each() -> None:
    async with running(c1=(8,)) as fleet:
        fleet.configure("ClusterPropagationPolicy", "all", policy(max_attempts="2", avoid_failed_for="1s"))
        fleet.plays["a"] = [runs(500, "Failed"), [Scene(200, None)]]
        job = await fleet.submit("a")
        assert await ended(fleet) == {"a": "failed"}
        assert [one.why.code for one in fleet.jobs()[job].attempts if one.why] == ["JobFailed", "Vanished"]


async def test_a_cancel_before_its_job_is_known_counts() -> None:
    async with running(c1=(8,)) as fleet:
        await fleet.cancel(job_id("team-a", "c1", "a"))
        await fleet.quiet(1)
        job = await fleet.submit("a")
        assert fleet.jobs() == {}
        assert await ended(fleet, 40) == {"a": "cancelled"}
        assert "team-a (on the bus)" in str(fleet.jobs()[job].why)


async def test_the_record_says_why_whoever_stands_behind_a_blocking_head_waits() -> None:
    async with running(c1=(8,)) as fleet:
        fleet.configure("Queue", "strict", BLOCK)
        fleet.plays["a"] = [runs(9_000)]
        for name in ("a", "b", "c"):
            job = await fleet.submit(name, 1, 8, **STRICT)
            await fleet.quiet(1)
        assert fleet.states() == {"a": "running", "b": "queued", "c": "queued"}
        why = fleet.jobs()[job].why
        assert why is not None and why.code == "BehindHead"
        assert [one for one in fleet.findings().violations if one.rule == "reason"] == []
        assert set((await ended(fleet, 40)).values()) == {"succeeded"}


async def test_a_blocking_head_cancelled_on_its_way_lets_the_next_one_go() -> None:
    async with running(c1=(8,)) as fleet:
        fleet.configure("Queue", "strict", BLOCK)
        for steps in range(0, 60, 4):
            head = await fleet.submit(f"head{steps}", 1, 8, **STRICT)
            await fleet.submit(f"next{steps}", 1, 8, **STRICT)
            await settle(steps)
            await fleet.cancel(head)
            await fleet.quiet(8)
        states = await ended(fleet, 100)
        assert {state for name, state in states.items() if name.startswith("next")} == {"succeeded"}


async def test_what_no_cluster_could_hold_goes_when_one_grows() -> None:
    async with running(c1=(4,)) as fleet:
        job = await fleet.submit("big", 1, 8)
        await fleet.quiet(1)
        assert fleet.jobs()[job].why.code == "NoClusterEver"  # type: ignore[union-attr]  # it waits
        fleet.agents["c1"].nodes["n9"] = Node("n9", {GPU: 8, "pods": 110, "cpu": 64_000})
        assert await ended(fleet) == {"big": "succeeded"}


async def test_a_silent_cluster_gets_no_work_and_gets_it_when_it_speaks_again_and_what_runs_there_goes_on() -> None:
    async with running(c1=(8, 8)) as fleet:
        fleet.plays["runs"] = [runs(60_000)]
        there = await fleet.submit("runs", 1, 8)
        await fleet.quiet(1)
        fleet.agents["c1"].silent = True
        await fleet.quiet(40)
        job = await fleet.submit("a", 1, 8)
        await fleet.quiet(5)
        assert verdicts(fleet.jobs()[job])[0].code == "CapacityStale"
        assert fleet.states() == {"a": "queued", "runs": "running"}
        fleet.agents["c1"].silent = False
        assert await ended(fleet) == {"a": "succeeded", "runs": "succeeded"}
        assert fleet.said(there)[-2:] == ["running", "succeeded"]


async def test_a_cluster_that_is_away_while_a_job_is_applied_gets_it_once() -> None:
    async with running(c1=(8,)) as fleet:
        fleet.clusters["c1"].lost_answers = 3
        job = await fleet.submit("a")
        assert await ended(fleet) == {"a": "succeeded"}
        assert fleet.clusters["c1"].applied == [f"{job}/1"]


async def test_pods_that_land_elsewhere_than_planned_are_counted_where_they_are() -> None:
    async with running(c1=(8, 8)) as fleet:
        fleet.agents["c1"].planned = lambda key: {}
        for number in range(6):
            await fleet.submit(f"j{number}", 1, 8)
        assert set((await ended(fleet)).values()) == {"succeeded"}
        assert fleet.agents["c1"].homeless == []


async def test_two_of_every_service_do_everything_once() -> None:
    async with running(c1=(8, 8), c2=(8,)) as fleet:
        for name in fleet.services():
            fleet.start(name, twin="-2")
        for number in range(12):
            fleet.plays[f"j{number}"] = [runs(300, "Failed" if number % 3 == 0 else "Complete"), runs()]
            await fleet.submit(f"j{number}", 2, 4)
            await settle(7)
        assert set((await ended(fleet, 60)).values()) == {"succeeded"}
        applied = [one for cluster in fleet.clusters.values() for one in cluster.applied]
        assert len(applied) == len(set(applied)) == 16


async def test_another_owner_of_the_queue_takes_over_where_the_first_one_was_stopped() -> None:
    async with running(c1=(8,)) as fleet:
        fleet.start("queue", twin="-2")
        for number in range(4):
            await fleet.submit(f"j{number}", 1, 8)
        await fleet.quiet(0.5)
        fleet.loops["queue"].cancel()
        await settle()
        fleet.store.expire("queue")
        fleet.bus.crashed("queue")
        fleet.bus.crashed("queue-freed")
        assert set((await ended(fleet)).values()) == {"succeeded"}


async def test_a_manifest_that_cannot_be_read_is_rejected_and_stops_nobody() -> None:
    async with running(c1=(8,)) as fleet:
        odd = wire.Submitted(tenant="team-a", manifest=msgspec.Raw(b'{"metadata":{"name":[1]}}'), client="odd")
        await fleet.say("odd", odd)
        await fleet.submit("a")
        states = await ended(fleet)
        assert states["a"] == "succeeded"
        assert sorted(states.values()) == ["rejected", "succeeded"]


async def test_a_name_is_used_again_after_its_job_ended_and_what_that_left_makes_way() -> None:
    async with running(c1=(8,)) as fleet:
        first = await fleet.submit("a")
        await ended(fleet)
        second = await fleet.submit("a")
        await ended(fleet)
        assert first != second
        assert [fleet.jobs()[job].state for job in (first, second)] == ["succeeded", "succeeded"]
        assert [fleet.jobs()[second].attempt, len(fleet.clusters["c1"].objects)] == [1, 1]


async def test_an_object_of_that_name_that_is_not_ours_is_never_touched() -> None:
    async with running(c1=(8,)) as fleet:
        stranger = {"metadata": {"name": "a", "namespace": "team-a", "labels": {"fairway.io/job": "of-another-fleet"}}}
        await fleet.clusters["c1"].create("Job.batch/v1", stranger)
        job = await fleet.submit("a")
        await fleet.quiet(5)
        assert [one.why.code for one in fleet.jobs()[job].attempts if one.why][:1] == ["NameConflict"]
        (kept,) = fleet.clusters["c1"].objects.values()
        assert kept["metadata"]["labels"]["fairway.io/job"] == "of-another-fleet"
