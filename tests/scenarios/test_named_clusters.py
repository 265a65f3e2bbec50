"""A policy names clusters: its jobs wait for those that are not there, and go when one joins."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fairway.domain.job import Job
from fairway.domain.policy_terms import Changed
from fairway.explain.why import why
from tests.scenarios.memory_agents import KIND, MemoryAgent
from tests.scenarios.memory_fleet import Fleet, policy, running, runs
from tests.support.memory.cluster import MemoryCluster

Json = dict[str, Any]


def names(*clusters: str) -> Json:
    body = policy()
    body["spec"]["placement"] = {"clusterAffinity": {"clusterNames": list(clusters)}}
    return body


def says(fleet: Fleet, kind: str, name: str, body: Json | None) -> None:
    """The hub says it, and every service hears that something changed."""
    fleet.configure(kind, name, body)
    for tell in fleet.catalog.heard:
        tell(Changed(kind=kind))


@asynccontextmanager
async def joined(fleet: Fleet, name: str, sizes: tuple[int, ...]) -> AsyncIterator[None]:
    """With one more cluster, which the hub knows of before its agent has reported."""
    cluster = fleet.clusters[name] = MemoryCluster(name, fleet.clock, (KIND,), lambda applied: runs())
    agent = fleet.agents[name] = MemoryAgent(cluster, fleet.bus, fleet.clock, sizes)
    for service in ("propagator", "watcher"):
        await fleet.crash(service)  # they know the members that there were when they began
    says(fleet, "Cluster", name, {"labels": {}})
    await fleet.quiet(1)
    reporting = asyncio.create_task(agent.run())
    yield
    reporting.cancel()
    await asyncio.gather(reporting, return_exceptions=True)


def told(job: Job) -> tuple[str, str]:
    assert job.why is not None
    return job.why.code, job.why.text


def all_is_sound(fleet: Fleet) -> None:
    assert fleet.findings().violations == ()
    assert fleet.meter.sweep_wakes.labels("queue")._value.get() == 0
    assert not fleet.bus.stored("DLQ")


async def test_a_job_waits_for_the_cluster_that_its_policy_names_and_goes_when_it_joins() -> None:
    async with running(c1=(8,), c2=(8,)) as fleet:
        fleet.configure("ClusterPropagationPolicy", "all", names("c9"))
        job = await fleet.submit("a", 1, 8)
        await fleet.quiet(60)
        assert fleet.states() == {"a": "queued"}
        assert told(fleet.jobs()[job]) == ("UnknownCluster", "the policy names c9, which is not in the fleet")
        assert "Cluster c9 joins the fleet." in why(fleet.jobs()[job], None, fleet.clock.now()).moves
        async with joined(fleet, "c9", (8,)):
            await fleet.quiet(2)
            assert fleet.states() == {"a": "succeeded"}
            assert fleet.clusters["c9"].applied == [f"{job}/1"]
            all_is_sound(fleet)


async def test_of_several_named_clusters_those_are_used_that_are_there() -> None:
    async with running(c1=(8,), c2=(8,)) as fleet:
        fleet.configure("ClusterPropagationPolicy", "all", names("c9", "c2"))
        fleet.plays["a"] = [runs(60_000)]
        await fleet.submit("a", 1, 8)
        second = await fleet.submit("b", 1, 8)
        await fleet.quiet(5)
        assert fleet.states() == {"a": "running", "b": "queued"}
        code, text = told(fleet.jobs()[second])
        assert (code, text.endswith("; the policy also names c9, which is not in the fleet")) == (
            "WaitingForRoom",
            True,
        )
        async with joined(fleet, "c9", (8,)):
            await fleet.quiet(2)
            assert fleet.states() == {"a": "running", "b": "succeeded"}
            all_is_sound(fleet)


async def test_of_a_cluster_that_leaves_while_a_job_waits_for_it_the_job_is_told() -> None:
    async with running(c1=(8,), c2=(8,)) as fleet:
        fleet.configure("ClusterPropagationPolicy", "all", names("c1"))
        fleet.plays["a"] = [runs(20_000)]
        await fleet.submit("a", 1, 8)
        second = await fleet.submit("b", 1, 8)
        await fleet.quiet(5)
        assert told(fleet.jobs()[second])[0] == "WaitingForRoom"
        fleet.agents["c1"].silent = True
        says(fleet, "Cluster", "c1", None)
        await fleet.quiet(5)
        assert told(fleet.jobs()[second]) == ("UnknownCluster", "the policy names c1, which is not in the fleet")
        says(fleet, "Cluster", "c1", {"labels": {}})
        fleet.agents["c1"].silent = False
        await fleet.quiet(60)
        assert fleet.states() == {"a": "succeeded", "b": "succeeded"}
        all_is_sound(fleet)
