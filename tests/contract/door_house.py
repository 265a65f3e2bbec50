"""The world behind the HTTP door in memory, and a client before it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec

from fairway.adapters.memory_bus import MemoryBus
from fairway.adapters.memory_clock import CountingIds, ManualClock
from fairway.adapters.memory_store import MemoryStore
from fairway.admission.understand import understand
from fairway.domain.job import Job
from fairway.gateway.http import HttpSettings, create_app
from fairway.runtime.catalog import Catalog
from fairway.runtime.loop import World
from fairway.runtime.ports import Outgoing
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.policy import Placement
from fairway.wire.workload import PodSet, Workload

GPU = "nvidia.com/gpu"
NOW = 1_700_000_000_000


def job(name: str = "train", gpus: int = 1, **more: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "x", "resources": {"limits": {GPU: gpus}}}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    meta = {"name": name, "namespace": "team-a", **more}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": template}}


POLICY = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "PropagationPolicy",
    "metadata": {"name": "train", "namespace": "team-a"},
    "spec": {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train"}]},
}


class House:
    """The world behind the door, and a client before it."""

    def __init__(self) -> None:
        self.bus, self.store, self.catalog = MemoryBus(), MemoryStore(), Catalog()
        self.clock = ManualClock(NOW)
        self.world = World(bus=self.bus, store=self.store, clock=self.clock, owner="test")
        settings = HttpSettings(CountingIds(), lambda said: understand(said, "dry-run", 0, self.catalog), self.catalog)
        self.app = create_app(self.world, settings)
        transport = httpx.ASGITransport(self.app)
        self.http = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080")

    async def submitted(self) -> list[wire.Submitted]:
        return [one for one in await self.said() if isinstance(one, wire.Submitted)]

    async def said(self) -> list[wire.JobMessage]:
        return [msgspec.json.decode(one.data, type=wire.Message) async for one in self.bus.history("JOBS")]

    async def say(self, name: str, message: wire.JobMessage) -> None:
        subject = subjects.job(message.verb, message.tenant)
        await self.bus.publish([Outgoing(name, subject, msgspec.json.encode(message))])

    async def has(self, *jobs: Job) -> None:
        await self.store.load("jobs", {one.id: (one.rev, msgspec.json.encode(one)) for one in jobs})
        await self.store.load("live", {one.id: (1, b'""') for one in jobs if not one.ended})


@asynccontextmanager
async def opened() -> AsyncIterator[House]:
    one = House()
    await one.store.finish_rebuild("1")
    async with one.app.router.lifespan_context(one.app):
        yield one
    await one.http.aclose()


def row(name: str, state: str = "queued", tenant: str = "team-a", **more: Any) -> Job:
    sets = (PodSet("pod", 1, {GPU: 1}),)
    spec = wire.JobSpec(
        workload=Workload("batch/v1", "Job", tenant, name, sets, 1), policy="PropagationPolicy team-a/train",
        placement=Placement(), manifest=wire.ManifestRef(1, "0" * 64, 10),
    )  # fmt: skip
    plain = {"rev": 2, "entered": 2, "attempt": 1, "at": NOW, "since": NOW, "queue": "gold", "spec": spec}
    return msgspec.convert({"id": name, "tenant": tenant, "state": state, **plain, **more}, Job, from_attributes=True)


