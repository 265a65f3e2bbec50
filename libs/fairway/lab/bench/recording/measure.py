"""What recording costs a job: the processor time of all recorders, by what they do, and what `VIEWS` gets.

Twice: of jobs that are dispatched to stubbed clusters as fast as it goes, and of jobs that run and end in simulated
clusters, where batches are small.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from fairway.adapters.nats.bus import NatsBus
from fairway.lab.bench.measuring.background import beside
from fairway.lab.bench.measuring.facts import batch_facts, peak_mib
from fairway.lab.bench.measuring.journeys import Journeys
from fairway.lab.bench.measuring.outcome import BenchOutcome, Goal
from fairway.lab.bench.pipeline import load
from fairway.lab.bench.pipeline.agents import known
from fairway.lab.bench.pipeline.fleet import Tell, dispatching, groups, job_of, pids, saturated, scene
from fairway.lab.bench.recording.metered import asked_at
from fairway.lab.bench.runs import RecordingRun
from fairway.lab.bench.workers import small_jobs
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan
from fairway.lab.fleet.fleet import running as fleet_running
from fairway.wire import subjects

_METERED = "fairway.lab.bench.recording.metered"
_GOALS = {"recorder_us_per_job": Goal(most=60)}


class _Known(Struct, frozen=True):
    """Microseconds by what recorders do, and what is in the stream by now."""

    spent: Mapping[str, float]
    messages: int
    bytes: int


async def measure(run: RecordingRun, dir: Path, tell: Tell) -> BenchOutcome:
    outcome = BenchOutcome(figures={}, stubbed="cluster calls and agents of the jobs that are only dispatched")
    size = load.GangSize(run.warmup + run.jobs, run.clusters, run.nodes, run.tenants, run.seed)
    plan = FleetPlan((), groups(run.processes), stub_clusters=True, program=_METERED)
    tell("starting", 0)
    async with scene(dir / "dispatched", load.ground(size), plan) as on:
        journeys = Journeys(on.bus, load.submissions(size), lambda: tell("", 1))
        async with dispatching(on.bus, journeys):
            measured = _Measured(run, on.fleet, on.bus, tell)
            outcome.take(await measured.jobs(journeys, run.jobs, run.window), "dispatched")
    tell("starting", 0)
    async with _whole_lives(dir / "ended", run) as (fleet, bus):
        journeys = Journeys(bus, small_jobs.submissions(run.seed), lambda: tell("", 1))
        async with beside(journeys.listen(subjects.JOBS, ("fairway.job.succeeded.>",), job_of)):
            outcome.take(await _Measured(run, fleet, bus, tell).jobs(journeys, run.ended, run.few), "ended")
    return outcome


@asynccontextmanager
async def _whole_lives(dir: Path, run: RecordingRun) -> AsyncIterator[tuple[EmbeddedFleet, NatsBus]]:
    """Settings before services, so that the first job meets them."""
    plan = FleetPlan(small_jobs.clusters(), groups=(), hubless=True, program=_METERED)
    async with fleet_running(dir, plan) as fleet:
        bus = await NatsBus.connect(fleet.nats.url, "bench")
        try:
            await bus.provision()
            await bus.publish(small_jobs.configuration())
            every = (("agent",), *groups(run.processes))
            await asyncio.gather(*(fleet.start_process(group) for group in every))
            await known(bus, len(plan.clusters))
            yield fleet, bus
        finally:
            await bus.close()


class _Measured:
    def __init__(self, run: RecordingRun, fleet: EmbeddedFleet, bus: NatsBus, tell: Tell) -> None:
        self._run = run
        self._fleet = fleet
        self._bus = bus
        self._tell = tell

    async def jobs(self, journeys: Journeys, jobs: int, window: int) -> BenchOutcome:
        """Of so many, after the warm-up."""
        self._tell("warming up", self._run.warmup)
        await journeys.saturate(self._run.warmup, window)
        self._tell("measuring", jobs)
        before = await self._known()
        took, spent = await saturated(journeys, jobs, window, pids(self._fleet))
        figures = _figures(before, await self._known(), jobs)
        addresses = [str(child.said["metrics"]) for child in self._fleet.processes.values()]
        return BenchOutcome(
            figures={**figures, "jobs_per_second": round(jobs / took, 1), "cpu_us_per_job": spent["all"] * 1e6},
            goals=_GOALS,
            cpu_seconds_per_job=spent,
            rss_peak_mib=peak_mib(pids(self._fleet)),
            counts={"submitted": len(journeys.sent), "arrived": len(journeys.arrived), "not_once": journeys.strange},
            details={"batches": await batch_facts(addresses)},
        )

    async def _known(self) -> _Known:
        spent: Counter[str] = Counter()
        for child in self._fleet.processes.values():
            told = await self._bus.ask(asked_at(child.pid))
            spent.update(msgspec.json.decode(told, type=dict[str, float]))
        state = (await self._bus.client.jetstream().stream_info(subjects.VIEWS)).state
        return _Known(spent, state.messages, state.bytes)


def _figures(before: _Known, after: _Known, jobs: int) -> dict[str, float]:
    spent = {name: (each - before.spent.get(name, 0.0)) / jobs for name, each in after.spent.items()}
    encoding = spent.pop("piece", 0.0)
    freed = spent.pop("freed", 0.0)
    parts = {"encoding": encoding, "publishing": spent.pop("store", 0.0) - encoding - freed, **spent}
    return {
        "recorder_us_per_job": round(sum(parts.values()), 2),
        "freed_us_per_job": round(freed, 2),
        **{f"{name}_us_per_job": round(each, 2) for name, each in sorted(parts.items())},
        "views_bytes_per_job": round((after.bytes - before.bytes) / jobs, 1),
        "views_messages_per_job": round((after.messages - before.messages) / jobs, 4),
    }
