"""The hub's jobs on their way in, when policies come at the worst moment."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from fairway.gateway.hub.intake import Intake
from fairway.hub.telling.pending_updates import PendingUpdates

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import Add, Step
from fairway.domain.tenancy.profile import SYSTEM_NAMESPACES
from fairway.domain.tenancy.submission_limits import Limits
from fairway.gateway.submission_limiter import Limiter, in_turn
from fairway.runtime.cluster_port import Change
from fairway.runtime.ports import Commit, Outgoing, World
from fairway.wire.reasons import Code
from fairway.workloads.hub.objects import SETTINGS
from fairway.workloads.kinds.registry import KINDS
from tests.spec.gateway.hub_objects import JOB, PP, job, policy, thing
from tests.support.memory.clock import ManualClock, settle
from tests.support.memory.cluster import MemoryCluster

PATIENCE_S = 10


class SlowBus(MemoryBus):
    """Takes no submission before it is told `go`; `asked` once one came."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.go = asyncio.Event()

    async def publish(self, messages: Sequence[Outgoing], tries: int = 4) -> None:
        if any(one.subject.startswith("fairway.job.submitted") for one in messages):
            self.asked.set()
            await self.go.wait()
        await super().publish(messages)

    def submitted(self) -> list[str]:
        """The tenants of what was submitted."""
        said = (one.subject for one in self.stored("JOBS") if one.subject.startswith("fairway.job.submitted"))
        return sorted(subject.split(".")[3] for subject in said)


async def apply(hub: MemoryCluster, kind: str, manifest: dict[str, Any]) -> None:
    await hub.create(kind, manifest)
    await settle()


@asynccontextmanager
async def taking_in(
    bus: MemoryBus,
    limits: dict[str, Limits] | None = None,
    store: MemoryStore | None = None,
    updates: PendingUpdates | None = None,
) -> AsyncIterator[tuple[Intake, MemoryCluster, ManualClock]]:
    """An intake that runs, its hub, and its clock."""
    clock = ManualClock()
    store = store or MemoryStore()
    hub = MemoryCluster("hub", clock, [*SETTINGS, *KINDS])
    await store.begin_rebuild("test", 60_000)
    await store.finish_rebuild("e1")
    world = World(bus=bus, store=store, clock=clock, owner="gateway")
    limiter = Limiter(world, lambda: limits or {})
    intake = Intake(world, hub, PendingUpdates() if updates is None else updates, limiter, SYSTEM_NAMESPACES)
    running = asyncio.create_task(intake.run())
    try:
        async with asyncio.timeout(PATIENCE_S):
            await intake.told.wait()
            yield intake, hub, clock
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_a_policy_that_comes_while_other_jobs_are_submitted_finds_the_job_that_waits_for_it() -> None:
    bus = SlowBus()
    async with taking_in(bus) as (_, hub, clock):
        await apply(hub, PP, policy("wide", namespace="team-a").manifest)
        for tenant in ("team-a", "team-b"):
            await apply(hub, JOB, job(namespace=tenant).manifest)
        await clock.advance(1)  # both are ripe, and only one has a policy
        await bus.asked.wait()
        await apply(hub, PP, policy("late", namespace="team-b").manifest)
        bus.go.set()
        await clock.advance(1)
        while len(bus.submitted()) < 2:
            await asyncio.sleep(0.01)
    assert bus.submitted() == ["team-a", "team-b"]


async def applied(hub: MemoryCluster, *jobs: tuple[str, str]) -> None:
    await apply(hub, PP, policy("all", namespace="team-a").manifest)
    await apply(hub, PP, policy("all", namespace="team-b").manifest)
    for tenant, name in jobs:
        await apply(hub, JOB, job(name, namespace=tenant).manifest)


async def said(bus: SlowBus, clock: ManualClock, count: int) -> list[str]:
    """What was submitted once it is so many, and time has passed."""
    await clock.advance(1)
    while len(bus.submitted()) < count:
        await asyncio.sleep(0.01)
    await settle()
    return bus.submitted()


async def test_the_hub_keeps_what_a_tenant_may_not_submit_yet_and_others_are_not_kept_waiting() -> None:
    bus = SlowBus()
    store = MemoryStore()
    updates = PendingUpdates()
    bus.go.set()
    many = [("team-a", f"a{n}") for n in range(4)]
    async with taking_in(bus, {"team-a": Limits(pending=3)}, store, updates) as (_, hub, clock):
        await store.commit(Commit((Step((Add("pending", "team-a", 1),)),)))
        await applied(hub, *many, ("team-b", "b"))
        assert await said(bus, clock, 3) == ["team-a", "team-a", "team-b"]
        kept = [one.why for one in updates.unclaimed.values()]
        assert {one.code for one in kept} == {Code.TOO_MANY_PENDING}
        assert len(kept) == 2
        await clock.advance(30)
        assert len(await said(bus, clock, 3)) == 3, "nothing has changed"
        assert len(updates.unclaimed) == 2, "each is told of once"
        await store.commit(Commit((Step((Add("pending", "team-a", 1),)),)))
        await hub.drop(JOB, "team-a", "a3")
        await clock.advance(6)
        assert await said(bus, clock, 4) == ["team-a"] * 3 + ["team-b"]
        assert not updates.unclaimed


async def test_the_hub_s_jobs_go_at_the_rate_of_their_tenant() -> None:
    bus = SlowBus()
    bus.go.set()
    async with taking_in(bus, {"team-a": Limits(rate=2)}) as (_, hub, clock):
        await applied(hub, *[("team-a", f"a{n}") for n in range(5)])
        assert len(await said(bus, clock, 2)) == 2
        assert len(await said(bus, clock, 4)) == 4
        assert len(await said(bus, clock, 5)) == 5


def test_tenants_take_turns() -> None:
    names = ("a", "0"), ("a", "1"), ("a", "2"), ("b", "x"), ("c", "y")
    objects = [job(name, namespace=tenant) for tenant, name in names]
    assert [f"{one.namespace}{one.name}" for one in in_turn(objects)] == ["a0", "bx", "cy", "a1", "a2"]


def mpi(version: str, written: str = "v2beta1") -> Change:
    """One object, as the watch of one of its versions shows it."""
    template = {"spec": {"containers": [{"name": "mpi", "image": "x"}]}}
    replicas = {"Launcher": {"replicas": 1, "template": template}, "Worker": {"replicas": 1, "template": template}}
    status = {"manager": "operator", "apiVersion": "kubeflow.org/v1", "subresource": "status", "time": "2026-01-01"}
    label = {"manager": "label", "apiVersion": "kubeflow.org/v1", "time": "2026-01-02", "fieldsV1": {"f:metadata": {}}}
    user = {"manager": "me", "apiVersion": f"kubeflow.org/{written}", "time": "2026-01-03", "fieldsV1": {"f:spec": {}}}
    kind = f"MPIJob.kubeflow.org/{version}"
    by = {"managedFields": [status, label, user]}
    manifest = thing(kind, "allreduce", spec={"mpiReplicaSpecs": replicas}, metadata=by)
    return Change(kind, "team-a", "allreduce", manifest)


@pytest.mark.parametrize("order", [("v1", "v2beta1"), ("v2beta1", "v1")])
@pytest.mark.parametrize("policy_first", [True, False])
async def test_a_job_whose_hub_serves_two_versions_of_it_is_the_one_that_was_written(
    order: tuple[str, str], policy_first: bool
) -> None:
    bus = SlowBus()
    bus.go.set()
    chosen = policy("p", {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob"}).manifest
    async with taking_in(bus) as (intake, hub, clock):
        if policy_first:
            await apply(hub, PP, chosen)
        for version in order:
            intake.see(mpi(version))
        await clock.advance(1)
        if not policy_first:
            assert bus.submitted() == []
            await apply(hub, PP, chosen)
        await clock.advance(1)
        while not bus.submitted():
            await asyncio.sleep(0.01)
        assert intake.present["u-team-a-allreduce"].kind == "MPIJob.kubeflow.org/v2beta1"
    [word] = [msgspec.json.decode(one.data) for one in bus.stored("JOBS")]
    assert word["manifest"]["apiVersion"] == "kubeflow.org/v2beta1"


async def test_an_object_that_does_not_say_how_it_was_written_is_what_it_was_first_seen_as() -> None:
    bus = SlowBus()
    async with taking_in(bus) as (intake, _, _):
        for version in ("v2beta1", "v1"):
            intake.see(mpi(version, written="v9"))
        assert intake.present["u-team-a-allreduce"].kind == "MPIJob.kubeflow.org/v2beta1"
        intake.see(msgspec.structs.replace(mpi("v1", written="v9"), gone=True))
        assert intake.present, "one of its versions is no longer served"
        intake.see(msgspec.structs.replace(mpi("v2beta1", written="v9"), gone=True))
        assert not intake.present
