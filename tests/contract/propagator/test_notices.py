"""An attempt that is to end, in its member: its object and its pods are told when, and go in time."""

import asyncio
from typing import Any

from msgspec.structs import replace

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.system_clock import SystemClock
from fairway.domain.decision import Call
from fairway.lab.kubesim import SimCluster
from fairway.propagator.calls import DELETE, NOTICE, Copy, Notice
from fairway.propagator.member_calls import MemberCalls
from fairway.runtime.cluster_port import Cluster
from fairway.runtime.ports import World
from fairway.wire import jobs as wire
from fairway.workloads.member_copy import EVICT_AT
from tests.support.simulated import JOB, OURS, PATIENCE_S, job, simulated

AT = 1_767_323_045_999
SAID = "2026-01-02T03:04:05Z"
COPY = Copy(JOB, "team-a", "train", wire.ManifestRef(1, "x", 1))
TOLD = Call(NOTICE, "m1", "j1", 1, Notice(COPY, AT))


def hands(cluster: Cluster) -> MemberCalls:
    clock = SystemClock()
    return MemberCalls(World(MemoryBus(clock), MemoryStore(), clock, "propagator"), {"m1": cluster}, b"a key")


def pods(behind: SimCluster) -> list[dict[str, Any]]:
    return [one.obj for one in behind.api.store.all("pods")]


async def running(behind: SimCluster) -> None:
    while not any(one["status"].get("phase") == "Running" for one in pods(behind)):
        await asyncio.sleep(0.01)


async def test_its_object_and_its_pods_say_when_it_ends() -> None:
    async with simulated() as (cluster, behind), asyncio.timeout(PATIENCE_S):
        await cluster.apply(JOB, job("team-a"))
        await running(behind)
        outcome = await hands(cluster)(TOLD)
        found = await cluster.get(JOB, "team-a", "train")
        assert outcome.ok and found is not None
        assert outcome.body["metadata"]["uid"] == found["metadata"]["uid"]
        assert found["metadata"]["annotations"][EVICT_AT] == SAID
        assert [one["metadata"]["annotations"][EVICT_AT] for one in pods(behind)] == [SAID]


async def test_of_an_object_of_another_attempt_nobody_is_told() -> None:
    async with simulated() as (cluster, _), asyncio.timeout(PATIENCE_S):
        await cluster.apply(JOB, job("team-a", labels=OURS | {"fairway.io/attempt": "2"}))
        outcome = await hands(cluster)(TOLD)
        found = await cluster.get(JOB, "team-a", "train")
        assert (outcome.ok, outcome.body) == (True, None)
        assert found is not None and EVICT_AT not in (found["metadata"].get("annotations") or {})


async def test_a_pod_that_asks_for_more_grace_than_there_is_goes_in_time() -> None:
    async with simulated() as (cluster, behind), asyncio.timeout(PATIENCE_S):
        await cluster.apply(JOB, job("team-a", stop_after="60s"))
        await running(behind)
        gone = Call(DELETE, "m1", "j1", 1, replace(COPY, grace=1_500))
        while not (await hands(cluster)(gone)).body:
            continue
        assert pods(behind) == []
