"""A job that prefers idle resources goes through the whole pipeline on those, or on cpu and memory, and back."""

from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio
from msgspec.structs import replace

from fairway.domain.job import Job
from fairway.domain.resources import BATCH_CPU
from fairway.workloads.member_copy import BATCH_LABEL
from tests.scenarios.memory_fleet import Fleet, running, runs

# A tenth of a node's batch resources is left alone.
IDLE = 8_000
CPU = 64_000


@pytest_asyncio.fixture
async def fleet() -> AsyncIterator[Fleet]:
    async with running(c1=(8,)) as found:
        await idle(found, IDLE)
        yield found
        assert found.findings().violations == ()
        assert not found.bus.stored("DLQ")


async def idle(fleet: Fleet, amount: int) -> None:
    agent = fleet.agents["c1"]
    for name, node in agent.nodes.items():
        agent.nodes[name] = replace(node, allocatable={**node.allocatable, BATCH_CPU: amount})
    await agent.report(full=False)
    await fleet.quiet(1)


async def submit(fleet: Fleet, name: str, cpu: str = "3", room: str = "batch,normal") -> str:
    """Of two pods."""
    job = await fleet.submit(name, 2, 1, cpu=cpu, annotations={"fairway.io/room": room})
    await fleet.quiet(1)
    return job


def tree(fleet: Fleet, **most: Any) -> None:
    names = {"cpu": "cpu", "batch": BATCH_CPU}
    leaf = {"name": "a", "namespaces": ["team-a"], "max": {names[name]: amount for name, amount in most.items()}}
    root = {"name": "root", "children": [leaf]}
    spec = {"apiVersion": "scheduling.sigs.k8s.io/v1beta1", "kind": "ElasticQuotaTree", "metadata": {"name": "t"}}
    fleet.configure("ElasticQuotaTree", "t", {**spec, "spec": {"root": root}})


def on(job: Job) -> str:
    """What it is charged."""
    return ",".join(sorted(name for name in job.charge if name in ("cpu", BATCH_CPU)))


def said(fleet: Fleet, job: str) -> list[str]:
    return [one.verb for one in fleet.record() if one.job == job]


def copy(fleet: Fleet, name: str) -> Any:
    (found,) = (one for one in fleet.clusters["c1"].objects.values() if one["metadata"]["name"] == name)
    return found["spec"]["template"]["metadata"].get("labels", {})


async def test_the_first_has_the_idle_resources_and_the_next_one_cpu(fleet: Fleet) -> None:
    fleet.plays |= {"a": [runs(ends="")], "b": [runs(ends="")]}
    first = await submit(fleet, "a")
    second = await submit(fleet, "b")
    jobs = fleet.jobs()
    assert (on(jobs[first]), on(jobs[second])) == (BATCH_CPU, "cpu")
    assert BATCH_LABEL in copy(fleet, "a")
    assert BATCH_LABEL not in copy(fleet, "b")
    way = [
        "submitted",
        "admitted",
        "queue",
        "amended",
        "dequeued",
        "queue",
        "amended",
        "dequeued",
        "placed",
        "reserved",
    ]
    assert said(fleet, second)[: len(way)] == way


async def test_who_waits_for_quota_of_cpu_goes_when_idle_resources_are_freed(fleet: Fleet) -> None:
    tree(fleet, cpu=1, batch=100_000)
    fleet.plays["a"] = [runs(20_000)]
    await submit(fleet, "a")
    waits = await submit(fleet, "b")
    row = fleet.jobs()[waits]
    assert (row.state, row.why.code if row.why else "") == ("queued", "WaitingForQuota")
    await fleet.quiet(30)
    assert fleet.states() == {"a": "succeeded", "b": "succeeded"}
    assert BATCH_CPU in fleet.jobs()[waits].charge
    assert fleet.queues[-1].sweep_wakes == 0


async def test_who_waits_for_room_goes_when_more_is_idle(fleet: Fleet) -> None:
    waits = await submit(fleet, "a", cpu="40")
    row = fleet.jobs()[waits]
    assert (row.state, row.why.code if row.why else "") == ("queued", "NoClusterEver")
    await idle(fleet, 2 * CPU)
    await fleet.quiet(5)
    assert fleet.states() == {"a": "succeeded"}
    assert BATCH_CPU in fleet.jobs()[waits].charge
