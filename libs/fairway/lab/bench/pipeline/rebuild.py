"""The store is wiped while many jobs are in their clusters and some wait: how long until the next job is dispatched,
and whether everything is as it was."""

import asyncio
from itertools import chain
from pathlib import Path

import msgspec
from redis.asyncio import Redis

from fairway.adapters.valkey.store import RedisStore
from fairway.domain import decision
from fairway.lab.bench.measuring.background import beside
from fairway.lab.bench.measuring.journeys import Journeys
from fairway.lab.bench.measuring.outcome import BenchOutcome, Goal
from fairway.lab.bench.measuring.store_facts import StoreFacts, facts, stored_job
from fairway.lab.bench.pipeline import load
from fairway.lab.bench.pipeline.fleet import STUBBED, PipelineScene, Spent, Tell, dispatching, groups, job_of, scene
from fairway.lab.bench.runs import RebuildRun
from fairway.lab.fleet.fleet import FleetPlan
from fairway.runtime.ports import Outgoing, Wanted
from fairway.wire import asks, subjects

GOALS = {"dispatching_again_seconds": Goal(most=10)}
# The tenant that may have one job: all its others wait.
_NARROW = "team-0"
# Of so many jobs that wait it is compared where they stand.
_PLACES = 20
_PATIENCE_S = 300.0


def _size(run: RebuildRun) -> load.GangSize:
    return load.GangSize(run.jobs + run.waiting + 1, run.clusters, run.nodes, run.tenants, run.seed, _NARROW)


async def measure(run: RebuildRun, dir: Path, tell: Tell) -> BenchOutcome:
    tell("starting", 0)
    plan = FleetPlan((), groups=groups(run.processes), stub_clusters=True)
    async with scene(dir, load.ground(_size(run)), plan) as on:
        return await _wiped(run, on, tell)


async def _wiped(run: RebuildRun, on: PipelineScene, tell: Tell) -> BenchOutcome:
    source = load.submissions(_size(run))
    goes = chain([next(one for one in source if _waits(one))], (one for one in source if not _waits(one)))
    running = Journeys(on.bus, goes, lambda: tell("", 1), patience_s=_PATIENCE_S)
    held = Journeys(on.bus, (one for one in source if _waits(one)), lambda: tell("", 1))
    store = RedisStore(f"{on.fleet.valkey.url}/0")
    async with dispatching(on.bus, running), beside(held.listen(subjects.JOBS, ("fairway.job.blocked.>",), job_of)):
        tell("filling clusters", run.jobs)
        await running.saturate(run.jobs, run.window)
        tell("filling the queue", run.waiting)
        await held.saturate(run.waiting, run.window)
        tell("reading the store", 0)
        were = await facts(store, on.agents.nodes)
        stood = await _places(on, held)
        tell("wiped", 1)
        since = Spent(on.pids())
        seconds = await _again(on, running)
        spent = since.per_job(run.jobs + run.waiting)
        known = await _known_again(run, on, store)
        tell("comparing", 0)
        differ = await _compared(on, store, were, running)
        places = sum(one != other for one, other in zip(stood, await _places(on, held), strict=True))
        await store.close()
    return BenchOutcome(
        goals=GOALS,
        stubbed=STUBBED,
        figures={"dispatching_again_seconds": round(seconds, 2), "capacity_known_seconds": round(seconds + known, 2)},
        counts={
            "running": run.jobs,
            "waiting": run.waiting,
            "not_once": running.strange,
            **differ,
            "places_differ": places,
        },
        cpu_seconds_per_job=spent,
        rss_peak_mib=on.peaks(),
        details={"record": await _record(on)},
    )


def _waits(one: tuple[str, Outgoing]) -> bool:
    """All but the first of these."""
    return one[1].subject == subjects.job("submitted", _NARROW)


async def _again(on: PipelineScene, running: Journeys) -> float:
    """Wipes the store; the seconds until a job that is submitted then is dispatched."""
    valkey = Redis.from_url(on.fleet.valkey.url)
    start = asyncio.get_running_loop().time()
    await valkey.flushall()
    await running.saturate(1, 1)
    took = asyncio.get_running_loop().time() - start
    await valkey.aclose()
    return took


async def _known_again(run: RebuildRun, on: PipelineScene, store: RedisStore) -> float:
    """Further seconds until all nodes of all clusters are known."""
    start = asyncio.get_running_loop().time()
    await store.open()
    async with asyncio.timeout(_PATIENCE_S):
        for cluster in on.agents.nodes:
            table = decision.nodes(cluster)
            while len((await store.read(Wanted(whole=(table,)))).whole.get(table, {})) < run.nodes:
                await asyncio.sleep(0.05)
    return asyncio.get_running_loop().time() - start


async def _compared(on: PipelineScene, store: RedisStore, were: StoreFacts, running: Journeys) -> dict[str, int]:
    """What differs from before, the newest job left out."""
    found = await facts(store, on.agents.nodes)
    found.forget(await stored_job(store, list(running.sent)[-1]))
    return found.differences(were)


async def _places(on: PipelineScene, held: Journeys) -> list[bytes]:
    """Where the first of the waiting stand, as the queue says it."""
    return [await on.bus.ask(asks.QUEUE, msgspec.json.encode(asks.QueueAsk(job))) for job in list(held.sent)[:_PLACES]]


async def _record(on: PipelineScene) -> dict[str, int]:
    state = (await on.bus.client.jetstream().stream_info(subjects.JOBS)).state
    return {"messages": state.messages, "mib": state.bytes >> 20}
