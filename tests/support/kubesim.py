"""What the kubesim tests share: a clock, clusters, short manifests, and waiting for an object without sleeping."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp

from fairway.lab.kubesim import KubeSim, NodeGroup, SimCluster
from fairway.lab.kubesim.api.metadata import Deletion
from fairway.lab.kubesim.api.store import Event, Key

Json = dict[str, Any]
GPU_NODE = {"cpu": "32", "memory": "64Gi", "nvidia.com/gpu": "8"}
TORCH = "/apis/kubeflow.org/v1/namespaces/team-a/pytorchjobs"
PATIENCE = 10.0


class FixedClock:
    def now(self) -> int:
        return 1_700_000_000_000


@contextlib.asynccontextmanager
async def simulated(name: str = "one", nodes: int = 0, controllers: bool = True) -> AsyncIterator[SimCluster]:
    """A cluster with `nodes` nodes of 8 GPUs, served on a free port."""
    sim = KubeSim(FixedClock(), default_run_ms=20)
    groups = [NodeGroup(nodes, "gpu", GPU_NODE)] if nodes else []
    await sim.start_cluster(name, nodes=groups, controllers=controllers)
    try:
        yield sim.clusters[name]
    finally:
        await sim.stop()


@contextlib.asynccontextmanager
async def served(controllers: bool = False) -> AsyncIterator[tuple[SimCluster, aiohttp.ClientSession]]:
    """A hub (no controllers) or a member without nodes, and an HTTP client of it."""
    async with simulated(controllers=controllers) as cluster, aiohttp.ClientSession(cluster.url) as client:
        yield cluster, client


def template(gpus: int = 1, **behaviour: str) -> Json:
    """A pod template; `run_for="5s"` becomes the annotation fairway.test/run-for."""
    annotations = {f"fairway.test/{key.replace('_', '-')}": value for key, value in behaviour.items()}
    container = {"name": "main", "image": "x", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
    return {"metadata": {"annotations": annotations}, "spec": {"containers": [container]}}


def torch(name: str = "a", workers: int = 1, gpus: int = 1, **behaviour: str) -> Json:
    def role(replicas: int) -> Json:
        return {"replicas": replicas, "restartPolicy": "Never", "template": template(gpus, **behaviour)}

    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {"pytorchReplicaSpecs": {"Master": role(1), "Worker": role(workers)}},
    }


def single_pod(**behaviour: str) -> Json:
    made = template(0, **behaviour)
    meta = {"name": "j", "namespace": "team-a", **made["metadata"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {**made["spec"], "restartPolicy": "Never"}}


def submit(cluster: SimCluster, manifest: Json) -> Key:
    """Creates without HTTP; the object's key."""
    kind = cluster.api.registry.of_kind(manifest["apiVersion"], manifest["kind"])
    assert kind, manifest["kind"]
    return cluster.api.create(kind, manifest["metadata"].get("namespace", ""), manifest).key


def remove(cluster: SimCluster, key: Key, policy: str = "Background") -> None:
    """Deletes without HTTP."""
    stored = cluster.api.store.get(key)
    assert stored
    kind = cluster.api.resource_of(stored)
    assert kind
    cluster.api.delete(kind, stored, Deletion(policy=policy))


async def until(cluster: SimCluster, key: Key, holds: Callable[[Json], bool]) -> Json:
    """The object as soon as `holds` of it; it may be gone: then `holds` is asked of {}."""
    found: asyncio.Future[Json] = asyncio.get_running_loop().create_future()

    def look(event: Event | None) -> None:
        stored = cluster.api.store.get(key)
        obj = stored.obj if stored else {}
        if not found.done() and holds(obj):
            found.set_result(obj)

    stop = cluster.api.store.listen(key.storage, look)
    look(None)
    try:
        return await asyncio.wait_for(found, PATIENCE)
    finally:
        stop()


def true_conditions(obj: Json) -> set[str]:
    listed = obj.get("status", {}).get("conditions", ())
    return {one["type"] for one in listed if one.get("status") == "True"}


def pods(cluster: SimCluster) -> dict[str, str]:
    """Name → phase."""
    return {one.key.name: one.obj["status"]["phase"] for one in cluster.api.store.shelf("pods")}
