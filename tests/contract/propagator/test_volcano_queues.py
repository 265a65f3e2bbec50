"""The queue that a Volcano Job names is in its member before it, and what is there is left as it is."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import Call, Outcome
from fairway.propagator.calls import APPLY, Copy
from fairway.propagator.member_calls import MemberCalls
from fairway.runtime.cluster_port import Applied, ClusterRefused
from fairway.runtime.ports import Outgoing, World
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.workloads.kinds.volcano import VOLCANO
from fairway.workloads.settings.volcano_queues import KIND
from tests.cases.good_jobs import volcano_job
from tests.support.memory.clock import ManualClock
from tests.support.simulated import PATIENCE_S, simulated

Json = dict[str, Any]
REF = wire.ManifestRef(1, "1" * 64, 1)
OURS = {"weight": 1, "reclaimable": False}
NOT_OPEN = (
    'admission webhook "validatejob.volcano.sh" denied the request:  can only submit job to queue with state `Open`, '
    "queue `research` status is ``;"
)


class Unopened:
    """A cluster whose Volcano refuses jobs in these words."""

    def __init__(self, cluster: KubernetesCluster, words: str) -> None:
        self._cluster = cluster
        self._words = words
        self.name = cluster.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    async def apply(self, kind: str, manifest: Json, level: str = "") -> Applied:
        raise ClusterRefused("Forbidden", self._words)


class Member:
    """A cluster, and a record that has the manifest of one Volcano Job."""

    def __init__(self, cluster: KubernetesCluster, job: Json) -> None:
        self.cluster = cluster
        self.clock = ManualClock(1)
        self._bus = MemoryBus()
        self._job = job
        self._calls: dict[str, MemberCalls] = {}

    async def record(self) -> None:
        said = wire.Submitted(
            tenant="team-a", job="j1", manifest=msgspec.Raw(msgspec.json.encode(self._job)), source="hub"
        )
        await self._bus.publish([Outgoing("m1", subjects.job(said.verb, "team-a"), msgspec.json.encode(said))])

    async def applied(self, words: str = "") -> Outcome:
        if words not in self._calls:
            world = World(self._bus, MemoryStore(), self.clock, "propagator")
            cluster: Any = Unopened(self.cluster, words) if words else self.cluster
            self._calls[words] = MemberCalls(world, {"m1": cluster}, b"a key")
        meta = self._job["metadata"]
        return await self._calls[words](
            Call(APPLY, "m1", "j1", 1, Copy(VOLCANO.key, meta["namespace"], meta["name"], REF))
        )

    async def queue(self, name: str) -> Json | None:
        return await self.cluster.get(KIND, "", name)

    async def runs(self) -> None:
        meta = self._job["metadata"]
        async with asyncio.timeout(PATIENCE_S):
            while (
                not ((await self.cluster.get(VOLCANO.key, meta["namespace"], meta["name"])) or {})
                .get("status", {})
                .get("running")
            ):
                await asyncio.sleep(0)


@asynccontextmanager
async def member(queue: str = "research") -> AsyncIterator[Member]:
    job = volcano_job()
    async with simulated() as (cluster, _), asyncio.timeout(PATIENCE_S):
        made = Member(cluster, {**job, "spec": {**job["spec"], "queue": queue}})
        await made.record()
        yield made


async def test_a_queue_that_is_missing_is_made_without_limits_and_the_job_runs_in_it() -> None:
    async with member() as here:
        done = await here.applied()
        assert done.ok, done
        found = await here.queue("research")
        assert found is not None
        assert found["spec"] == OURS
        await here.runs()


async def test_a_queue_that_is_there_is_left_as_it_is() -> None:
    async with member() as here:
        await here.cluster.create(KIND, {"metadata": {"name": "research"}, "spec": {"weight": 7}})
        assert (await here.applied()).ok
        assert ((await here.queue("research")) or {})["spec"] == {"weight": 7}


async def test_for_the_queue_of_everybody_nothing_is_made() -> None:
    async with member("default") as here:
        assert (await here.applied()).ok
        assert await here.queue("default") is None
        await here.runs()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(NOT_OPEN, "", id="its queue is not open yet: it passes"),
        pytest.param("spec.tasks: no task specified in job spec", "Forbidden", id="for good"),
    ],
)
async def test_of_a_refusal_only_that_its_queue_is_new_passes(words: str, code: str) -> None:
    async with member() as here:
        done = await here.applied(words)
        assert (done.ok, done.code, words in done.text) == (False, code, True)
        await here.clock.advance(10)
        assert (await here.applied(words)).code == "Forbidden", "a queue that stays closed is no reason to wait"
