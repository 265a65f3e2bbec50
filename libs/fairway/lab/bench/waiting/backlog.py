"""Very many jobs wait, most behind a full quota and the rest without room: what that takes of memory, how soon
questions are answered, and whether the one that may go goes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import count, cycle
from pathlib import Path
from random import Random
from typing import Any

import aiohttp
import msgspec

from fairway.lab.bench.measuring.background import beside
from fairway.lab.bench.measuring.facts import rss_mib
from fairway.lab.bench.measuring.journeys import Journeys, percentiles
from fairway.lab.bench.measuring.outcome import BenchOutcome, Goal
from fairway.lab.bench.pipeline.fleet import STUBBED, PipelineScene, Spent, Tell, groups, scene
from fairway.lab.bench.pipeline.load import BENCH
from fairway.lab.bench.runs import BacklogRun
from fairway.lab.bench.waiting import load
from fairway.lab.bench.waiting.order import SUBJECTS, Start, WaitingOrder
from fairway.lab.fleet.fleet import FleetPlan
from fairway.runtime.ports import Outgoing
from fairway.wire import jobs as wire
from fairway.wire import subjects

# Of ten jobs so many wait behind a full quota, the others for room.
_QUOTA_OF_TEN = 9
_MANY = 500_000


def _goals(run: BacklogRun) -> dict[str, Goal]:
    memory = Goal(most=6 if run.jobs > _MANY else 1)
    answers = {name: Goal(most=200) for name in ("get_jobs_p99_ms", "why_p99_ms")}
    return {"services_gib": memory, **answers, "freed_p99_ms": Goal(most=250)}


async def measure(run: BacklogRun, dir: Path, tell: Tell) -> BenchOutcome:
    tell("starting", 0)
    plan = FleetPlan((), groups=(("gateway",), *groups(run.processes)), stub_clusters=True)
    size = load.WaitingSize(run.clusters, run.nodes, run.tenants)
    async with scene(dir, load.ground(size), plan) as on:
        return await BacklogMeasurement(run, on, tell).measured()


class BacklogMeasurement:
    def __init__(self, run: BacklogRun, on: PipelineScene, tell: Tell) -> None:
        self._run = run
        self._on = on
        self._tell = tell
        self._waiting = WaitingOrder()
        self._submissions = load.Submissions()
        self._draw = Random(run.seed)
        # The one job that each tenant of a full quota has in a cluster.
        self._in_place = [self._submissions.one(load.full_tenant(at), load.OWN) for at in range(run.tenants)]

    async def measured(self) -> BenchOutcome:
        run = self._run
        on = self._on
        tell = self._tell
        journeys = Journeys(on.bus, self._jobs(), lambda: tell("", 1))
        async with beside(journeys.listen(subjects.JOBS, SUBJECTS, self._waiting.heard)):
            await self._fill()
            tell("filling the queue", run.jobs)
            since = Spent(on.pids())
            await journeys.saturate(run.jobs, run.window)
            spent = since.per_job(run.jobs)
            sizes = rss_mib(on.pids())
            listed, whys = await self._answers()
            tell("freeing slots", run.rounds)
            rounds = [await self._round(at) for at in range(run.rounds)]
        took = [ms for ms in rounds if ms is not None]
        return BenchOutcome(
            figures={
                # MiB by process.
                "services_gib": round(sum(sizes[name] for name in on.fleet.processes) / 1024, 3),
                "valkey_gib": round(sizes["valkey"] / 1024, 3),
                "nats_gib": round(sizes["nats"] / 1024, 3),
                **percentiles("get_jobs_", listed, 50, 99),
                **percentiles("why_", whys, 50, 99),
                **percentiles("freed_", took, 50, 99),
            },
            goals=_goals(run),
            counts={
                "waited": len(journeys.arrived),
                "answers": len(listed) + len(whys),
                "rounds": len(rounds),
                "started_right": len(took),
                "started": len(self._waiting.starts) - run.tenants,
            },
            cpu_seconds_per_job=spent,
            rss_peak_mib=on.peaks(),
            stubbed=STUBBED,
            details={"rss_mib": sizes},
        )

    async def _fill(self) -> None:
        """Every quota that is to be full is, and with it the room that was left."""
        await self._on.bus.publish([message for _, message in self._in_place])
        async with asyncio.timeout(60):
            while len(self._waiting.starts) < self._run.tenants:
                await self._waiting.heard_more()

    def _jobs(self) -> Iterator[tuple[str, Outgoing]]:
        shapes = self._submissions.of_every_shape()
        tenants = cycle(range(self._run.tenants))
        for at in count():
            if at % 10 < _QUOTA_OF_TEN:
                kind: Any = next(tenants)
                job, message = self._submissions.one(load.full_tenant(kind), load.OWN)
            else:
                kind, (job, message) = next(shapes)
            self._waiting.kinds[job] = kind
            yield job, message

    async def _answers(self) -> tuple[list[float], list[float]]:
        """Milliseconds: of pages of the list, one after the other, and of the reasons of any jobs."""
        names = self._waiting.waiting()
        resume = ""
        known = {"Authorization": f"Bearer {self._on.fleet.token}"}
        async with aiohttp.ClientSession(self._on.fleet.http, headers=known) as session:

            async def page() -> None:
                nonlocal resume
                query = {"state": "live", "limit": "100", "continue": resume}
                async with session.get("/v1/jobs", params=query) as answer:
                    found = await answer.json()
                assert found["items"], "the list goes on"
                resume = found.get("continue", "")

            async def why() -> None:
                name = self._draw.choice(names)
                async with session.get(f"/v1/jobs/{name}/why") as answer:
                    assert (await answer.json())["state"] == "queued", "it waits"

            return await self._timed("listing jobs", page), await self._timed("asking why", why)

    async def _timed(self, what: str, ask: Callable[[], Awaitable[None]]) -> list[float]:
        loop = asyncio.get_running_loop()
        took = []
        self._tell(what, self._run.asked)
        for _ in range(self._run.asked):
            start = loop.time()
            await ask()
            took.append((loop.time() - start) * 1000)
            self._tell("", 1)
        return took

    async def _round(self, at: int) -> float | None:
        """Frees one slot; milliseconds until the job whose turn it is was dispatched, None if it was another."""
        begun, job = await (self._free_quota(at // 2) if at % 2 == 0 else self._free_room(at // 2))
        start: Start | None = await self._waiting.start_of(job)
        self._tell("", 1)
        return (start.at - begun) * 1000 if start else None

    async def _free_quota(self, at: int) -> tuple[float, str]:
        """Cancels what a tenant has in a cluster; its quota is free when that is said to have ended."""
        tenant = load.full_tenant(at)
        (gone, _) = self._in_place[at]
        said = msgspec.json.encode(wire.Cancel(job=gone, tenant=tenant, who=BENCH))
        await self._on.bus.publish([Outgoing(f"cancel-{gone}", subjects.job("cancel", tenant), said, "fairway.job")])
        job = self._waiting.first(at)
        async with asyncio.timeout(60):
            while gone not in self._waiting.cancelled:
                await self._waiting.heard_more()
        return self._waiting.cancelled[gone], job

    async def _free_room(self, at: int) -> tuple[float, str]:
        """A stranger's pod ends on a full node of a cluster."""
        cluster = at % self._run.clusters
        size = self._draw.randrange(load.OWN)
        node = list(self._on.agents.nodes[load.cluster(cluster)].values())[-1 - at // self._run.clusters]
        job = self._waiting.first((cluster % load.MODELS, size))
        begun = asyncio.get_running_loop().time()
        await self._on.agents.changed(load.cluster(cluster), load.freed(node, size))
        return begun, job
