"""A hub, and the mirror in front of it, as a test may handle them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import msgspec

from fairway.adapters.kubernetes.cluster import KubernetesCluster, Options
from fairway.adapters.kubernetes.watch import WatchPace
from fairway.adapters.system_clock import SystemClock
from fairway.domain.decision import Decision, Heard
from fairway.domain.job import Job
from fairway.lab.kubesim import KubeSim
from fairway.lab.kubesim.control import Control
from fairway.watcher.hub_status import final
from fairway.watcher.hub_status.mirror import HubStatusMirror
from fairway.wire import jobs as wire
from fairway.wire.workload import PodSet, Workload
from fairway.workloads.kinds.registry import KINDS
from tests.spec.builders.lives import Life
from tests.support.memory.cluster import MemoryCluster

Json = dict[str, Any]
JOB = "Job.batch/v1"


class Hub:
    """The port, counting what is asked of it; `gate` holds patches back while it is closed."""

    def __init__(self, port: KubernetesCluster) -> None:
        self._port = port
        self.calls: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.in_flight = 0
        self.full = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)

    async def patch(self, *args: Any) -> Json | None:
        self.calls.append("patch")
        self.in_flight += 1
        if self.in_flight == 16:
            self.full.set()
        await self.gate.wait()
        self.in_flight -= 1
        return await self._port.patch(*args)

    async def get(self, *args: Any) -> Json | None:
        self.calls.append("get")
        return await self._port.get(*args)


class House:
    """A hub with a Job `a`, a mirror in front of it, and one member; `told` and `saw` speak as the record and the
    member do."""

    def __init__(self, hub: Hub, control: Control) -> None:
        self.hub = hub
        self.control = control
        self.member = MemoryCluster("c1", SystemClock(), [JOB])
        self.uids: dict[str, str] = {}
        self.start()

    def start(self) -> None:
        port: Any = self.hub
        self.mirror = HubStatusMirror(port, {"c1": self.member}, SystemClock())
        self.task = asyncio.create_task(self.mirror.run())

    async def restart(self) -> None:
        await self.stop()
        self.hub.calls.clear()
        self.start()

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])

    async def make(self, name: str = "a", kind: str = JOB) -> None:
        pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}
        body = {"metadata": {"name": name, "namespace": "team-a"}, "spec": {"template": {"spec": pod}}}
        await self.hub.create(kind, body)
        found = await self.hub.get(kind, "team-a", name)
        assert found is not None
        self.uids[name] = found["metadata"]["uid"]
        self.hub.calls.clear()

    def job(self, life: Life, name: str = "a", kind: str = JOB) -> Job:
        plain, _, version = kind.partition(".")
        work = Workload(version, plain, "team-a", name, (PodSet("pod", 1, {}),), 1)
        assert life.now.spec is not None
        hub = wire.HubRef(self.uids[name], KINDS[kind].plural)
        return msgspec.structs.replace(life.now, spec=msgspec.structs.replace(life.now.spec, workload=work, hub=hub))

    def saw(self, job: Job, status: Json, attempt: int = 0) -> None:
        assert job.spec is not None
        work = job.spec.workload
        manifest = {"apiVersion": work.api_version, "kind": work.kind, "metadata": {"name": work.name}}
        self.mirror.saw(job, attempt or job.attempt, "c1", {**manifest, "status": status})

    async def told(self, job: Job, message: wire.JobMessage) -> Decision:
        """What the record says, handled to its end."""
        view: Any = type("View", (), {"jobs": {} if isinstance(message, wire.Rejected) else {job.id: job}})
        decision = final.decide(view, Heard("m1", message), 0)
        for call in decision.calls:
            outcome = await asyncio.wait_for(self.mirror(call), 5)
            decision = final.decide(view, Heard("m1", message, outcomes=(outcome,)), 0)
        return decision

    async def shows(self, name: str = "a", kind: str = JOB, **want: Any) -> Json:
        """The status, once it has these fields."""
        async with asyncio.timeout(5), aclosing(self.hub.watch(kind)) as changes:
            async for change in changes:
                found: Json = change.manifest.get("status") or {}
                if not change.synced and change.name == name and want.items() <= found.items():
                    return found
        raise AssertionError("a watch never ends")


@asynccontextmanager
async def opened() -> AsyncIterator[House]:
    sim = KubeSim(SystemClock())
    await sim.start_cluster("hub", controllers=False)
    options = Options(tuple(KINDS), pace=WatchPace(first=0.01, most=0.05))
    port = await KubernetesCluster.from_kubeconfig("hub", sim.kubeconfig("hub"), options)
    house = House(Hub(port), sim.clusters["hub"].control)
    await house.make()
    yield house
    await house.stop()
    await asyncio.gather(house.member.close(), port.close())
    await sim.stop()
