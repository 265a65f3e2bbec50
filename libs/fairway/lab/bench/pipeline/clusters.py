"""The pipeline with few clusters and with very many, one fleet after the other: whether the rate stays, and what agents
and the cache take."""

import asyncio
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from redis.asyncio import Redis

from fairway.lab.bench.measuring.journeys import Journeys
from fairway.lab.bench.measuring.outcome import BenchOutcome, Goal
from fairway.lab.bench.pipeline import load
from fairway.lab.bench.pipeline.agents import News, ReportedNodes
from fairway.lab.bench.pipeline.fleet import STUBBED, PipelineScene, Tell, dispatching, groups, saturated, scene
from fairway.lab.bench.runs import ClustersRun
from fairway.lab.fleet.fleet import FleetPlan
from fairway.wire.capacity import Node

GOALS = {"flatness": Goal(least=0.8)}
# What a stranger's pod takes that comes and goes.
_STRANGER = {"cpu": 2_000, "memory": 4 << 30}
_PATIENCE_S = 120.0


async def measure(run: ClustersRun, dir: Path, tell: Tell) -> BenchOutcome:
    found = {clusters: await _at(run, clusters, dir / f"{clusters}", tell) for clusters in run.sizes}
    rates = [one.figures["jobs_per_second"] for one in found.values()]
    outcome = BenchOutcome(figures={"flatness": round(min(rates) / max(rates), 3)}, goals=GOALS, stubbed=STUBBED)
    for clusters, one in found.items():
        outcome.take(one, f"{clusters}")
    return outcome


async def _at(run: ClustersRun, clusters: int, dir: Path, tell: Tell) -> BenchOutcome:
    tell(f"loading {clusters}", 0)
    size = load.GangSize(run.warmup + run.jobs, clusters, run.nodes, run.tenants, run.seed)
    loop = asyncio.get_running_loop()
    ground = load.ground(size)
    start = loop.time()
    plan = FleetPlan((), groups=groups(run.processes), stub_clusters=True)
    async with scene(dir, ground, plan, run.every_s, strangers(ground, run.changes)) as on:
        loaded = loop.time() - start
        cache = await _cache_mib(on)
        journeys = Journeys(on.bus, load.submissions(size), lambda: tell("", 1), patience_s=_PATIENCE_S)
        async with dispatching(on.bus, journeys):
            tell(f"warming up {clusters}", run.warmup)
            await journeys.saturate(run.warmup, run.window)
            tell(f"{clusters} clusters", run.jobs)
            said = on.agents.said_bytes
            took, spent = await saturated(journeys, run.jobs, run.window, on.pids())
        return BenchOutcome(
            figures={
                "jobs_per_second": round(run.jobs / took, 1),
                "cpu_us_per_job": round(spent["all"] * 1e6, 1),
                "agent_kib_per_second": round((on.agents.said_bytes - said) / took / 1024, 1),
                "cache_mib": cache,
                "loaded_seconds": round(loaded, 1),
            },
            counts=journeys.counts(),
            cpu_seconds_per_job=spent,
            rss_peak_mib=on.peaks(),
        )


def strangers(ground: ReportedNodes, changes: int) -> News:
    """Of each cluster in turn the next few nodes: a stranger's pod is there, or gone."""
    turns = {name: count() for name in ground.clusters}

    def news(cluster: str) -> Sequence[Node]:
        nodes = ground.clusters[cluster]
        turn = next(turns[cluster])
        picked = [turn * changes + at for at in range(min(changes, len(nodes)))]
        return [
            msgspec.structs.replace(nodes[at % len(nodes)], used=_STRANGER if at // len(nodes) % 2 == 0 else {})
            for at in picked
        ]

    return news


async def _cache_mib(on: PipelineScene) -> float:
    valkey = Redis.from_url(on.fleet.valkey.url)
    try:
        facts: dict[str, Any] = await valkey.info("memory")
        return round(float(facts["used_memory"]) / 2**20, 1)
    finally:
        await valkey.aclose()
