"""An agent beside a simulated cluster, over HTTP: what runs there is what it reports."""

import asyncio
from collections.abc import AsyncIterator, Callable

import msgspec
import pytest

from fairway.adapters.kubernetes.cluster import KubernetesCluster, Options
from fairway.adapters.kubernetes.watch import WatchPace
from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.system_clock import SystemClock
from fairway.agent import SHAPES, Agent, AgentSettings
from fairway.lab.kubesim import KubeSim, NodeGroup
from fairway.wire import subjects
from fairway.wire.capacity import Node
from fairway.wire.fleet import Report
from tests.support.memory.clock import CountingIds

JOB = "Job.batch/v1"
GPU = NodeGroup(2, "gpu", {"cpu": "4", "nvidia.com/gpu": "2"}, labels={"type": "A100"})
LABELS = {"fairway.io/job": "j1", "fairway.io/attempt": "1", "fairway.io/pod-set": "main"}
Rows = dict[str, Node]


@pytest.fixture
async def sim() -> AsyncIterator[KubeSim]:
    sim = KubeSim(SystemClock(), default_run_ms=60_000)
    await sim.start_cluster("m1", nodes=[GPU])
    yield sim
    await sim.stop()


@pytest.fixture
async def bus(sim: KubeSim) -> AsyncIterator[MemoryBus]:
    """What the agent says."""
    options = Options((JOB,), pace=WatchPace(first=0.01, most=0.05), shapes=SHAPES)
    cluster = await KubernetesCluster.from_kubeconfig("m1", sim.kubeconfig("m1"), options)
    bus = MemoryBus()
    settings = AgentSettings(heartbeat=0.05, coalesce=0.005)
    task = asyncio.create_task(Agent(cluster, bus, SystemClock(), CountingIds(), settings).run())
    yield bus
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await cluster.close()


async def until(bus: MemoryBus, want: Callable[[Rows], bool]) -> Rows:
    """The nodes as the reports tell them, followed until they are as wanted; each report follows the one before."""
    rows: Rows = {}
    sequence = 0
    async with asyncio.timeout(5):
        async for one in bus.history(subjects.CLUSTERS, live=True):
            if one.data:
                report = msgspec.json.decode(one.data, type=Report)
                assert report.sequence == sequence + 1
                sequence = report.sequence
                kept = {} if report.full else {name: row for name, row in rows.items() if name not in report.gone}
                rows = kept | {row.name: row for row in report.nodes}
                if want(rows):
                    return rows
    raise AssertionError("reports never end")


def job() -> dict[str, object]:
    gpu = {"resources": {"limits": {"cpu": "1", "nvidia.com/gpu": "2"}}}
    spec = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x", **gpu}]}
    template = {"metadata": {"labels": LABELS, "annotations": {"fairway.test/run-for": "100ms"}}, "spec": spec}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train", "namespace": "team", "labels": LABELS},
        "spec": {"parallelism": 2, "completions": 2, "template": template},
    }


async def test_nodes_are_reported_as_the_cluster_has_them(bus: MemoryBus) -> None:
    rows = await until(bus, lambda rows: len(rows) == 2)
    assert rows["gpu-0"].allocatable["nvidia.com/gpu"] == 2
    assert rows["gpu-0"].labels["type"] == "A100" and rows["gpu-0"].schedulable


async def test_a_job_is_seen_on_its_nodes_and_no_longer_when_it_has_ended(sim: KubeSim, bus: MemoryBus) -> None:
    await until(bus, lambda rows: len(rows) == 2)
    api = sim.clusters["m1"].api
    resource = api.registry.of_kind("batch/v1", "Job")
    assert resource
    api.create(resource, "team", job())
    rows = await until(bus, lambda rows: all(row.attempts for row in rows.values()) and len(rows) == 2)
    for row in rows.values():
        assert row.attempts["j1/1"].counts == {"main": 1}
        assert row.attempts["j1/1"].requests == {"cpu": 1000, "nvidia.com/gpu": 2, "pods": 1}
    began = False

    def over(rows: Rows) -> bool:
        nonlocal began
        busy = any(row.attempts for row in rows.values())
        began = began or busy
        return began and not busy

    assert set(await until(bus, over)) == {"gpu-0", "gpu-1"}


async def test_a_lost_node_is_reported_as_taking_no_pods(sim: KubeSim, bus: MemoryBus) -> None:
    await until(bus, lambda rows: len(rows) == 2)
    sim.clusters["m1"].control.lose_node("gpu-1")
    rows = await until(bus, lambda rows: len(rows) == 2 and not rows["gpu-1"].schedulable)
    assert rows["gpu-0"].schedulable
