"""A simulated hub over real HTTP, and the hub service, which can be stopped and started beside it."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

import msgspec

from fairway.adapters.kubernetes.cluster import KubernetesCluster, Options
from fairway.adapters.kubernetes.watch import WatchPace
from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.system_clock import SystemClock
from fairway.domain.fold import fold
from fairway.domain.job import Job
from fairway.domain.names import job_id
from fairway.hub import service as hub_service
from fairway.lab.kubesim import KubeSim, SimCluster
from fairway.lab.kubesim.api.metadata import Deletion
from fairway.runtime.cluster_port import Cluster
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Outgoing, Wanted, World
from fairway.runtime.views.settings import Catalog
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.policy import Placement
from fairway.wire.workload import PodSet, Workload
from fairway.workloads.kinds.registry import KINDS

Json = dict[str, Any]
JOB = "Job.batch/v1"
PP = "PropagationPolicy.policy.karmada.io/v1alpha1"
TREE = "ElasticQuotaTree.scheduling.sigs.k8s.io/v1beta1"
OURS = {"by": "test"}
# Where objects of a kind are that are not a tenant's.
_ELSEWHERE = {"ElasticQuotaTree": "kube-system", "Queue": "kube-queue", "TenantProfile": "", "Namespace": ""}
# How the gateway asks whether a kind is served: nothing is written by it.
PROBE = ("default", "fairway.is-it-served", [])
QUICK = WatchPace(first=0.01, most=0.05, absent=0.05)


def place(kind: str) -> str:
    """The namespace of an object of this kind."""
    return _ELSEWHERE.get(kind.partition(".")[0], "team-a")


class Hasty(SystemClock):
    """Real time, but nobody is made to wait for it."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0.001)


class Counted:
    """A cluster whose writes are counted, by verb and kind."""

    def __init__(self, cluster: KubernetesCluster) -> None:
        self._cluster = cluster
        self.writes: Counter[tuple[str, str]] = Counter()

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._cluster, name)
        if name not in ("create", "patch", "drop"):
            return call

        async def counted(kind: str, *rest: Any) -> Any:
            self.writes[name, kind] += rest != PROBE
            return await call(kind, *rest)

        return counted


async def run_hub(hub: Cluster, world: World) -> None:
    """The hub service, until cancelled. It ends when all of it has: its lease is given back to a store that is open."""
    catalog = Catalog()
    async with asyncio.TaskGroup() as group:
        group.create_task(catalog.run(world.bus, world.clock))
        await catalog.known.wait()
        group.create_task(Loop(hub_service.service(hub, world, catalog), world, Meter()).run())


class House:
    """A hub, and its service that can be started and stopped beside a bus and a store that stay."""

    def __init__(self, hub: KubernetesCluster, inside: SimCluster) -> None:
        self._inside = inside
        self.hub = hub
        self.bus = MemoryBus()
        self.store = MemoryStore(clock=SystemClock())
        self._counted: Any = Counted(hub)
        self.world = World(bus=self.bus, store=self.store, clock=Hasty(), owner="test")
        self._lives = 0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._lives += 1
        world = msgspec.structs.replace(self.world, owner=f"test-{self._lives}")
        self._task = asyncio.create_task(run_hub(self._counted, world))

    async def stop(self) -> None:
        """When all that it has decided is said."""
        assert self._task is not None
        while (await self.store.read(Wanted(whole=("outbox/hub",)))).whole.get("outbox/hub"):
            await asyncio.sleep(0.005)
        self._task.cancel()
        await asyncio.wait([self._task])

    async def apply(self, kind: str, name: str, into: str = "", labels: Json = OURS, **spec: Any) -> str:
        namespace = into or place(kind)
        meta = {"name": name, "labels": labels, **({"namespace": namespace} if namespace else {})}
        await self.hub.create(kind, {"metadata": meta, "spec": spec})
        found = await self.hub.get(kind, namespace, name)
        assert found is not None
        return str(found["metadata"]["uid"])

    async def delete(self, kind: str, name: str, into: str = "") -> None:
        """As kubectl does: in the background."""
        api = self._inside.api
        (short, _, version) = kind.partition(".")
        resource = api.registry.of_kind(version, short)
        assert resource is not None, kind
        api.delete(resource, api.get(resource, into or place(kind), name), Deletion())

    async def job(self, name: str = "train", into: str = "") -> str:
        pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}}
        return await self.apply(JOB, name, into, template=pod)

    async def wide(self, name: str) -> str:
        """A policy of all TFJobs: of these there are none."""
        return await self.apply(PP, name, resourceSelectors=[{"apiVersion": "kubeflow.org/v1", "kind": "TFJob"}])

    async def policy(self, name: str = "train") -> str:
        """A policy of the job of its name."""
        return await self.apply(PP, name, resourceSelectors=[{"apiVersion": "batch/v1", "kind": "Job", "name": name}])

    async def said(self, want: type[Any], count: int = 1) -> list[Any]:
        """Waits until so many messages of that type are stored; fails when they are not within 5 s."""
        stream, kind = ("JOBS", wire.Message) if issubclass(want, wire.JobMessage) else ("CONFIG", fleet.Message)
        found: list[Any] = []
        async with asyncio.timeout(5):
            async for one in self.bus.history(stream, live=True):
                message = msgspec.json.decode(one.data, type=kind) if one.data else None
                if isinstance(message, want):
                    found.append(message)
                if len(found) >= count:
                    return found
        raise AssertionError("history ended")

    async def until(self, name: str) -> list[fleet.Configured]:
        """Every setting that was said up to and with the one of that name."""
        found: list[fleet.Configured] = []
        async with asyncio.timeout(5):
            async for one in self.bus.history("CONFIG", live=True):
                message = msgspec.json.decode(one.data, type=fleet.Message) if one.data else None
                if isinstance(message, fleet.Configured):
                    found.append(message)
                    if message.name == name:
                        return found
        raise AssertionError("history ended")

    def count(self, want: type[Any]) -> int:
        return sum(one.subject.split(".")[2] == want.verb for one in self.bus._log["JOBS"])

    async def events(self, want: Callable[[Json], bool]) -> Json:
        return await self.seen("Event.v1", want)

    async def seen(self, kind: str, want: Callable[[Json], bool]) -> Json:
        """The object of that kind that is as wanted, as soon as there is one; fails when it takes longer than 5 s."""
        async with asyncio.timeout(5):
            async for change in self.hub.watch(kind):
                if not change.synced and not change.gone and want(change.manifest):
                    return change.manifest
        raise AssertionError("a watch never ends")

    async def vanished(self, kind: str, name: str) -> None:
        """Waits until the object is gone; fails when it takes longer than 5 s."""
        there = synced = False
        async with asyncio.timeout(5):
            async for change in self.hub.watch(kind):
                synced = synced or change.synced
                there = not change.gone if change.name == name else there
                if synced and not there:
                    return

    def writes(self, kind: str) -> dict[str, int]:
        """How often the gateway wrote objects of a kind, by verb."""
        return {verb: count for (verb, what), count in self._counted.writes.items() if what == kind}

    def digest(self, said: wire.Submitted) -> str:
        """As admission works it out."""
        return sha256(bytes(said.manifest) + b"".join(map(bytes, said.policies))).hexdigest()

    async def tell(self, job: Job | None, message: wire.JobMessage) -> Job:
        """Says what a service would say: row and message together."""
        job = fold(job, message)
        await self.store.load("jobs", {job.id: (job.rev, msgspec.json.encode(job))})
        await self.store.load("live", {} if job.ended else {job.id: (1, b'""')})
        subject = f"fairway.job.{message.verb}.{message.tenant}"
        await self.bus.publish([Outgoing(f"{job.id}-{job.rev}", subject, msgspec.json.encode(message))])
        return job


@asynccontextmanager
async def opened() -> AsyncIterator[House]:
    sim = KubeSim(SystemClock())
    await sim.start_cluster("hub", controllers=False)
    options = Options(tuple(sorted(KINDS)), pace=QUICK)
    hub = await KubernetesCluster.from_kubeconfig("hub", sim.kubeconfig("hub"), options)
    one = House(hub, sim.clusters["hub"])
    await one.store.finish_rebuild("0-house")
    one.start()
    yield one
    await one.stop()
    await hub.close()
    await sim.stop()


def admitted(uid: str, name: str = "train") -> wire.Admitted:
    work = Workload("batch/v1", "Job", "team-a", name, (PodSet("pod", 1, {}),), 1)
    lies = wire.ManifestRef(1, "0", 1)
    hub = wire.HubRef(uid, "jobs")
    spec = wire.JobSpec(workload=work, policy="p", placement=Placement(), manifest=lies, hub=hub)
    return wire.Admitted(job=job_id("team-a", f"hub:{uid}", name), tenant="team-a", attempt=1, rev=1, spec=spec)
