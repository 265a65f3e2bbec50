"""What the tests of held room work with: nodes of their own, a gang to hold room for, and a stranger who wants it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from fairway.adapters.kubernetes.cluster import KubernetesCluster, Options
from fairway.adapters.kubernetes.namespaces import ACCOUNT
from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.system_clock import SystemClock
from fairway.agent import SHAPES
from fairway.domain import decision
from fairway.domain.decision import Put, Step
from fairway.domain.job import State
from fairway.domain.tenancy import member_namespace
from fairway.domain.tenancy.profile import BASELINE
from fairway.join import rights
from fairway.lab.kubereal.admin import admin
from fairway.lab.kubereal.control_plane import Plane
from fairway.propagator.held_room import Room
from fairway.propagator.rooms import Rooms
from fairway.runtime.ports import Commit
from fairway.runtime.views.members import Facts
from fairway.wire.capacity import PLACEHOLDERS, RESERVATIONS, ClusterInfo, Slot
from fairway.wire.workload import PodSet
from fairway.workloads.member_copy import Terms, member_copy
from fairway.workloads.seal import SEAL

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
# A test's nodes take one pod of its gang each, and nobody else's pods (the toleration is the test's own).
SIZE = {"cpu": 4_000, "memory": 8 << 30, GPU: 8}
TOTAL = {"cpu": "8", "memory": "32Gi", "pods": "110", GPU: "8"}


class Ground:
    """Some nodes of a member, for one test; `name` labels and taints them."""

    def __init__(self, plane: Plane, name: str) -> None:
        self.plane = plane
        self.name = name
        self.cluster: KubernetesCluster
        self.nodes: list[str] = []
        self.store = MemoryStore()
        self._opened: list[KubernetesCluster] = []
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def open(self, nodes: int) -> None:
        self.cluster = await KubernetesCluster.from_kubeconfig("m", self.plane.kubeconfig, Options(shapes=SHAPES))
        await until(lambda: self.cluster.get("ServiceAccount.v1", "default", "default"), "pods can be made")
        labels = member_namespace.made("default", BASELINE)
        await self.cluster.patch("Namespace.v1", "", "default", {"metadata": {"labels": labels}})
        self.nodes = [f"{self.name}-{number}" for number in range(nodes)]
        for node in self.nodes:
            labels = {"ground": self.name, "kubernetes.io/hostname": node}
            taint = {"key": "ground", "value": self.name, "effect": "NoSchedule"}
            status = {"allocatable": TOTAL, "capacity": TOTAL}
            meta = {"name": node, "labels": labels}
            await self.cluster.create("Node.v1", {"metadata": meta, "spec": {"taints": [taint]}, "status": status})
        await self.store.begin_rebuild("holds", 60_000)
        await self.store.finish_rebuild("e1")
        way = RESERVATIONS if self.plane.name == "koord" else PLACEHOLDERS
        await self._write(Put(decision.CLUSTERS, "m", ClusterInfo("m", holds=(way,))))

    async def close(self) -> None:
        for task in list(self._tasks.values()):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        for node in self.nodes:
            await self.cluster.discard("Node.v1", "", {"ground": self.name}, node)
        for cluster in (self.cluster, *self._opened):
            await cluster.close()

    async def join(self, reserve: str) -> KubernetesCluster:
        """The member as its own account sees it, with the rights that `fairway join --reserve` gives."""
        async with admin(self.plane) as api:
            await api.apply(rights.objects(Facts(reserve=reserve, placeholder_image="pause")))
        path = f"/api/v1/namespaces/fairway-system/serviceaccounts/{ACCOUNT}/token"
        headers = {"Authorization": f"Bearer {self.plane.token}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.post(self.plane.url + path, json={"spec": {"expirationSeconds": 3600}}, ssl=False) as answer,
        ):
            token = (await answer.json())["status"]["token"]
        config = self.plane.kubeconfig_of(token)
        self._opened.append(await KubernetesCluster.from_kubeconfig("m", config, Options(shapes=SHAPES)))
        return self._opened[-1]

    def rooms(self, cluster: KubernetesCluster | None = None) -> Rooms:
        """A propagator's part that holds room, alive until the test ends or `kill`s it."""
        rooms = Rooms({"m": cluster or self.cluster}, self.store.beside(), SystemClock(), lambda _: "pause")
        self._tasks[id(rooms)] = asyncio.create_task(rooms.run(None))
        return rooms

    async def kill(self, rooms: Rooms) -> None:
        task = self._tasks.pop(id(rooms))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    def room(self, way: str, pods: int = 0, ttl: int = 120) -> Room:
        """For a gang of one pod a node, the first of them."""
        slots = tuple(Slot("pod", node, 1) for node in self.nodes[: pods or len(self.nodes)])
        selector = {"ground": self.name}
        tolerations = msgspec.convert([{"key": "ground", "operator": "Exists"}], PodSet.__annotations__["tolerations"])
        main = PodSet("pod", len(slots), SIZE, selector, tolerations=tolerations)
        return Room(way, f"job-{self.name}", 1, "default", slots, (main,), ttl=ttl)

    def pod(self, name: str, **labels: str) -> Json:
        spec: Json = {
            "nodeSelector": {"ground": self.name},
            "tolerations": [{"key": "ground", "operator": "Exists"}],
            "containers": [{"name": "main", "image": "x", "resources": {"limits": {GPU: "8", "cpu": "4"}}}],
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
        }
        if self.plane.name == "koord":
            spec["schedulerName"] = "koord-scheduler"
        meta = {"name": name, "namespace": "default", "labels": {"ground": self.name, **labels}}
        return {"metadata": meta, "spec": spec}

    async def apply(self, room: Room, cluster: KubernetesCluster | None = None) -> None:
        """As the propagator does: the member's own copy of a Job with one pod for each of the rooms."""
        pods = self.pod("x")["spec"]
        total = len(room.names)
        pods.pop("schedulerName", None)
        spec = {"parallelism": total, "completions": total, "template": {"spec": pods}}
        meta = {"name": self.name, "namespace": "default"}
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}
        copy = member_copy(job, room.job, room.attempt, terms=Terms(room.way))
        copy["metadata"].setdefault("annotations", {})[SEAL] = "of a test"
        await (cluster or self.cluster).apply("Job.batch/v1", copy)

    async def known(self, room: Room, state: State, attempt: int = 1) -> None:
        """The job's row, as the store has it."""
        row = {"id": room.job, "state": state, "attempt": attempt}
        await self._write(Put(decision.JOBS, room.job, row))

    async def _write(self, *writes: Put) -> None:
        await self.store.open()
        await self.store.commit(Commit((Step(writes),)))

    async def pods(self, namespace: str = "default", selector: str = "") -> list[Json]:
        url = f"{self.plane.url}/api/v1/namespaces/{namespace}/pods"
        return await self._items(url, selector or f"ground={self.name}")

    async def ours(self, room: Room) -> list[Json]:
        return await self.pods(selector=f"fairway.io/job={room.job}")

    async def held(self, room: Room) -> list[Json]:
        """What holds the room, whichever way."""
        base = "apis/scheduling.koordinator.sh/v1alpha1/reservations"
        base = base if room.way == "reservations" else "api/v1/namespaces/fairway-system/pods"
        return await self._items(f"{self.plane.url}/{base}", f"fairway.io/job={room.job}")

    async def _items(self, url: str, selector: str) -> list[Json]:
        headers = {"Authorization": f"Bearer {self.plane.token}"}
        query = {"labelSelector": selector}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.get(url, params=query, ssl=False) as answer,
        ):
            found: Json = await answer.json()
        return found.get("items", [])


@contextlib.asynccontextmanager
async def ground(plane: Plane, name: str, nodes: int) -> AsyncIterator[Ground]:
    found = Ground(plane, name)
    await found.open(nodes)
    try:
        yield found
    finally:
        await found.close()


async def until(look: Callable[[], Any], what: str, seconds: float = 30.0) -> Any:
    """What `look` finds, as soon as it is true."""
    end = asyncio.get_running_loop().time() + seconds
    while not (seen := await look()):
        assert asyncio.get_running_loop().time() < end, f"not within {seconds:.0f} s: {what}"
        await asyncio.sleep(0.02)
    return seen


def dir_of(factory: Any) -> Path:
    return Path(str(factory.mktemp("holds")))
