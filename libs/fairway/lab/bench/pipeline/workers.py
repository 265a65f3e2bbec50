"""The pipeline with one, two and four instances of each stage; then instances come and go under load."""

import asyncio
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from fairway.lab.bench.measuring.background import beside
from fairway.lab.bench.measuring.facts import metrics
from fairway.lab.bench.measuring.journeys import Journeys
from fairway.lab.bench.measuring.outcome import BenchOutcome
from fairway.lab.bench.pipeline import load
from fairway.lab.bench.pipeline.fleet import STUBBED, PipelineScene, Tell, dispatching, saturated, scene
from fairway.lab.bench.runs import WorkersRun
from fairway.lab.fleet.fleet import FleetPlan
from fairway.process.pipeline import STAGES
from fairway.wire import subjects

_INSTANCES = (1, 2, 4)
_QUEUE = ("queue",)
# Of the queue one instance works; it has a process of its own, so that all other processes are ready beside it.
_SHARED = tuple(stage for stage in STAGES if stage not in _QUEUE)
_AFTER_S = 1.5
# Room for those that go while instances come and go, however long that takes.
_MORE = 20_000
# While instances come and go, so many jobs are waited for at a time.
_PIECE = 64


class _Back(Struct):
    why: dict[str, Any] | None = None


_back = msgspec.json.Decoder(_Back).decode


def _size(run: WorkersRun) -> load.GangSize:
    jobs = run.warmup + (len(_INSTANCES) + 1) * run.jobs + _MORE
    return load.GangSize(jobs, run.clusters, run.nodes, run.tenants, run.seed)


async def measure(run: WorkersRun, dir: Path, tell: Tell) -> BenchOutcome:
    tell("starting", 0)
    plan = FleetPlan((), groups=(_QUEUE, _SHARED), stub_clusters=True)
    async with scene(dir, load.ground(_size(run)), plan) as on:
        return await Workers(run, on, tell).measured()


class Workers:
    def __init__(self, run: WorkersRun, on: PipelineScene, tell: Tell) -> None:
        self._run = run
        self._on = on
        self._tell = tell
        self._journeys = Journeys(on.bus, load.submissions(_size(run)), lambda: tell("", 1))
        self._names = (f"stages-{number}" for number in count(2))
        self._returned: Counter[str] = Counter()
        self._changes = 0

    async def measured(self) -> BenchOutcome:
        run = self._run
        tell = self._tell
        journeys = self._journeys
        figures: dict[str, float] = {}
        async with dispatching(self._on.bus, journeys), beside(self._follow_returned()):
            tell("warming up", run.warmup)
            await journeys.saturate(run.warmup, run.window)
            for number in _INSTANCES:
                while len(self._on.fleet.processes) < 1 + number:
                    await self._add()
                tell(f"{number} of each", run.jobs)
                figures |= await self._rate(number)
            peaks = self._on.peaks()
            tell("coming and going", run.jobs)
            self._changes = 0
            await self._coming_and_going()
            # What would be said a second time is said by then.
            await asyncio.sleep(_AFTER_S)
        counts = {
            "submitted": len(journeys.sent),
            "lost": journeys.under_way,
            "double": journeys.strange,
            "changes": self._changes,
        }
        return BenchOutcome(
            figures=figures,
            counts=counts,
            stubbed=STUBBED,
            rss_peak_mib=peaks,
            details={"sent_back": dict(self._returned)},
        )

    async def _follow_returned(self) -> None:
        """Why placements were sent back, from now on."""
        async for delivery in self._on.bus.history(subjects.JOBS, ("fairway.job.queue.>",), live=True):
            why = _back(delivery.data).why if delivery.subject else None
            if why is not None:
                self._returned[why["code"]] += 1

    async def _rate(self, number: int) -> dict[str, float]:
        """Jobs a second; steps that were refused, and placements sent back, for each decision of the scheduler."""
        run = self._run
        before = await metrics(self._on.addresses())
        returned = self._returned.total()
        took, spent = await saturated(self._journeys, run.jobs, run.window, self._on.pids())
        after = await metrics(self._on.addresses())
        grown = {key: value - before.get(key, 0.0) for key, value in after.items()}
        conflicts = sum(value for (name, _), value in grown.items() if name == "fairway_conflicts_total")
        decisions = grown["fairway_messages_handled_total", "global-scheduler"]
        return {
            f"jobs_per_second_{number}": round(run.jobs / took, 1),
            f"cpu_us_per_job_{number}": round(spent["all"] * 1e6, 1),
            f"conflicts_per_decision_{number}": round(conflicts / decisions, 4),
            f"sent_back_per_decision_{number}": round((self._returned.total() - returned) / decisions, 4),
        }

    async def _coming_and_going(self) -> None:
        """Jobs as fast as they go until all are through and every change was made."""
        changing = asyncio.create_task(self._change())
        try:
            left = self._run.jobs
            while left > 0 or not changing.done():
                await self._journeys.saturate(_PIECE, self._run.window)
                left -= _PIECE
            await changing
        finally:
            changing.cancel()

    async def _change(self) -> None:
        """Takes away the first of each and the queue that works, half of what is left, and adds as many again."""
        stages = [name for name in self._on.fleet.processes if name != _QUEUE[0]]
        await self._take(stages[0])
        await self._add()
        standing_by = asyncio.create_task(self._on.fleet.start_process(_QUEUE, "queue-2"))
        await self._take(_QUEUE[0])
        await standing_by
        self._changes += 1
        for name in stages[1:3]:
            await self._take(name)
        for _ in stages[1:3]:
            await self._add()

    async def _add(self) -> None:
        await self._on.fleet.start_process(_SHARED, next(self._names))
        self._changes += 1

    async def _take(self, name: str) -> None:
        """SIGTERM, as a supervisor that wants fewer of them."""
        await self._on.fleet.processes.pop(name).stop()
        self._changes += 1
