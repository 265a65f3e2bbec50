"""What the tests of the cluster port share: a simulated cluster, the port on it, and objects to apply."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fairway.adapters.kubernetes.cluster import KubernetesCluster, Options
from fairway.adapters.kubernetes.watch import WatchPace
from fairway.adapters.system_clock import SystemClock
from fairway.lab.kubesim import KubeSim, NodeGroup, SimCluster
from fairway.runtime.cluster_port import Change

Json = dict[str, Any]
JOB = "Job.batch/v1"
POD = "Pod.v1"
OURS = {"fairway.io/job": "j1", "fairway.io/attempt": "1"}
QUICK = WatchPace(first=0.01, most=0.05, absent=0.02, page=2)
PATIENCE_S = 20.0
NODES = NodeGroup(1, "node", {"cpu": "4", "memory": "8Gi"})
KINDS = (JOB, "PyTorchJob.kubeflow.org/v1", "Absent.example.org/v1", "Workflow.argoproj.io/v1alpha9")


@asynccontextmanager
async def simulated() -> AsyncIterator[tuple[KubernetesCluster, SimCluster]]:
    """The port, and the cluster behind it as only a test may touch it."""
    sim = KubeSim(SystemClock(), default_run_ms=60_000)
    await sim.start_cluster("m1", nodes=[NODES])
    cluster = await KubernetesCluster.from_kubeconfig("m1", sim.kubeconfig("m1"), Options(KINDS, pace=QUICK))
    try:
        yield cluster, sim.clusters["m1"]
    finally:
        await cluster.close()
        await sim.stop()


def job(team: str, name: str = "train", labels: Json | None = None, **annotations: str) -> Json:
    labels = OURS if labels is None else labels
    notes = {"fairway.test/" + key.replace("_", "-"): value for key, value in annotations.items()}
    pod = {
        "metadata": {"labels": labels, "annotations": notes},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]},
    }
    return {"metadata": {"name": name, "namespace": team, "labels": labels}, "spec": {"template": pod}}


def config_map(team: str, name: str, labels: Json | None = None) -> Json:
    return {"metadata": {"name": name, "namespace": team, "labels": {"team": team, **(labels or {})}}}


async def until(changes: AsyncIterator[Change], want: Callable[[Change], bool]) -> list[Change]:
    """What is told up to and with the first change that is wanted."""
    told: list[Change] = []
    async with asyncio.timeout(PATIENCE_S):
        async for change in changes:
            told.append(change)
            if want(change):
                return told
    raise AssertionError("a watch never ends")


def synced(change: Change) -> bool:
    return change.synced


def names(changes: list[Change]) -> list[str]:
    return [("-" if change.gone else "+") + change.name for change in changes if not change.synced]
