"""What the hub shows, put before its service: a kind that cannot be listed holds up that kind alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, cast

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.system_clock import SystemClock
from fairway.hub.hub_writes import HubWrites
from fairway.hub.messages import ObjectSeen, ObjectsListed
from fairway.hub.watches import HubWatches
from fairway.runtime.cluster_port import Change, Cluster
from fairway.runtime.ownership import Ownership
from tests.spec.hub.hub_objects import JOB, job

WORKFLOW = "Workflow.argoproj.io/v1alpha1"
THERE = Change(JOB, "team-a", "train", job().manifest)


class Hub:
    """Has one Job, and a list of Workflows that ends when it is `listed`."""

    def __init__(self) -> None:
        self.listed = asyncio.Event()

    async def patch(self, *where: Any) -> None:
        return None

    async def watch(self, kind: str, *more: Any) -> AsyncIterator[Change]:
        if kind == WORKFLOW:
            await self.listed.wait()
        if kind == JOB:
            yield THERE
        yield Change(kind, "", "", {}, synced=True)
        await asyncio.Event().wait()


class Inbox:
    def __init__(self) -> None:
        self.messages: list[object] = []

    def put(self, message: object) -> None:
        self.messages.append(message)

    async def room(self) -> None:
        await asyncio.sleep(0)

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def has(self, kind: type) -> None:
        async with asyncio.timeout(10):
            while not any(isinstance(one, kind) for one in self.messages):
                await asyncio.sleep(0.005)


async def test_a_list_that_does_not_end_holds_up_no_other_kind() -> None:
    """What was deleted meanwhile is known when all kinds are listed, and not before."""
    hub = Hub()
    cluster = cast(Cluster, hub)
    bus = MemoryBus()
    inbox = Inbox()
    watching = asyncio.create_task(HubWatches(cluster, bus, HubWrites(cluster, bus, SystemClock(), Ownership()))(inbox))
    try:
        await inbox.has(ObjectSeen)
        assert not any(isinstance(one, ObjectsListed) for one in inbox.messages)
        hub.listed.set()
        await inbox.has(ObjectsListed)
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
