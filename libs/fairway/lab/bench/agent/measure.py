"""The benchmark of one agent: a process of its own, as in push mode, and a real API server with many nodes and pods."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from fairway.adapters.kubernetes.cluster import KubernetesCluster, Options
from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.system_clock import SystemClock
from fairway.agent.observe import SHAPES
from fairway.lab.bench.agent import load
from fairway.lab.bench.agent.fill import fill
from fairway.lab.bench.agent.reports import HeardReports
from fairway.lab.bench.measuring.background import beside
from fairway.lab.bench.measuring.facts import cpu, peak_mib
from fairway.lab.bench.measuring.journeys import percentiles
from fairway.lab.bench.measuring.outcome import BenchOutcome, Goal
from fairway.lab.bench.pipeline.fleet import Tell
from fairway.lab.bench.runs import AgentRun
from fairway.lab.kubereal.build import tools
from fairway.lab.kubereal.control_plane import Planes, Spec, planes
from fairway.lab.processes.embedded_servers import EmbeddedServer, nats_server, valkey_server
from fairway.lab.processes.service import Child
from fairway.runtime import private_files

GOALS = {"start_seconds": Goal(most=30), "steady_cpu_percent": Goal(most=5), "rss_peak_mib": Goal(most=300)}
CLUSTER = "big"
# Without controllers nobody would make the service account, or take away the taint of a node that is new.
_FLAGS = ("--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",)
_PATIENCE_S = 120.0


class AgentScene:
    """The servers, and the cluster as the benchmark's own client sees it."""

    def __init__(self, dir: Path, found: Planes, nats: EmbeddedServer, valkey: EmbeddedServer) -> None:
        self.planes = found
        self.nats = nats
        self.valkey = valkey
        self.cluster: KubernetesCluster
        self.bus: NatsBus
        environment = {
            "FAIRWAY_NATS_URL": nats.url,
            "FAIRWAY_REDIS_URL": f"{valkey.url}/0",
            "FAIRWAY_CLUSTERS_DIR": str(dir / "clusters"),
            "FAIRWAY_HUB_KUBECONFIG": "",
        }
        self.agent = Child("agent", "fairway.cli.main", ["run", "agent", "--announce"], dir / "agent.log", environment)

    def pids(self) -> dict[str, int]:
        found = {**self.planes.pids(), "nats": self.nats.pid, "valkey": self.valkey.pid}
        return {**found, "agent": self.agent.pid, "bench": os.getpid()}


async def measure(run: AgentRun, dir: Path, tell: Tell) -> BenchOutcome:
    tell("starting", 0)
    async with _scene(run, dir, tell) as scene:
        sizes = {kind: len(await scene.cluster.raw(f"/api/v1/{kind}?limit=1")) for kind in ("nodes", "pods")}
        heard = await HeardReports.on(scene.bus, CLUSTER, run.nodes)
        tell("agent's start", 0)
        figures, counts = await _start(scene, heard)
        tell("pod changes", int(run.seconds))
        async with beside(load.beat(scene.cluster, run.nodes, SystemClock().now)):
            steady, costs = await _steady(scene, heard, run, tell)
        figures |= steady
        counts |= {"nodes_at_end": heard.nodes, "pods_at_end": heard.pods, "never_reported": heard.owed}
        return BenchOutcome(
            figures={name: round(value, 3) for name, value in figures.items()},
            goals=GOALS,
            counts=counts,
            rss_peak_mib=peak_mib(scene.pids()),
            stubbed="kubelets and controllers: the benchmark writes what they would",
            details=costs | {"object_bytes": sizes},
        )


@contextlib.asynccontextmanager
async def _scene(run: AgentRun, dir: Path, tell: Tell) -> AsyncIterator[AgentScene]:
    """The API server comes after the objects: it would be busy with the news of them for longer than they take."""
    async with (
        await nats_server(dir / "nats") as nats,
        await valkey_server(dir / "valkey") as valkey,
        planes(dir / "kubernetes", (), tools(("kube",))) as found,
    ):
        await _fill(found.store, run, tell)
        tell("API server", 0)
        file = (await found.add(Spec(CLUSTER, api_flags=_FLAGS))).kubeconfig
        # So that the agent finds the cluster in its folder.
        folder = private_files.folder(dir / "clusters")
        private_files.write(folder / f"{CLUSTER}.kubeconfig", file.read_bytes())
        scene = AgentScene(dir, found, nats, valkey)
        scene.cluster = await KubernetesCluster.from_kubeconfig(CLUSTER, file, Options(shapes=SHAPES))
        scene.bus = await NatsBus.connect(nats.url, "fairway-bench")
        await scene.bus.provision()
        try:
            yield scene
        finally:
            await scene.agent.stop()
            await scene.bus.close()
            await scene.cluster.close()


async def _fill(store: str, run: AgentRun, tell: Tell) -> None:
    tell("nodes", run.nodes)
    await fill(store, CLUSTER, "Node", map(load.node, range(run.nodes)), lambda: tell("", 1))
    tell("pods", run.pods)
    made = (load.standing(number, run.nodes) for number in range(run.pods))
    await fill(store, CLUSTER, "Pod", made, lambda: tell("", 1))


async def _start(scene: AgentScene, heard: HeardReports) -> tuple[dict[str, float], dict[str, int]]:
    """From the agent's start, interpreter and all, until every node has been reported."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await scene.agent.start()
    async with asyncio.timeout(_PATIENCE_S):
        await heard.complete.wait()
    pids = {"agent": scene.agent.pid}
    figures = {
        "start_seconds": heard.complete_at - begun,
        "start_cpu_seconds": cpu(pids)["agent"],
        "start_rss_peak_mib": peak_mib(pids)["agent"],
        "start_messages": float(heard.messages),
        "start_mib": heard.bytes / 2**20,
    }
    counts = {"nodes_at_start": heard.nodes, "pods_at_start": heard.pods, "nodes_twice": heard.rows - heard.nodes}
    return figures, counts


async def _steady(
    scene: AgentScene, heard: HeardReports, run: AgentRun, tell: Tell
) -> tuple[dict[str, float], dict[str, Any]]:
    loop = asyncio.get_running_loop()
    churn = load.Churn(scene.cluster, run.nodes, run.events, heard.expect)
    await churn.run(churn.warm)
    heard.begin()
    churn.writes.clear()
    pids = scene.pids()
    begun = loop.time()
    made = churn.made
    spent = cpu(pids)
    for _ in range(int(run.seconds)):
        await churn.run(int(run.events))
        tell("", 1)
    took = loop.time() - begun
    after = cpu(pids)
    figures = {
        "events_per_second": (churn.made - made) / took,
        "steady_cpu_percent": 0.0,
        "rss_peak_mib": 0.0,
        "reports_per_second": heard.messages / took,
        "bytes_per_report": heard.bytes / max(heard.messages, 1),
        "rows_per_report": heard.rows / max(heard.messages, 1),
    }
    share = {name: round(100 * (after[name] - spent[name]) / took, 2) for name in pids}
    await churn.drain()
    await heard.settled(_PATIENCE_S)
    for what, times in (("delay", heard.delays), ("write", churn.writes)):
        figures |= percentiles(f"{what}_", times, 50, 99)
    figures |= {"steady_cpu_percent": share["agent"], "rss_peak_mib": peak_mib(pids)["agent"]}
    return figures, {"cpu_percent_by_process": share, "changes_measured": len(heard.delays)}
