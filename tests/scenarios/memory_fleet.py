"""The whole pipeline in one process without servers: every loop over one bus and one store in memory."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.memory.user_bus import UserBus
from fairway.adapters.rights.bus_rights import credential_of
from fairway.audit.auditor import Checker, Findings, Spoken
from fairway.domain.job import Job
from fairway.domain.names import job_id
from fairway.process.composition import Composition
from fairway.process.pipeline import LOOPS
from fairway.queue.memory import QueueMemory
from fairway.replay.stages import STAGES
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Outgoing, World
from fairway.runtime.record.folding import Folding, Working, working_set
from fairway.runtime.service import Service
from fairway.runtime.views.members import Members
from fairway.runtime.views.recorder import Recorder
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet as fleet_wire
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.inbound import CancelRequest, SubmitRequest
from fairway.wire.preemption.evictions import Evict
from fairway.wire.preemption.evictions import Message as Relief
from tests.scenarios.memory_agents import GPU, KIND, MemoryAgent, insist
from tests.support.memory.clock import ManualClock, settle
from tests.support.memory.cluster import MemoryCluster, Scene

Json = dict[str, Any]
KEY = b"the key of a fleet in memory"
T0 = 1_700_000_000_000
_message = msgspec.json.Decoder(wire.Message).decode
_relief = msgspec.json.Decoder(Relief).decode
_report = msgspec.json.Decoder(fleet_wire.Report).decode
_job = msgspec.json.Decoder(Job).decode


def done(how: str, message: str = "") -> Json:
    return {"conditions": [{"type": how, "status": "True", "message": message}]}


def runs(for_ms: int = 1_000, ends: str = "Complete") -> tuple[Scene, ...]:
    """The gang is up after 100 ms and ends after `for_ms`; an empty end runs for ever."""
    up = Scene(100, {"active": 99, "ready": 99})
    return (up, Scene(for_ms, done(ends, "exit code 1"))) if ends else (up,)


def policy(**notes: str) -> Json:
    """For every Job, with these annotations: `start_timeout="5s"` and the like."""
    body = {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job"}], "placement": {}}
    given = {f"fairway.io/{name.replace('_', '-')}": value for name, value in notes.items()}
    meta = {"name": "all", "annotations": given}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterPropagationPolicy",
        "metadata": meta,
        "spec": body,
    }


def manifest(name: str, pods: int, gpus: int, **more: Any) -> Json:
    """A batch Job of `pods` pods of `gpus` GPUs; `labels`, `annotations`, `namespace`, `priority`, `cpu` and `selector`
    of each pod if they matter."""
    meta = {"name": name, "namespace": more.pop("namespace", "team-a")}
    limits = {GPU: gpus} | ({"cpu": more.pop("cpu")} if "cpu" in more else {})
    pod: Json = {"containers": [{"name": "main", "image": "x", "resources": {"limits": limits}}]}
    for given, field in (("priority", "priorityClassName"), ("selector", "nodeSelector")):
        pod |= {field: more.pop(given)} if given in more else {}
    spec = {"parallelism": pods, "completions": pods, "template": {"spec": {**pod, "restartPolicy": "Never"}}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {**meta, **more}, "spec": spec}


class Fleet:
    """`plays` scripts objects by name, attempt by attempt; what is not scripted runs for a second and succeeds. With
    `views` the stages record what they know."""

    def __init__(self, views: bool = False, **sizes: tuple[int, ...]) -> None:
        self.views = views
        self.clock = ManualClock(T0)
        self.bus = MemoryBus(self.clock)
        self.store = MemoryStore()
        self.catalog = Catalog()
        self.meter = Meter(self.catalog)
        self.catalog.known.set()
        self.plays: dict[str, list[Sequence[Scene]]] = {}
        self.clusters = {name: MemoryCluster(name, self.clock, (KIND,), self._play) for name in sizes}
        self.agents = {
            name: MemoryAgent(cluster, self.bus, self.clock, sizes[name]) for name, cluster in self.clusters.items()
        }
        for agent in self.agents.values():
            agent.planned = self._planned
        self.queues: list[QueueMemory] = []
        self._group: asyncio.TaskGroup | None = None
        self.loops: dict[str, asyncio.Task[None]] = {}
        self._owners = self._recorders = 0
        self._submissions = 0
        self._tenants: dict[str, str] = {}
        self.configure("ClusterPropagationPolicy", "all", policy())
        for name in sizes:
            self.configure("Cluster", name, {"labels": {}})

    def _play(self, applied: Json) -> Sequence[Scene]:
        attempt = int(applied["metadata"]["labels"]["fairway.io/attempt"])
        scripted = self.plays.get(applied["metadata"]["name"], [])
        return scripted[attempt - 1] if attempt <= len(scripted) else runs()

    def _planned(self, key: str) -> dict[str, int]:
        """Nodes and pods of an attempt as it was reserved: the clusters' schedulers agree with Fairway's plan."""
        number = int(key.partition("/")[2])
        for message in self.record():
            if isinstance(message, wire.Reserved) and (message.job, message.attempt) == (key.partition("/")[0], number):
                return {slot.node: slot.count for slot in message.slots}
        return {}

    def configure(self, kind: str, name: str, body: Json | None) -> None:
        self.catalog.take(fleet_wire.Configured(kind=kind, name=name, manifest=msgspec.Raw(msgspec.json.encode(body))))

    def services(self) -> dict[str, Service]:
        """Made anew, by name."""
        return {service.name: service for name in LOOPS for service in self._composed(name)}

    def _composed(self, name: str) -> list[Service]:
        """With the rights of its own credential."""
        bus = UserBus(self.bus, name)
        ports = (lambda: World(bus, self.store.beside(), self.clock, "propagator"), bus, self.clock)
        known = (self.catalog, self.meter, Members(self.clusters), KEY)
        return Composition(*ports, *known, queues=self.queues, recording=self.recording).services([name])

    def recording(self, service: str) -> Recorder | None:
        self._recorders += 1
        known = self.views and service in STAGES
        return Recorder((service, f"r{self._recorders}"), self.bus, self.catalog) if known else None

    def start(self, name: str, twin: str = "") -> None:
        """A `twin` runs beside the first instance and shares its messages."""
        self._owners += 1
        service = self.services()[name]
        bus = UserBus(self.bus, credential_of(name))
        world = World(bus=bus, store=self.store.beside(), clock=self.clock, owner=f"o{self._owners}")
        self.loops[name + twin] = asyncio.create_task(Loop(service, world, self.meter).run())

    async def crash(self, name: str) -> None:
        """As kill -9: whatever is in hand is forgotten, what was taken from the bus comes again, another one starts."""
        self.loops[name].cancel()
        await asyncio.gather(self.loops[name], return_exceptions=True)
        for consumer in self.services()[name].consumers:
            self.bus.crashed(consumer.durable)
        self.store.expire(name)
        self.start(name)

    async def say(self, name: str, message: wire.JobMessage) -> None:
        subject = subjects.job(message.verb, message.tenant)
        await insist(self.bus, Outgoing(name, subject, msgspec.json.encode(message)))

    async def ask(self, name: str, tenant: str, message: SubmitRequest | CancelRequest) -> None:
        """As a tenant on the bus."""
        subject = subjects.inbound(message.verb, tenant)
        await insist(self.bus, Outgoing(name, subject, msgspec.json.encode(message)))

    async def submit(self, name: str, pods: int = 1, gpus: int = 1, **more: Any) -> str:
        """The id of the job that it makes."""
        body = manifest(name, pods, gpus, **more)
        tenant = body["metadata"]["namespace"]
        self._submissions += 1
        raw = msgspec.Raw(msgspec.json.encode(body))
        client = f"c{self._submissions}"
        await self.ask(client, tenant, SubmitRequest(manifest=raw, client=client, at=self.clock.now()))
        job = job_id(tenant, client, name)
        self._tenants[job] = tenant
        return job

    async def cancel(self, job: str, who: str = "", name: str = "") -> None:
        who = who or self._tenants.get(job, "team-a")
        await self.ask(name or f"cancel-{job}", who, CancelRequest(job=job))

    async def quiet(self, seconds: float = 0) -> None:
        """Lets time pass, and everything run until nothing more happens by itself."""
        await self.clock.advance(seconds)
        for _ in range(40):
            before = self._activity()
            await settle(30)
            if before == self._activity():
                return

    def _activity(self) -> tuple[int, int]:
        streams = ("IN", "JOBS", "CLUSTERS")
        return sum(len(self.bus.stored(name)) for name in streams), self.bus.waiting

    def record(self) -> list[wire.JobMessage]:
        return [_message(one.data) for one in self.bus.stored("JOBS")]

    def jobs(self) -> dict[str, Job]:
        return {key: _job(row.data) for key, row in self.store.rows.get("jobs", {}).items()}

    def states(self) -> dict[str, str]:
        """By the object's name."""
        return {key.rsplit("-", 1)[0]: job.state.value for key, job in sorted(self.jobs().items())}

    def said(self, job: str) -> list[str]:
        return [message.verb for message in self.record() if message.job == job]

    def folded(self) -> Working:
        folding = Folding()
        for message in self.record():
            folding.hear(message)
        return working_set(folding.jobs())

    def findings(self) -> Findings:
        """Room is judged by what the agents reported, and by their nodes as they are now."""
        nodes = {name: {n: node.allocatable for n, node in agent.nodes.items()} for name, agent in self.agents.items()}
        checker = Checker(nodes, self.catalog.tree)
        for one in self.bus.stored("RELIEF"):
            if isinstance(decision := _relief(one.data), Evict):
                checker.decided(decision)
        for one in self.bus.stored("JOBS"):
            checker.hear(Spoken(one.sequence, one.id, one.subject, _message(one.data)))
        for one in self.bus.stored("CLUSTERS"):
            if one.subject.startswith("fairway.cluster.report."):
                checker.see(_report(one.data))
        return checker.findings()


@asynccontextmanager
async def running(views: bool = False, **sizes: tuple[int, ...]) -> AsyncIterator[Fleet]:
    """A fleet with these clusters, each given by the GPUs of its nodes; everything is up when it is handed over."""
    fleet = Fleet(views, **sizes)
    agents = [asyncio.create_task(agent.run()) for agent in fleet.agents.values()]
    try:
        for name in fleet.services():
            fleet.start(name)
        await fleet.quiet()
        yield fleet
    finally:
        tasks = [*agents, *fleet.loops.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for cluster in fleet.clusters.values():
            await cluster.close()
        await fleet.bus.close()
