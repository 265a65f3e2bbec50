"""A day of Spark jobs on what online pods leave over: all clusters as one fleet, and each with a queue of its own."""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from fairway.client.failure import USAGE, Failure
from fairway.lab.bench.idle import jobs as load
from fairway.lab.bench.idle import online, trace_rows
from fairway.lab.bench.idle.figures import GOALS, compared, counts, details, figures
from fairway.lab.bench.idle.node import idle_core_seconds
from fairway.lab.bench.idle.online import NodeDay
from fairway.lab.bench.idle.run import IdleOutcome, IdlePlan, simulate_day
from fairway.lab.bench.measuring.outcome import BenchOutcome
from fairway.lab.bench.pipeline.fleet import Tell
from fairway.lab.bench.runs import IdleRun

FLEET = "fleet"
HOME = "home"
_STUBBED = "bus, store and members are in memory, on a virtual clock; online pods, Koordinator, the Spark operator and \
its pods are played, and what online pods use is made up"
# Of `--quick`.
_QUICK_NODES = 2


async def measure(run: IdleRun, dir: Path, tell: Tell) -> BenchOutcome:
    """Keeps nothing in `dir`."""
    if run.trace != "openb":
        raise Failure(USAGE, f"trace is {run.trace!r}", "choose from openb")
    plans = _plans(run)
    outcome = BenchOutcome(figures={}, stubbed=_STUBBED)
    found: dict[str, IdleOutcome] = {}
    loop = asyncio.get_running_loop()
    # A virtual clock has a loop of its own. One after the other: a run takes a core, and figures do not depend on it.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for name, plan in plans.items():
            tell(name, 1)
            found[name] = await loop.run_in_executor(pool, simulate_day, plan)
            tell("", 1)
    jobs = len(plans[FLEET].jobs)
    for name, one in found.items():
        part = BenchOutcome(figures=figures(one), counts=counts(one), details=details(one))
        outcome.take(part, name)
    outcome.figures |= compared(found[FLEET], found[HOME])
    outcome.goals = dict(GOALS)
    outcome.counts |= {"jobs": jobs, "nodes": sum(map(len, plans[FLEET].days.values()))}
    outcome.wrong = _wrong(found)
    return outcome


def _plans(run: IdleRun) -> dict[str, IdlePlan]:
    """The same load for both: as many teams as clusters, each at home in one of them."""
    trace = trace_rows.read(Path(run.file))
    fleet = online.clusters(trace, run.clusters, _QUICK_NODES if run.quick else run.nodes)
    days = online.day(trace, fleet, run.seed)
    teams = {f"team-{name}": name for name in fleet}
    jobs = _jobs(run, trace, days, list(teams))
    anywhere = dict.fromkeys(teams, tuple(fleet))
    at_home = {team: (name,) for team, name in teams.items()}
    ways: dict[str, Mapping[str, tuple[str, ...]]] = {FLEET: anywhere, HOME: at_home}
    return {name: IdlePlan(days, jobs, homes, run.evict, 60.0 * run.stage) for name, homes in ways.items()}


def _jobs(
    run: IdleRun, trace: trace_rows.TraceRows, days: Mapping[str, Sequence[NodeDay]], teams: Sequence[str]
) -> tuple[load.SparkJob, ...]:
    """As many as ask for `--demand` percent of what is idle. None is drawn that asks for more than half of what the
    smallest cluster has idle on average: at home it might never find room."""
    idle = [sum(map(idle_core_seconds, nodes)) for nodes in days.values()]
    most = min(idle) / load.DAY_S / 2
    known = [job for job in load.grouped(trace.best_effort) if job.cores <= most]
    if not known:
        raise Failure(USAGE, "no job fits into a cluster of this size", "give more --nodes")
    return tuple(load.drawn(known, sum(idle) * run.demand / 100, teams, run.seed))


def _wrong(found: Mapping[str, IdleOutcome]) -> str:
    broken = [f"{name}: {text}" for name, one in found.items() for text in one.violations]
    return f"{len(broken)} invariants broken, such as {broken[0]}" if broken else ""
