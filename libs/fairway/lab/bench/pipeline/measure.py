"""The pipeline's benchmark: the embedded fleet with stubbed clusters, warm-up, saturation, half the rate, and then the
bare loop over the same bus."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from fairway.adapters.nats.bus import NatsBus
from fairway.lab.bench.measuring.background import beside
from fairway.lab.bench.measuring.facts import batch_facts, machine
from fairway.lab.bench.measuring.journeys import Journeys, percentile
from fairway.lab.bench.measuring.outcome import BenchOutcome, Goal
from fairway.lab.bench.pipeline import bare_bus, load
from fairway.lab.bench.pipeline.fleet import SPLITS, STUBBED, PipelineScene, Spent, Tell, dispatching, groups, scene
from fairway.lab.bench.runs import PipelineRun
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan
from fairway.lab.processes.service import Child
from fairway.wire import subjects
from fairway.wire.jobs import Dequeued

# What the order of the record tells of a job on its way, hop by hop.
VERBS = ("submitted", "admitted", "queue", "dequeued", "placed", "reserved", "dispatched")
_SAMPLE = 200
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
    before = machine()
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
        bare_rate, bare_spent = await _bare(run, on.fleet, on.bus, sizes, tell)
    outcome.machine = before
    figures = outcome.figures
    figures["bare_jobs_per_second"] = bare_rate
    figures["ratio_to_bare"] = round(figures["jobs_per_second"] / bare_rate, 3)
    figures["bare_cpu_us_per_job"] = _us(bare_spent)
    outcome.details["bare_cpu_seconds_per_job"] = bare_spent
    return outcome


async def _pipeline(run: PipelineRun, on: PipelineScene, tell: Tell) -> BenchOutcome:
    journeys = Journeys(on.bus, load.submissions(_load_size(run)), lambda: tell("", 1))
    async with dispatching(on.bus, journeys):
        tell("warming up", run.warmup)
        await journeys.saturate(run.warmup, run.window)
        tell("saturated", run.jobs)
        figures, spent = await _saturated(run, journeys, Spent(on.pids()))
        batches = await batch_facts(on.addresses())
        tell("at half the rate", _calm(run))
        await journeys.steady(_calm(run), figures["jobs_per_second"] / 2)
    calm = journeys.latencies(run.warmup + run.jobs)
    figures |= {"half_p50_ms": percentile(calm, 0.5), "half_p99_ms": percentile(calm, 0.99)}
    return BenchOutcome(
        name="pipeline",
        figures=figures,
        goals=GOALS,
        cpu_seconds_per_job=spent,
        rss_peak_mib=on.peaks(),
        counts={"submitted": len(journeys.sent), "dispatched": len(journeys.arrived), "not_once": journeys.strange},
        stubbed=STUBBED,
        run=msgspec.structs.asdict(run),
        details={"batches": batches},
        reference="a bare loop of seven hops with messages of the same sizes, in as many processes, without store and "
        "decisions",
    )


async def _saturated(run: PipelineRun, journeys: Journeys, since: Spent) -> tuple[dict[str, float], dict[str, float]]:
    loop = asyncio.get_running_loop()
    start = loop.time()
    await journeys.saturate(run.jobs, run.window)
    rate = run.jobs / (loop.time() - start)
    spent = since.per_job(run.jobs)
    ascending = journeys.latencies(run.warmup)
    return {
        "jobs_per_second": round(rate, 1),
        "p50_ms": percentile(ascending, 0.5),
        "p99_ms": percentile(ascending, 0.99),
        "cpu_us_per_job": _us(spent),
    }, spent


def _us(spent: dict[str, float]) -> float:
    return round(spent["all"] * 1e6, 1)


async def _bare(
    run: PipelineRun, fleet: EmbeddedFleet, bus: NatsBus, sizes: Sequence[int], tell: Tell
) -> tuple[float, dict[str, float]]:
    """The same number of journeys, with the same sizes, hops and processes: jobs a second, seconds a job."""
    await bus.provision((bare_bus.BARE,), run.servers)
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
    journeys = Journeys(bus, source, lambda: tell("", 1))
    last = bare_bus.subject(bare_bus.HOPS - 1, ">")
    try:
        await asyncio.gather(*(child.start() for child in children.values()))
        async with beside(journeys.listen(bare_bus.BARE.name, (last,), lambda one: one.id.rpartition(".")[0])):
            tell("bare bus", run.warmup + run.jobs)
            await journeys.saturate(run.warmup, run.window)
            pids = {name: child.pid for name, child in children.items()}
            pids |= {"nats": fleet.nats.pid, "bench": os.getpid()}
            pids |= {f"nats-{at}": one.pid for at, one in enumerate(fleet.nats_others, 2)}
            figures, spent = await _saturated(run, journeys, Spent(pids))
    finally:
        await asyncio.gather(*(child.stop() for child in children.values()))
    return figures["jobs_per_second"], spent


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
