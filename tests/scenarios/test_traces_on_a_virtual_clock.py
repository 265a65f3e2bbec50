"""A trace through the real services on a virtual clock: waits are the fleet's, and the same trace is the same run."""

import asyncio

import pytest

from fairway.lab.fleet.cluster_shapes import equal_clusters
from fairway.lab.simulation.virtual_time import run_virtual
from fairway.lab.traces.policies.event_loop import JobRun
from fairway.lab.traces.trace import GPU, TraceJob
from fairway.lab.traces.virtual.fleet import VirtualFleet
from fairway.lab.traces.virtual.member import TraceMember
from fairway.lab.traces.virtual.replay import VirtualOutcome, VirtualPlan, replay


def job(index: int, at: float, seconds: float, pods: int = 1) -> TraceJob:
    """Of pods of eight GPUs, which is a node."""
    return TraceJob(f"j{index}", "a", at, seconds, pods, {"cpu": "1", GPU: "8"})


def played(jobs: list[TraceJob], clusters: int = 2, nodes: int = 1) -> VirtualOutcome:
    plan = VirtualPlan("small", equal_clusters(clusters, nodes, gpus=8))
    return replay(plan, jobs, lambda now: None)


def test_a_job_waits_until_room_is_freed_and_not_a_moment_longer() -> None:
    """Two nodes for four jobs: the third has the first node at 100 s and the fourth the other one at 130 s."""
    found = played([job(0, 0, 100), job(1, 10, 120), job(2, 20, 50), job(3, 21, 7)])
    assert found.runs == [JobRun(0, 100), JobRun(10, 130), JobRun(100, 150), JobRun(130, 137)]
    assert (found.own_seconds, found.rescheduled) == (0, 0)
    assert found.findings.violations == ()
    assert found.findings.ends == {"succeeded": 4}


def test_a_gang_waits_for_a_whole_cluster_while_smaller_jobs_pass() -> None:
    found = played([job(0, 0, 100), job(1, 1, 60, pods=2), job(2, 2, 30)], clusters=1, nodes=2)
    assert found.runs == [JobRun(0, 100), JobRun(100, 160), JobRun(2, 32)]


def test_a_fleet_that_is_idle_for_weeks_is_never_taken_for_silent() -> None:
    found = played([job(0, 0, 10), job(1, 2_000_000, 10)])
    assert found.runs == [JobRun(0, 10), JobRun(2_000_000, 2_000_010)]


def test_a_job_that_no_cluster_can_hold_has_no_end_and_the_replay_ends_all_the_same() -> None:
    found = played([job(0, 0, 10), job(1, 5, 10, pods=2)])
    assert found.runs == [JobRun(0, 10), None]
    assert len(found.findings.unfinished) == 1


class _BrokenMember(TraceMember):
    async def served(self) -> tuple[str, ...]:
        raise RuntimeError("a fault of the code")


def test_what_fails_in_the_fleet_ends_the_replay() -> None:
    (config,) = equal_clusters(1, nodes=1, gpus=8)

    async def story() -> None:
        fleet = VirtualFleet([config])
        fleet.members.put(_BrokenMember(config, lambda job, attempt: ()))
        async with asyncio.TaskGroup() as group:
            await fleet.start(group)
            await fleet.clock.sleep(60)
            fleet.stop()

    with pytest.raises(ExceptionGroup) as failed:
        run_virtual(story())
    assert failed.value.subgroup(RuntimeError) is not None
