"""The pipeline with one, two and four instances of each stage: what each of them takes of a processor."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from fairway.adapters.nats.bus import NatsBus
from fairway.lab.bench.measuring.background import beside
from fairway.lab.bench.measuring.facts import metrics
from fairway.lab.bench.measuring.outcome import BenchOutcome
from fairway.lab.bench.pipeline import load
from fairway.lab.bench.pipeline.fleet import PipelineScene, Spent, Tell, dispatching, saturated, scene
from fairway.lab.bench.runs import WorkersRun
from fairway.lab.bench.workers.doors import DoorJourneys
from fairway.lab.bench.workers.instances import EACH, Instances, stage_of
from fairway.lab.fleet.fleet import FleetPlan
from fairway.process.pipeline import STAGES
from fairway.wire import subjects

# What would be said a second time is said by then.
_AFTER_S = 1.5
# Who stands by has started by then; and for so long it is looked at what all take while there is nothing to do.
_SETTLED_S = 4.0
_IDLE_S = 6.0
_ONE_OF_EACH = tuple((stage,) for stage in EACH)


class _Back(Struct):
    why: dict[str, Any] | None = None


_back = msgspec.json.Decoder(_Back).decode


class SentBack:
    """Why placements were sent back."""

    def __init__(self) -> None:
        self.why: Counter[str] = Counter()

    async def follow(self, bus: NatsBus) -> None:
        """For ever."""
        async for delivery in bus.history(subjects.JOBS, ("fairway.job.queue.>",), live=True):
            why = _back(delivery.data).why if delivery.subject else None
            if why is not None:
                self.why[why["code"]] += 1


def _size(run: WorkersRun) -> load.GangSize:
    return load.GangSize(run.warmup + len(run.instances) * run.jobs, run.clusters, run.nodes, run.tenants, run.seed)


async def measure(run: WorkersRun, dir: Path, tell: Tell) -> BenchOutcome:
    tell("starting", 0)
    async with scene(dir, load.ground(_size(run)), FleetPlan((), groups=_ONE_OF_EACH, stub_clusters=True)) as on:
        return await Rates(run, on, tell).measured()


@asynccontextmanager
async def _known(instances: Instances) -> AsyncIterator[None]:
    try:
        yield
    finally:
        await instances.forget()


class Rates:
    def __init__(self, run: WorkersRun, on: PipelineScene, tell: Tell) -> None:
        self._run = run
        self._on = on
        self._tell = tell
        self._instances = Instances(on.fleet)
        self._journeys = DoorJourneys(on.fleet, on.bus, load.submissions(_size(run)), tell)
        # Enough for several requests at once, so that the gateways are not what keeps the others waiting.
        self._journeys.chunk = 256
        self._returned = SentBack()

    async def measured(self) -> BenchOutcome:
        run = self._run
        outcome = BenchOutcome(figures={})
        async with (
            _known(self._instances),
            dispatching(self._on.bus, self._journeys),
            beside(self._returned.follow(self._on.bus)),
        ):
            for number in run.instances:
                self._tell(f"starting {number} of each", 0)
                await self._instances.bring_to(number)
                if number == run.instances[0]:
                    self._tell("warming up", run.warmup)
                    await self._journeys.saturate(run.warmup, run.window)
                self._tell(f"{number} of each", run.jobs)
                outcome.take(await self._rate(), str(number))
            await asyncio.sleep(_AFTER_S)
        counts = self._counts()
        outcome.counts = {f"{name}_dispatching": count for name, count in counts.items()}
        if counts["lost"] or counts["double"]:
            outcome.wrong = f"{counts['lost']} jobs were never dispatched, {counts['double']} were twice"
        outcome.details["sent_back"] = dict(self._returned.why)
        return outcome

    def _counts(self) -> dict[str, int]:
        journeys = self._journeys
        return {"submitted": len(journeys.sent), "lost": journeys.under_way, "double": journeys.strange}

    async def _idle(self) -> dict[str, float]:
        """Of a core, by process, while nothing is to be done."""
        await asyncio.sleep(_SETTLED_S)
        since = Spent(self._on.pids())
        await asyncio.sleep(_IDLE_S)
        return {name: one / _IDLE_S for name, one in since.per_job(1).items()}

    async def _rate(self) -> BenchOutcome:
        """Jobs a second; steps that were refused, and placements sent back, for each decision of the scheduler; and
        what each process takes."""
        run = self._run
        idle = await self._idle()
        before = await metrics(self._on.addresses())
        returned = self._returned.why.total()
        took, spent = await saturated(self._journeys, run.jobs, run.window, self._on.pids())
        after = await metrics(self._on.addresses())
        grown = {key: value - before.get(key, 0.0) for key, value in after.items()}
        conflicts = sum(value for (name, _), value in grown.items() if name == "fairway_conflicts_total")
        decisions = grown["fairway_messages_handled_total", "global-scheduler"]
        outcome = shared(spent, idle, took / run.jobs)
        outcome.figures |= {
            "jobs_per_second": round(run.jobs / took, 1),
            "cpu_us_per_job": round(spent["all"] * 1e6, 1),
            "conflicts_per_decision": round(conflicts / decisions, 4),
            "sent_back_per_decision": round((self._returned.why.total() - returned) / decisions, 4),
        }
        outcome.details["messages_per_batch"] = {stage: _batch(stage, grown) for stage in STAGES}
        outcome.details["cpu_seconds"] = {name: round(one * run.jobs, 2) for name, one in spent.items()}
        outcome.rss_peak_mib = self._on.peaks()
        return outcome


def shared(spent: Mapping[str, float], idle: Mapping[str, float], every_s: float) -> BenchOutcome:
    """What each process takes for a job, without what it takes while there is none; and the rate at which the busiest
    of Fairway's would fill a core of its own: the next limit beside the servers. `every_s` is how often a job came."""
    net = {name: max(0.0, one - idle[name] * every_s) for name, one in spent.items() if name not in ("all", "bench")}
    stages = {stage: sum(net[name] for name in net if stage_of(name) == stage) for stage in EACH}
    busiest = max((name for name in net if stage_of(name) in EACH), key=lambda name: net[name])
    limit = (1 - idle[busiest]) / net[busiest] if net[busiest] else 0.0
    return BenchOutcome(
        figures={"busiest_us_per_job": _us(net[busiest]), "jobs_per_second_of_its_core": round(limit, 1)},
        cpu_seconds_per_job={name: round(one, 7) for name, one in net.items()},
        details={
            "busiest": busiest,
            "us_per_job_by_stage": {stage: _us(one) for stage, one in stages.items()},
            "idle_percent": {name: round(one * 100, 2) for name, one in idle.items()},
        },
    )


def _batch(stage: str, grown: Mapping[tuple[str, str], float]) -> float:
    """With fewer of them each message takes more: what is read, committed and published goes by the batch."""
    batches = grown.get(("fairway_batch_duration_seconds_count", stage), 0.0)
    return round(grown.get(("fairway_messages_handled_total", stage), 0.0) / max(batches, 1.0), 1)


def _us(seconds: float) -> float:
    return round(seconds * 1e6, 1)
