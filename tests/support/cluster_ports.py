"""The clusters that the promises of the cluster port are tested on, behind one face: in memory, simulated behind its
HTTP and simulated without. The real one is in tests/kubernetes/simulator/test_contract.py."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Protocol

from fairway.adapters.system_clock import SystemClock
from fairway.lab.kubesim import SimCluster
from fairway.lab.kubesim.api.metadata import Deletion
from fairway.lab.kubesim.cluster_port import KubesimCluster
from fairway.lab.simulation.hub.cluster import SimulatedHub
from fairway.lab.simulation.hub.port import HubPort
from fairway.lab.simulation.members.pods import EVERY
from fairway.lab.simulation.people.faults import PROFILES, FaultInjector
from fairway.lab.simulation.process import SimulatedProcess
from fairway.runtime import cluster_port
from tests.support.memory.cluster import MemoryCluster
from tests.support.simulated import JOB, KINDS, NODES, simulated

Json = dict[str, Any]
ABSENT = "Absent.example.org/v1"
CRD_KIND = "CustomResourceDefinition.apiextensions.k8s.io/v1"
CRD: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "absents.example.org"},
    "spec": {
        "group": "example.org",
        "scope": "Namespaced",
        "names": {"kind": "Absent", "plural": "absents", "singular": "absent", "listKind": "AbsentList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}


class House(Protocol):
    """`cluster` is the port, `team` a namespace that nobody else uses; `served` are those kinds that it has, of those
    that it was made for."""

    cluster: cluster_port.Cluster
    team: str
    served: tuple[str, ...]

    def refuse(self, mode: str, for_ms: int = 0) -> None:
        """`503`, `429` or `reset`, for a while or until `restore`."""
        ...

    def restore(self) -> None: ...
    async def behind(self, do: str, kind: str, name: str, body: Json | None = None) -> None:
        """Does something to an object that the port does not see: `create` or `delete`."""
        ...

    async def forget(self) -> None:
        """No watch can be continued from what was there before: it would be told 410."""
        ...


class StoreContents:
    team = "team"
    served = KINDS[:2]

    def __init__(self) -> None:
        self.twin = MemoryCluster("m1", SystemClock(), [JOB, KINDS[1]])
        self.cluster: cluster_port.Cluster = self.twin

    def refuse(self, mode: str, for_ms: int = 0) -> None:
        self.twin.away = True

    def restore(self) -> None:
        self.twin.away = False

    async def behind(self, do: str, kind: str, name: str, body: Json | None = None) -> None:
        if kind != "Namespace.v1":
            raise NotImplementedError("nothing happens in memory that the port does not do")
        if do == "create":
            self.twin.namespaces[name] = dict((body or {})["metadata"].get("labels") or {})
        else:
            del self.twin.namespaces[name]

    async def forget(self) -> None:
        raise NotImplementedError("a watch in memory never ends")


class Simulated:
    team = "team"
    served = KINDS[:2]

    def __init__(self, cluster: cluster_port.Cluster, sim: SimCluster) -> None:
        self.cluster = cluster
        self.sim = sim

    def refuse(self, mode: str, for_ms: int = 0) -> None:
        self.sim.control.refuse(mode, for_ms)

    def restore(self) -> None:
        self.sim.control.restore()

    async def behind(self, do: str, kind: str, name: str, body: Json | None = None) -> None:
        api = self.sim.api
        (short, _, version) = kind.partition(".")
        resource = api.registry.of_kind(version, short)
        assert resource is not None, kind
        namespace = self.team if resource.namespaced else ""
        if do == "create":
            api.create(resource, namespace, dict(body or {}))
        else:
            api.delete(resource, api.get(resource, namespace, name), Deletion())

    async def forget(self) -> None:
        self.sim.api.store.compact()


class Direct(Simulated):
    """A simulated cluster whose port calls its API. No watch of it breaks off."""

    def __init__(self, sim: SimCluster) -> None:
        self.port = KubesimCluster("m1", sim.api, KINDS)
        super().__init__(self.port, sim)

    def refuse(self, mode: str, for_ms: int = 0) -> None:
        self.port.away = True

    def restore(self) -> None:
        self.port.away = False

    async def forget(self) -> None:
        raise NotImplementedError("a watch without a connection never ends")


class Hub:
    """The hub of the simulation, as one of its processes reaches it. Nothing goes wrong but what is asked for."""

    team = "team"
    served = tuple(sorted(EVERY))

    def __init__(self) -> None:
        faults = FaultInjector(PROFILES["calm"], Random("hub"))
        process = SimulatedProcess("hub-a", faults, lambda one: None)
        self.hub = SimulatedHub(SystemClock())
        self.cluster: cluster_port.Cluster = HubPort(process, self.hub, faults)

    def refuse(self, mode: str, for_ms: int = 0) -> None:
        self.hub.away = True

    def restore(self) -> None:
        self.hub.away = False

    async def behind(self, do: str, kind: str, name: str, body: Json | None = None) -> None:
        raise NotImplementedError("people of the simulation do it themselves")

    async def forget(self) -> None:
        raise NotImplementedError("a watch without a connection never ends")


@asynccontextmanager
async def house(kind: str) -> AsyncIterator[House]:
    if kind == "memory":
        memory = StoreContents()
        yield memory
        await memory.twin.close()
    elif kind == "hub":
        yield Hub()
    elif kind == "direct":
        sim = SimCluster("m1", {}, SystemClock(), "m1")
        sim.run_jobs(60_000)
        sim.control.add_nodes(NODES)
        yield Direct(sim)
        await sim.stop()
    else:
        async with simulated() as (cluster, inside):
            yield Simulated(cluster, inside)
