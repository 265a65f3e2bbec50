"""What a version that did not look at pods has let into a queue is looked at before it is dispatched."""

import asyncio
from typing import Any

import msgspec
import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.system_clock import SystemClock
from fairway.domain.decision import Call, Outcome
from fairway.domain.tenancy.profile import PRIVILEGED, Tenancy
from fairway.propagator.calls import APPLY, Copy
from fairway.propagator.member_calls import MemberCalls
from fairway.runtime.cluster_port import Cluster
from fairway.runtime.ports import Outgoing, World
from fairway.wire import jobs as wire
from fairway.wire import subjects
from tests.cases.hostile_pods import batch_job
from tests.support.simulated import JOB, PATIENCE_S, simulated

MOUNT = "automountServiceAccountToken"


def unsafe() -> dict[str, Any]:
    made = batch_job()
    made["spec"]["template"]["spec"]["hostPID"] = True
    return made


async def applied(cluster: Cluster, job: dict[str, Any], judged: bool, may: Any = Tenancy) -> Outcome:
    bus, clock = MemoryBus(SystemClock()), SystemClock()
    said = wire.Submitted(tenant="team", manifest=msgspec.Raw(msgspec.json.encode(job)), at=1)
    await bus.publish([Outgoing("m", subjects.job(said.verb, "team"), msgspec.json.encode(said))])
    hands = MemberCalls(World(bus, MemoryStore(), clock, "propagator"), {"m1": cluster}, b"a key", may=may)
    return await hands(Call(APPLY, "m1", "j1", 1, Copy(JOB, "team", "one", wire.ManifestRef(1, "x", 1), judged=judged)))


async def test_an_unsafe_one_never_comes_to_a_member() -> None:
    async with simulated() as (cluster, _), asyncio.timeout(PATIENCE_S):
        outcome = await applied(cluster, unsafe(), judged=False)
        assert (outcome.ok, outcome.code) == (False, "UnsafePod")
        assert "spec.template.spec.hostPID: hostPID shares a namespace of the node" in outcome.text
        assert await cluster.get(JOB, "team", "one") is None


async def test_a_safe_one_is_applied_without_a_token() -> None:
    async with simulated() as (cluster, _), asyncio.timeout(PATIENCE_S):
        assert (await applied(cluster, batch_job(), judged=False)).ok
        found = await cluster.get(JOB, "team", "one")
        assert found is not None and found["spec"]["template"]["spec"][MOUNT] is False


async def test_what_its_namespace_may_counts_as_it_is_now() -> None:
    def anything(namespace: str) -> Tenancy:
        return Tenancy(namespace, PRIVILEGED, tokens=True)

    async with simulated() as (cluster, _), asyncio.timeout(PATIENCE_S):
        assert (await applied(cluster, unsafe(), judged=False, may=anything)).ok
        found = await cluster.get(JOB, "team", "one")
        assert found is not None and MOUNT not in found["spec"]["template"]["spec"]


@pytest.mark.parametrize("job", [batch_job(), unsafe()], ids=["safe", "unsafe in the meantime"])
async def test_what_admission_let_in_is_not_judged_again(job: dict[str, Any]) -> None:
    """A namespace that is bound more tightly binds the jobs that come after."""
    async with simulated() as (cluster, _), asyncio.timeout(PATIENCE_S):
        assert (await applied(cluster, job, judged=True)).ok
