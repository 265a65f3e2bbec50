"""What the hub shows, put before its service: a kind that cannot be listed holds up that kind alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

from structlog.testing import capture_logs

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.system_clock import SystemClock
from fairway.hub.hub_writes import HubWrites
from fairway.hub.messages import BindingsListed, ObjectSeen, ObjectsListed
from fairway.hub.watches import HubWatches
from fairway.runtime.cluster_port import Change, Cluster, ClusterRefused
from fairway.runtime.ownership import Ownership
from tests.spec.hub.hub_objects import JOB, job

WORKFLOW = "Workflow.argoproj.io/v1alpha1"
THERE = Change(JOB, "team-a", "train", job().manifest)


class Hub:
    """Has one Job, and a list of Workflows that ends when it is `listed`. It may refuse ResourceBindings."""

    def __init__(self, refusal: ClusterRefused | None = None) -> None:
        self.listed = asyncio.Event()
        self._refusal = refusal

    async def patch(self, *where: Any) -> None:
        if self._refusal is not None:
            raise self._refusal

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


@asynccontextmanager
async def watched(hub: Hub) -> AsyncIterator[Inbox]:
    cluster = cast(Cluster, hub)
    bus = MemoryBus()
    inbox = Inbox()
    watching = asyncio.create_task(HubWatches(cluster, bus, HubWrites(cluster, bus, SystemClock(), Ownership()))(inbox))
    try:
        yield inbox
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


async def test_a_list_that_does_not_end_holds_up_no_other_kind() -> None:
    """What was deleted meanwhile is known when all kinds are listed, and not before."""
    hub = Hub()
    async with watched(hub) as inbox:
        await inbox.has(ObjectSeen)
        assert not any(isinstance(one, ObjectsListed) for one in inbox.messages)
        hub.listed.set()
        await inbox.has(ObjectsListed)


async def test_a_hub_that_refuses_bindings_is_said_to_have_none_and_why() -> None:
    with capture_logs() as logs:
        async with watched(Hub(ClusterRefused("Forbidden", "cannot patch resourcebindings"))) as inbox:
            await inbox.has(BindingsListed)
    assert [one for one in inbox.messages if isinstance(one, BindingsListed)] == [BindingsListed(served=False)]
    (said,) = [one for one in logs if one["event"] == "no bindings"]
    assert said["cause"] == "Forbidden: cannot patch resourcebindings"
