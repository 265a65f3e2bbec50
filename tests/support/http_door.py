"""The world behind the HTTP door in memory, and a client before it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.admission.understand import understand
from fairway.domain.job import Job
from fairway.gateway.callers.access import Callers
from fairway.gateway.callers.hosts import Networks
from fairway.gateway.callers.keys import Keys
from fairway.gateway.callers.rate_limits import HttpLimits
from fairway.gateway.http.routes import HttpSettings, create_app
from fairway.runtime.cluster_port import Cluster
from fairway.runtime.ports import Clock, Outgoing, World
from fairway.runtime.views.settings import Catalog
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.policy import Placement
from fairway.wire.workload import PodSet, Workload
from tests.support.memory.clock import CountingIds, ManualClock
from tests.support.memory.cluster import MemoryCluster
from tests.support.memory.identities import MemoryIdentities, MemoryIdentity, MemoryRule

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


# The tokens of who may come: of somebody who may do everything, of two tenants, of one who may only look, of nobody's.
ADMIN = "admin-token"
TENANT_A = "a-token"
TENANT_B = "b-token"
VIEWER = "viewer-token"
NOBODY = "nobody-token"
# Of one who may see jobs, and not read what was submitted.
ONLOOKER = "onlooker-token"
# Of one who may create jobs, and no policies.
NO_POLICIES = "no-policies-token"
# What nobody limits in tests of other things.
WIDE = HttpLimits(rate=10_000)
_READS = ("get", "list", "watch")
_OWN = ("jobs.batch", "pytorchjobs.kubeflow.org", "propagationpolicies.policy.karmada.io")


def tenant(namespace: str) -> tuple[MemoryRule, ...]:
    """As deploy/hub/callers.yaml has it for who may edit a namespace."""
    own = MemoryRule(("create", "patch", "delete", "get"), _OWN, namespace)
    return own, MemoryRule(_READS, ("jobs.fairway.io",), namespace), MemoryRule(("list",), ("queues.fairway.io",))


def identities() -> MemoryIdentities:
    return MemoryIdentities(
        {
            ADMIN: MemoryIdentity("admin", (MemoryRule(("*",), ("*",)),)),
            TENANT_A: MemoryIdentity("system:serviceaccount:team-a:ci", tenant("team-a"), audiences=("fairway",)),
            TENANT_B: MemoryIdentity("system:serviceaccount:team-b:ci", tenant("team-b")),
            VIEWER: MemoryIdentity("viewer", (MemoryRule(_READS, ("jobs.fairway.io", "jobs.batch"), "team-a"),)),
            ONLOOKER: MemoryIdentity("onlooker", (MemoryRule(_READS, ("jobs.fairway.io",), "team-a"),)),
            NOBODY: MemoryIdentity("nobody"),
            NO_POLICIES: MemoryIdentity("submitter", (MemoryRule(("create",), ("jobs.batch",), "team-a"),)),
        }
    )


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def callers(clock: Clock, hub: MemoryCluster | None = None, keys: tuple[str, ...] = ()) -> Callers:
    """Who may come, as `hub` says: without one, as a hub says that knows those above."""
    if hub is None and not keys:
        hub = MemoryCluster("hub", clock, ())
        hub.reviews = identities()
    return Callers(clock, hub, Keys(keys))


class House:
    """The world behind the door, and an administrator's client before it. `hub` says who comes: one in memory, which
    knows those above, or the one that is given. `proxies` stand before it."""

    def __init__(self, limits: HttpLimits = WIDE, hub: Cluster | None = None, proxies: Networks = ()) -> None:
        self.bus = MemoryBus()
        self.store = MemoryStore()
        self.catalog = Catalog()
        self.clock = ManualClock(NOW)
        self.world = World(bus=self.bus, store=self.store, clock=self.clock, owner="test")
        self.hub = MemoryCluster("hub", self.clock, ())
        self.hub.reviews = identities()
        understands = lambda said: understand(said, "dry-run", 0, self.catalog)  # noqa: E731 - it has no other name here
        self.callers = Callers(self.clock, hub or self.hub, Keys())
        self.settings = HttpSettings(
            CountingIds(), understands, self.catalog, self.callers, limits=limits, proxies=proxies
        )
        self.app = create_app(self.world, self.settings)
        self.http = self.client(ADMIN)

    def client(self, token: str = "") -> httpx.AsyncClient:
        """Of whoever has this token."""
        transport = httpx.ASGITransport(self.app)
        headers = bearer(token) if token else {}
        return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080", headers=headers)

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
async def opened(limits: HttpLimits = WIDE, hub: Cluster | None = None, proxies: Networks = ()) -> AsyncIterator[House]:
    one = House(limits, hub, proxies)
    await one.store.finish_rebuild("1")
    async with one.app.router.lifespan_context(one.app):
        yield one
    await one.http.aclose()


def row(name: str, state: str = "queued", tenant: str = "team-a", **more: Any) -> Job:
    sets = (PodSet("pod", 1, {GPU: 1}),)
    spec = wire.JobSpec(
        workload=Workload("batch/v1", "Job", tenant, name, sets, 1),
        policy="PropagationPolicy team-a/train",
        placement=Placement(),
        manifest=wire.ManifestRef(1, "0" * 64, 10),
    )
    plain = {"rev": 2, "entered": 2, "attempt": 1, "at": NOW, "since": NOW, "queue": "gold", "spec": spec}
    return msgspec.convert({"id": name, "tenant": tenant, "state": state, **plain, **more}, Job, from_attributes=True)
