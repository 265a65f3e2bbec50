"""The pipeline's benchmark: the embedded fleet with stubbed clusters, warm-up, saturation, half the rate, and then the
bare loop over the same bus."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from fairway.adapters.nats.bus import NatsBus
from fairway.lab.bench.measuring.background import beside
from fairway.lab.bench.measuring.facts import batch_facts
from fairway.lab.bench.measuring.journeys import Journeys, percentiles
from fairway.lab.bench.measuring.outcome import BenchOutcome, Goal
from fairway.lab.bench.pipeline import bare_bus, load
from fairway.lab.bench.pipeline.fleet import SPLITS, STUBBED, PipelineScene, Tell, dispatching, groups, saturated, scene
from fairway.lab.bench.runs import PipelineRun
from fairway.lab.fleet.fleet import FleetPlan
from fairway.lab.processes.service import Child
from fairway.wire import subjects
from fairway.wire.jobs import Dequeued

# What the order of the record tells of a job on its way, hop by hop.
VERBS = ("submitted", "admitted", "queue", "dequeued", "placed", "reserved", "dispatched")
_SAMPLE = 200
# Figures, and the seconds of a job by process.
_Measured = tuple[dict[str, float], dict[str, float]]
GOALS = {
    "jobs_per_second": Goal(least=3_000),
    "ratio_to_bare": Goal(least=0.5),
    "half_p50_ms": Goal(most=50),
    "half_p99_ms": Goal(most=250),
}


def _calm(run: PipelineRun) -> int:
    return max(run.jobs // 4, 1)


def _load_size(run: PipelineRun) -> load.GangSize:
    return load.GangSize(run.warmup + run.jobs + _calm(run), run.clusters, run.nodes, run.tenants, run.seed)


async def measure(run: PipelineRun, dir: Path, tell: Tell) -> BenchOutcome:
    tell("starting", 0)
    split = groups(run.processes)
    plan = FleetPlan((), split, stub_clusters=True, sync_interval=run.sync, nats_servers=run.servers)
    async with scene(dir, load.ground(_load_size(run)), plan) as on:
        outcome = await _pipeline(run, on, tell)
        sizes = [await _size(on.bus, verb) for verb in VERBS]
        outcome.details["message_bytes"] = dict(zip(VERBS, sizes, strict=True))
        outcome.details["quota_levels"] = await _levels(on.bus)
        for child in on.fleet.processes.values():
            await child.stop()
        bare, bare_spent = await _bare(run, on, sizes, tell)
    figures = outcome.figures
    figures["bare_jobs_per_second"] = bare["jobs_per_second"]
    figures["ratio_to_bare"] = round(figures["jobs_per_second"] / bare["jobs_per_second"], 3)
    figures["bare_cpu_us_per_job"] = bare["cpu_us_per_job"]
    outcome.details["bare_cpu_seconds_per_job"] = bare_spent
    return outcome


async def _pipeline(run: PipelineRun, on: PipelineScene, tell: Tell) -> BenchOutcome:
    journeys = Journeys(on.bus, load.submissions(_load_size(run)), lambda: tell("", 1))
    async with dispatching(on.bus, journeys):
        tell("warming up", run.warmup)
        await journeys.saturate(run.warmup, run.window)
        tell("saturated", run.jobs)
        figures, spent = await _saturated(run, journeys, on.pids())
        batches = await batch_facts(on.addresses())
        tell("at half the rate", _calm(run))
        await journeys.steady(_calm(run), figures["jobs_per_second"] / 2)
    calm = journeys.latencies(run.warmup + run.jobs)
    figures |= percentiles("half_", calm, 50, 99)
    return BenchOutcome(
        figures=figures,
        goals=GOALS,
        cpu_seconds_per_job=spent,
        rss_peak_mib=on.peaks(),
        counts=journeys.counts(),
        stubbed=STUBBED,
        details={"batches": batches},
        reference="a bare loop of seven hops with messages of the same sizes, in as many processes, without store and "
        "decisions",
    )


async def _saturated(run: PipelineRun, journeys: Journeys, pids: Mapping[str, int]) -> _Measured:
    took, spent = await saturated(journeys, run.jobs, run.window, pids)
    return {
        "jobs_per_second": round(run.jobs / took, 1),
        **percentiles("", journeys.latencies(run.warmup), 50, 99),
        "cpu_us_per_job": round(spent["all"] * 1e6, 1),
    }, spent


async def _bare(run: PipelineRun, on: PipelineScene, sizes: Sequence[int], tell: Tell) -> _Measured:
    """The same number of journeys, with the same sizes, hops and processes."""
    fleet = on.fleet
    await on.bus.provision((bare_bus.BARE,), run.servers)
    flat = ",".join(map(str, sizes))
    children = {
        f"bare-{at}": Child(
            f"bare-{at}",
            "fairway.lab.bench.pipeline.bare_bus",
            [fleet.nats.url, flat, str(run.servers), *map(str, group)],
            fleet.dir / f"bare-{at}.log",
            {},
        )
        for at, group in enumerate(SPLITS[run.processes])
    }
    source = ((f"j{at}", bare_bus.message(f"j{at}", 0, sizes[0])) for at in range(run.warmup + run.jobs))
    journeys = Journeys(on.bus, source, lambda: tell("", 1))
    last = bare_bus.subject(bare_bus.HOPS - 1, ">")
    try:
        await asyncio.gather(*(child.start() for child in children.values()))
        async with beside(journeys.listen(bare_bus.BARE.name, (last,), lambda one: one.id.rpartition(".")[0])):
            tell("bare bus", run.warmup + run.jobs)
            await journeys.saturate(run.warmup, run.window)
            pids = {name: child.pid for name, child in children.items()}
            pids |= {name: pid for name, pid in on.pids().items() if name == "bench" or name.startswith("nats")}
            return await _saturated(run, journeys, pids)
    finally:
        await asyncio.gather(*(child.stop() for child in children.values()))


async def _size(bus: NatsBus, verb: str) -> int:
    """Mean bytes of the first recorded messages of this kind."""
    sizes: list[int] = []
    async for delivery in bus.history(subjects.JOBS, (f"fairway.job.{verb}.>",)):
        sizes.append(len(delivery.data))
        if len(sizes) == _SAMPLE:
            break
    return sum(sizes) // max(len(sizes), 1)


async def _levels(bus: NatsBus) -> int:
    """How many quotas the first job was charged to."""
    async for delivery in bus.history(subjects.JOBS, ("fairway.job.dequeued.>",)):
        return len(msgspec.json.decode(delivery.data, type=Dequeued).path)
    return 0
