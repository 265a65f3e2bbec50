"""The benchmark on real Kubernetes: a hub and three members of real API servers, jobs applied on the hub as a client of
Kubernetes would, until they exist in a member."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.lab.bench.kubernetes import load
from fairway.lab.bench.measuring.facts import cpu, peak_mib
from fairway.lab.bench.measuring.journeys import percentiles
from fairway.lab.bench.measuring.outcome import BenchOutcome, Goal
from fairway.lab.bench.pipeline.fleet import Spent, Tell, pids
from fairway.lab.bench.runs import KubernetesRun
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan, running
from fairway.lab.kubereal.members import HUB

# What users of Karmada and MultiKueue get on two cores, bettered (docs/performance.md has the comparison).
GOALS = {
    "jobs_per_second": Goal(least=100),
    "burst_p95_ms": Goal(most=10_000),
    "cpu_ms_per_job": Goal(most=20),
    "calm_p50_ms": Goal(most=60),
    "calm_p99_ms": Goal(most=150),
    "freed_p99_ms": Goal(most=300),
}


class KubernetesScene:
    """The clusters as the benchmark's own clients see them."""

    def __init__(
        self, fleet: EmbeddedFleet, clusters: Mapping[str, KubernetesCluster], arrived: Callable[[], None]
    ) -> None:
        self.fleet = fleet
        self.clusters = clusters
        self.hub = clusters[HUB]
        self.sightings = load.Sightings(arrived)

    @property
    def members(self) -> list[KubernetesCluster]:
        return [one for name, one in self.clusters.items() if name != HUB]

    def pids(self) -> dict[str, int]:
        assert self.fleet.sim is not None, "the fleet is real"
        return {**self.fleet.sim.said["pids"], **pids(self.fleet)}


async def measure(run: KubernetesRun, dir: Path, tell: Tell) -> BenchOutcome:
    tell("starting", 0)
    async with _scene(run, dir, lambda: tell("", 1)) as scene:
        tell("bare servers", 0)
        figures = await load.bare(scene.members[-1], run.jobs, lambda: cpu(scene.pids()))
        tell("warming up", run.warmup)
        await _burst(scene, _names("warm", run.warmup))
        tell("burst", run.jobs)
        measured, spent, calls = await _measured_burst(scene, _names("burst", run.jobs))
        ratio = measured["jobs_per_second"] / figures["bare_jobs_per_second"]
        figures |= {**measured, "ratio_to_bare": round(ratio, 2)}
        tell("calm", run.calm)
        figures |= await _calm(scene, _names("calm", run.calm), run.rate)
        tell("freed", run.freed + 1)
        figures |= await _freed(scene, run.freed)
        return BenchOutcome(
            figures=figures,
            goals=GOALS,
            counts={"twice": scene.sightings.twice},
            cpu_seconds_per_job=spent,
            rss_peak_mib=peak_mib(scene.pids()),
            details={"calls_per_job": calls, "places": dict(scene.sightings.places)},
            stubbed="nothing; pods run on nodes by kwok",
            reference="the API servers alone with three creates a job, by the same client, seen by nobody",
        )


@contextlib.asynccontextmanager
async def _scene(run: KubernetesRun, dir: Path, arrived: Callable[[], None]) -> AsyncIterator[KubernetesScene]:
    # None of the jobs ends, and all of them find room.
    gpus = (run.warmup + run.jobs + run.calm) * load.GPUS_PER_JOB // (3 * load.NODES) + 8
    plan = FleetPlan(load.members(gpus), real=True)
    async with running(dir, plan) as fleet:
        files = {HUB: fleet.hub_kubeconfig, **{path.stem: path for path in fleet.kubeconfigs.glob("*.kubeconfig")}}
        clusters = {name: await KubernetesCluster.from_kubeconfig(name, path) for name, path in sorted(files.items())}
        scene = KubernetesScene(fleet, clusters, arrived)
        tasks = [asyncio.create_task(scene.sightings.watch(one)) for one in scene.members]
        try:
            yield scene
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.gather(*(one.close() for one in clusters.values()))


def _names(kind: str, count: int) -> list[str]:
    return [f"{kind}-{at}" for at in range(count)]


async def _burst(scene: KubernetesScene, names: Sequence[str]) -> None:
    await load.submit(scene.hub, scene.sightings, names)
    await scene.sightings.all_of(names)


async def _measured_burst(
    scene: KubernetesScene, names: Sequence[str]
) -> tuple[dict[str, float], dict[str, float], dict[str, Any]]:
    """Figures, seconds of processor time a job by process, and calls a job by server."""
    since = Spent(scene.pids())
    asked = await load.calls(scene.clusters)
    await _burst(scene, names)
    seen = scene.sightings
    took = max(seen.seen[name] for name in names) - min(seen.sent[name] for name in names)
    await _settled(scene)
    each = load.calls_per_job(asked, await load.calls(scene.clusters), len(names))
    spent = since.per_job(len(names))
    figures = {
        "jobs_per_second": round(len(names) / took, 1),
        "cpu_ms_per_job": round(spent["all"] * 1000, 2),
        "hub_calls_per_job": round(sum(each[HUB].values()), 2),
        "member_calls_per_job": round(sum(sum(more.values()) for name, more in each.items() if name != HUB), 2),
        **percentiles("burst_", seen.latencies(names), 50, 95, 99),
    }
    return figures, spent, each


async def _settled(scene: KubernetesScene) -> None:
    """What is still written about the jobs of a burst belongs to its cost: until the hub is quiet for a second."""
    last = -1
    while True:
        now = sum(count for what, count in (await load.calls({HUB: scene.hub}))[HUB].items() if "GET" not in what)
        if now == last:
            return
        last = now
        await asyncio.sleep(1)


async def _calm(scene: KubernetesScene, names: Sequence[str], rate: float) -> dict[str, float]:
    await load.offer(scene.hub, scene.sightings, names, rate)
    await scene.sightings.all_of(names)
    return percentiles("calm_", scene.sightings.latencies(names), 50, 95, 99)


async def _freed(scene: KubernetesScene, rounds: int) -> dict[str, float]:
    """One GPU, jobs that wait for it in turn: from the word that one has ended until the next is there."""
    north = scene.clusters["north"]
    names = _names("turn", rounds + 1)
    for name in names:
        await scene.hub.create(load.POLICY, load.policy(name))
        await scene.hub.create(load.JOB, load.job(name, load.SMALL))
    took: list[float] = []
    left = set(names)
    current = await _next(scene, left)
    while len(left) > 1:
        left.discard(current)
        await asyncio.sleep(0.3)  # so that the others are known to wait
        at = await load.finish(north, current)
        current = await _next(scene, left)
        took.append(1000 * (scene.sightings.seen[current] - at))
    return percentiles("freed_", took, 50, 99)


async def _next(scene: KubernetesScene, names: set[str], patience_s: float = 60.0) -> str:
    """The one of these that has come to be in a member."""
    async with asyncio.timeout(patience_s):
        while True:
            for name in sorted(names):
                if name in scene.sightings.seen:
                    return name
            await asyncio.sleep(0.002)
