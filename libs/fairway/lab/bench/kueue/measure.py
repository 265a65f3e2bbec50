"""The load of Kueue's own performance test, on simulated clusters: small, medium and large jobs of thirty queues in
five cohorts, which want more than the quota for a minute; nothing but quota keeps them waiting."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from fairway.adapters.nats.bus import NatsBus
from fairway.lab.bench.kueue import load
from fairway.lab.bench.kueue.courses import WAY, Account, Courses, account
from fairway.lab.bench.measuring.facts import batch_facts, peak_mib
from fairway.lab.bench.measuring.journeys import percentiles
from fairway.lab.bench.measuring.outcome import BenchOutcome, Goal
from fairway.lab.bench.pipeline.agents import known
from fairway.lab.bench.pipeline.fleet import Spent, Tell, pids
from fairway.lab.bench.runs import KueueRun
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan
from fairway.lab.fleet.fleet import running as fleet_running
from fairway.lab.kubesim.__main__ import ClusterConfig
from fairway.lab.kubesim.nodes import NodeGroup

GOALS = {
    "wall_seconds": Goal(most=90),
    "wall_by_bound": Goal(most=1.15),
    "useful_usage": Goal(least=0.70),
    "large_mean_ms": Goal(most=3_000),
    "lost_work": Goal(most=0.02),
    "back_p99_ms": Goal(most=2_000),
}
_GROUPS = (("admission", "quota", "queue", "global-scheduler", "reserver"), ("propagator", "watcher", "agent"))
# Room is never what a job waits for: the nodes have twice the quota, and each takes three of the largest jobs.
_NODE_CPUS = 64
_STUBBED = "the clusters are simulated: scheduler, kubelets and Job controller, behind HTTP and watches"


async def measure(run: KueueRun, dir: Path, tell: Tell) -> BenchOutcome:
    outcome = BenchOutcome(figures={}, stubbed=_STUBBED)
    for clusters in run.clusters:
        outcome.take(await _part(run, clusters, dir / f"on-{clusters}", tell), f"on_{clusters}")
    return outcome


async def _part(run: KueueRun, clusters: int, dir: Path, tell: Tell) -> BenchOutcome:
    tell(f"on {clusters}: starting", 0)
    async with _scene(run, clusters, dir) as (fleet, bus):
        warmup = Courses(load.warmup(run), lambda: None)
        await warmup.run(bus)
        total = run.cohorts * run.queues * run.jobs
        tell(f"on {clusters}: jobs", total)
        assert fleet.sim is not None, "this fleet has clusters"
        processes = pids(fleet, clusters=fleet.sim.pid)
        since = Spent(processes)
        courses = Courses(load.arrivals(run), lambda: tell("", 1), warmup.last)
        await courses.run(bus)
        spent = since.per_job(total)
        batches = await batch_facts([str(child.said["metrics"]) for child in fleet.processes.values()])
        told = await account(bus, (*warmup.arrivals, *courses.arrivals))
        return BenchOutcome(
            figures=_figures(run, courses, told),
            goals=GOALS,
            counts=_counts(courses, told),
            cpu_seconds_per_job=spent,
            rss_peak_mib=peak_mib(processes),
            details={
                "batches": batches,
                "submitted_seconds": round(courses.sent - courses.begun, 2),
            },
            wrong=_wrong(told, clusters),
        )


@contextlib.asynccontextmanager
async def _scene(run: KueueRun, clusters: int, dir: Path) -> AsyncIterator[tuple[EmbeddedFleet, NatsBus]]:
    """Settings before services, so that the first job meets them; entered once every cluster is known."""
    plan = FleetPlan(_clusters(run, clusters), groups=(), sync_interval=run.sync)
    async with fleet_running(dir, plan) as fleet:
        bus = await NatsBus.connect(fleet.nats.url, "bench")
        try:
            await bus.provision()
            await bus.publish(load.configuration(run))
            await asyncio.gather(*(fleet.start_process(group) for group in _GROUPS))
            await known(bus, clusters)
            yield fleet, bus
        finally:
            await bus.close()


def _clusters(run: KueueRun, count: int) -> tuple[ClusterConfig, ...]:
    nodes = -(-2 * load.quota(run) // (_NODE_CPUS * count))
    node = {"cpu": str(_NODE_CPUS), "memory": "256Gi", "pods": "1k"}
    return tuple(ClusterConfig(f"c{at}", nodes=(NodeGroup(nodes, f"c{at}-node", node),)) for at in range(count))


def _work(arrivals: Sequence[load.Arrival]) -> float:
    """CPU-seconds."""
    return sum(one.kind.cpu * one.kind.run_ms for one in arrivals) / 1_000


def lost_work(arrivals: Sequence[load.Arrival], told: Account) -> float:
    """CPU-seconds of attempts that were evicted: from when they were dispatched, for as long as such a job runs."""
    return sum(
        one.kind.cpu * min(after, one.kind.run_ms) / 1_000 for one in arrivals for after in told.evicted.get(one.id, ())
    )


def _figures(run: KueueRun, courses: Courses, told: Account) -> dict[str, float]:
    """Of the jobs that were heard to succeed. `quota_bound`: no sooner could all be over that the quota lets go.
    `<class>` is the time to admission: from the job's time to come until it is dispatched. `lost_work` is the part of
    all work that evictions ended, `back` the time from a claim until its job is dispatched, and `held` how long the
    quota was charged beyond the time that the job ran."""
    ended = [one for one in courses.arrivals if all(one.id in courses[verb] for verb in WAY)]
    wall = max(courses["succeeded"].values(), default=float("inf")) - courses.begun
    bound = _work(courses.arrivals) / load.quota(run)
    lost = lost_work(courses.arrivals, told)
    figures = {
        "wall_seconds": round(wall, 2),
        "quota_bound_seconds": round(bound, 2),
        "wall_by_bound": round(wall / bound, 3),
        "useful_usage": round(_work(ended) / (load.quota(run) * wall), 3),
        "lost_work": round(lost / (_work(ended) + lost), 4),
    }
    for kind in load.CLASSES:
        took = [courses["dispatched"][one.id] - courses.begun - one.at for one in ended if one.kind is kind]
        figures |= _spread(kind.name, took)
    held = [courses["succeeded"][one.id] - courses["dequeued"][one.id] - one.kind.run_ms / 1_000 for one in ended]
    return figures | _spread("held", held) | _spread("back", [one / 1_000 for one in told.back])


def _spread(name: str, seconds: list[float]) -> dict[str, float]:
    found = percentiles(f"{name}_", (one * 1_000 for one in seconds), 50, 95, 99)
    return found | {f"{name}_mean_ms": round(sum(seconds) * 1_000 / max(len(seconds), 1), 1)}


def _counts(courses: Courses, told: Account) -> dict[str, int]:
    """Right: as many succeeded as were submitted, and nothing else was said of any, nor of those that warmed up.
    `unheard` is in the record, and was not heard while it went on."""
    said = {verb: sum(verb in told.verbs[one.id] for one in courses.arrivals) for verb in WAY[1:]}
    return {
        "submitted": len(courses.arrivals),
        **said,
        "evicted": sum(map(len, told.evicted.values())),
        "besides": len(told.besides),
        "unaccounted": len(told.unaccounted),
        "unheard": said["succeeded"] - len(courses["succeeded"]),
    }


def _wrong(told: Account, clusters: int) -> str:
    found = [
        f"{len(names)} {what}, such as {', '.join(names[:3])}"
        for names, what in ((told.unaccounted, "jobs are unaccounted for"), (told.besides, "words too many"))
        if names
    ]
    return f"on {clusters}: {' and '.join(found)}" if found else ""
