"""Thousands of jobs wait, everything is full, and room for one job is freed: how long until that one is on its way, and
how many were woken for it."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from msgspec import Struct

from fairway.lab.bench.measuring.background import beside
from fairway.lab.bench.measuring.facts import metrics
from fairway.lab.bench.measuring.journeys import Journeys, percentiles
from fairway.lab.bench.measuring.outcome import BenchOutcome, Goal
from fairway.lab.bench.pipeline.fleet import STUBBED, PipelineScene, Spent, Tell, groups, scene
from fairway.lab.bench.runs import WakeUpRun
from fairway.lab.bench.waiting import load
from fairway.lab.bench.waiting.order import SUBJECTS, WaitingOrder
from fairway.lab.fleet.fleet import FleetPlan
from fairway.runtime.ports import Outgoing
from fairway.wire import subjects
from fairway.wire.capacity import Node

GOALS = {"freed_p99_ms": Goal(most=250), "wakes_per_start": Goal(most=3), "sweep_wakes": Goal(most=0)}
# Whoever is still awake when the rounds are over, and one sweep of the queue, come in this time.
_AFTER_S = 12.0


class Round(Struct, frozen=True):
    """The job whose turn it was, and milliseconds from the report until it was dispatched; None: it was not."""

    job: str
    cluster: str
    took_ms: float | None


async def measure(run: WakeUpRun, dir: Path, tell: Tell) -> BenchOutcome:
    tell("starting", 0)
    plan = FleetPlan((), groups=groups(run.processes), stub_clusters=True)
    async with scene(dir, load.ground(load.WaitingSize(run.clusters, run.nodes)), plan) as on:
        waiting = WaitingOrder()
        journeys = Journeys(on.bus, _submissions(waiting), lambda: tell("", 1))
        async with beside(journeys.listen(subjects.JOBS, SUBJECTS, waiting.heard)):
            tell("filling the queue", run.jobs)
            await journeys.saturate(run.jobs, run.window)
            outcome = await _rounds(run, on, waiting, tell)
        outcome.counts["waited"] = len(journeys.arrived)
    return outcome


def _submissions(waiting: WaitingOrder) -> Iterator[tuple[str, Outgoing]]:
    for kind, (job, message) in load.Submissions().of_every_shape():
        waiting.kinds[job] = kind
        yield job, message


async def _rounds(run: WakeUpRun, on: PipelineScene, waiting: WaitingOrder, tell: Tell) -> BenchOutcome:
    room = _rooms(run, on)
    tell("warming up", run.warmup)
    for _ in range(run.warmup):
        await _round(on, waiting, *next(room))
        tell("", 1)
    tell("freeing room", run.rounds)
    wakes = waiting.wakes.copy()
    starts = len(waiting.starts)
    since = Spent(on.pids())
    rounds = []
    for _ in range(run.rounds):
        rounds.append(await _round(on, waiting, *next(room)))
        tell("", 1)
    spent = since.per_job(run.rounds)
    tell("settling", 0)
    await asyncio.sleep(_AFTER_S)
    woken = waiting.wakes - wakes
    took = [one.took_ms for one in rounds if one.took_ms is not None]
    went = [(one.job, one.cluster) for one in waiting.starts[starts:]]
    return BenchOutcome(
        goals=GOALS,
        stubbed=STUBBED,
        figures={
            **percentiles("freed_", took, 50, 99),
            "wakes_per_start": round(woken.total() / max(len(went), 1), 2),
            "sweep_wakes": (await metrics(on.addresses()))["fairway_sweep_wakes_total", "queue"],
        },
        counts={**_started(rounds, went), "never_woken": len(rounds) - len(took)},
        cpu_seconds_per_job=spent,
        rss_peak_mib=on.peaks(),
        details={"woken_by": dict(woken)},
    )


def _started(rounds: Sequence[Round], went: Sequence[tuple[str, str]]) -> dict[str, int]:
    right = len({(one.job, one.cluster) for one in rounds}.intersection(went))
    return {"rounds": len(rounds), "started": right, "not_right": len(went) - right}


def _rooms(run: WakeUpRun, on: PipelineScene) -> Iterator[tuple[int, int, Node]]:
    """Endless while there are full nodes: another cluster each time, another size, and the node as it is to be."""
    draw = Random(run.seed)
    left = {at: list(on.agents.nodes[load.cluster(at)].values()) for at in range(run.clusters)}
    while True:
        for at, nodes in left.items():
            size = draw.randrange(load.OWN)
            yield at, size, load.freed(nodes.pop(), size)


async def _round(on: PipelineScene, waiting: WaitingOrder, at: int, size: int, node: Node) -> Round:
    cluster = load.cluster(at)
    job = waiting.first((at % load.MODELS, size))
    begun = asyncio.get_running_loop().time()
    await on.agents.changed(cluster, node)
    start = await waiting.start_of(job)
    return Round(job, cluster, (start.at - begun) * 1000 if start else None)
