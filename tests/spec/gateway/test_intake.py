"""The hub's jobs on their way in, when policies come at the worst moment."""

import asyncio
from collections.abc import Sequence
from typing import Any

from hub import JOB, PP, job, policy

from fairway.adapters.memory_bus import MemoryBus
from fairway.adapters.memory_clock import ManualClock, settle
from fairway.adapters.memory_cluster import MemoryCluster
from fairway.adapters.memory_store import MemoryStore
from fairway.gateway.desk import Desk
from fairway.gateway.hub_objects import SETTINGS
from fairway.gateway.intake import Intake
from fairway.runtime.loop import World
from fairway.runtime.ports import Outgoing
from fairway.workloads.registry import KINDS

PATIENCE_S = 10


class SlowBus(MemoryBus):
    """Takes no submission before it is told `go`; `asked` once one came."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def publish(self, messages: Sequence[Outgoing]) -> None:
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


async def test_a_policy_that_comes_while_other_jobs_are_submitted_finds_the_job_that_waits_for_it() -> None:
    clock, bus = ManualClock(), SlowBus()
    store, hub = MemoryStore(), MemoryCluster("hub", clock, [*SETTINGS, *KINDS])
    await store.begin_rebuild("test", 60_000)
    await store.finish_rebuild("e1")
    intake = Intake(World(bus=bus, store=store, clock=clock, owner="gateway"), hub, Desk())
    running = asyncio.create_task(intake.run())
    async with asyncio.timeout(PATIENCE_S):
        await intake.told.wait()
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
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert bus.submitted() == ["team-a", "team-b"]
