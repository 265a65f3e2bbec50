"""What is recalled is removed, though somebody has taken off the labels by which it would be deleted."""

import asyncio
from typing import Any

import httpx
import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.system_clock import SystemClock
from fairway.domain.decision import Call
from fairway.lab.kubesim import SimCluster
from fairway.propagator.calls import DELETE, Copy
from fairway.propagator.member_calls import MemberCalls
from fairway.runtime.cluster_port import Cluster as Port
from fairway.runtime.ports import World
from fairway.wire import jobs as wire
from tests.support.simulated import JOB, OURS, PATIENCE_S, job, simulated

KEY = b"a key"
RECALL = Call(DELETE, "m1", "j1", 1, Copy(JOB, "team-a", "train", wire.ManifestRef(1, "x", 1)))


def hands(cluster: Port) -> MemberCalls:
    clock = SystemClock()
    return MemberCalls(World(MemoryBus(clock), MemoryStore(), clock, "propagator"), {"m1": cluster}, KEY)


@pytest.mark.parametrize(
    "taken",
    [
        pytest.param(dict.fromkeys(OURS), id="both"),
        pytest.param({"fairway.io/attempt": None}, id="that of the attempt"),
        pytest.param({"fairway.io/job": "another"}, id="that of the job is another one"),
    ],
)
async def test_an_object_that_lost_its_labels_gets_them_back_and_goes(
    taken: dict[str, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairway.propagator.member_calls._DELETE_WAIT_S", 0.2)  # its pods would be waited for
    async with simulated() as (cluster, _), asyncio.timeout(PATIENCE_S):
        await cluster.apply(JOB, job("team-a"))
        await cluster.patch(JOB, "team-a", "train", {"metadata": {"labels": taken}})
        outcome = await hands(cluster)(RECALL)
        assert (outcome.ok, outcome.body) == (True, False), "it is not gone: the recall comes again"
        while not (await hands(cluster)(RECALL)).body:
            continue
        assert await cluster.get(JOB, "team-a", "train") is None


async def test_an_object_that_somebody_else_made_under_that_name_stays_as_it_is() -> None:
    async with simulated() as (cluster, behind), asyncio.timeout(PATIENCE_S):
        await _made_by_hand(behind)
        before = await cluster.get(JOB, "team-a", "train")
        assert (await hands(cluster)(RECALL)).body is True
        assert before is not None and await cluster.get(JOB, "team-a", "train") == before


async def test_an_object_that_was_made_for_another_job_stays_as_it_is() -> None:
    async with simulated() as (cluster, _), asyncio.timeout(PATIENCE_S):
        theirs = {**OURS, "fairway.io/job": "j2"}
        await cluster.apply(JOB, job("team-a", labels=theirs))
        await cluster.patch(JOB, "team-a", "train", {"metadata": {"labels": dict.fromkeys(theirs)}})
        assert (await hands(cluster)(RECALL)).body is True
        found = await cluster.get(JOB, "team-a", "train")
        assert found is not None and not found["metadata"].get("labels")


async def _made_by_hand(behind: SimCluster) -> None:
    manifest = {"apiVersion": "batch/v1", "kind": "Job", **job("team-a", labels={"team": "a"})}
    async with httpx.AsyncClient(base_url=behind.url) as client:
        await client.post("/api/v1/namespaces", json={"metadata": {"name": "team-a"}})
        query = {"fieldManager": "kubectl-create"}
        made = await client.post("/apis/batch/v1/namespaces/team-a/jobs", params=query, json=manifest)
        made.raise_for_status()


async def test_an_object_that_another_propagator_gave_its_labels_back_meanwhile_is_not_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It had none when this one asked for its deletion, and no pods yet; it has them when this one looks."""
    async with simulated() as (cluster, _), asyncio.timeout(PATIENCE_S):
        await cluster.apply(JOB, job("team-a"))

        async def overtaken(*_: Any) -> bool:
            return True

        monkeypatch.setattr(cluster, "delete", overtaken)
        assert (await hands(cluster)(RECALL)).body is False
