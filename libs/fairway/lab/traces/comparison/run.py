"""What `fairway replay --clock virtual` does: Fairway on a trace, other policies beside it, and what came of each."""

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import msgspec
import typer
from msgspec import Struct

from fairway.client.failure import USAGE, Failure, say
from fairway.domain.quota.node_terms import FLEET
from fairway.lab.kubesim.__main__ import ClusterConfig
from fairway.lab.traces.comparison.figures import Comparison, compare
from fairway.lab.traces.comparison.picture import draw
from fairway.lab.traces.comparison.shortage import Guarantees
from fairway.lab.traces.comparison.table import below_min, table
from fairway.lab.traces.fleet import allocatable
from fairway.lab.traces.policies.baselines import BASELINES, ComparedFleet, Runs
from fairway.lab.traces.progress import ProgressDisplay
from fairway.lab.traces.run import read, split
from fairway.lab.traces.trace import GPU, Trace, TraceJob, guaranteed
from fairway.lab.traces.virtual.fleet import PACE
from fairway.lab.traces.virtual.replay import SPEEDUP, VirtualOutcome, VirtualPlan, replay
from fairway.queue.view import PATIENCE_EVERY_MS

FAIRWAY = "Fairway"
_MOST_TOLD = 20


class ComparisonOptions(Struct, frozen=True):
    """The first `count` rows of the trace `name` in this `file` (0: all of them), under this `order` of the quota tree;
    the `picture` goes there, if anywhere."""

    name: str
    file: Path
    count: int = 0
    speedup: float = 0
    picture: Path | None = None
    order: str = ""


class ComparisonReport(Struct, frozen=True):
    """`fairway` has what only its own run tells: ends, breaches, and the longest time that any job waited for anything
    else than room or quota."""

    trace: str
    speedup: float
    left_out: int
    fairway: dict[str, Any]
    comparison: Comparison
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Every job fits into some cluster, so that all of them have to succeed."""
        return not self.fairway["violations"] and not self.comparison.policies[FAIRWAY].never


def carry_out(options: ComparisonOptions, clusters: Sequence[ClusterConfig], output: str) -> bool:
    """The command itself, onto these clusters. Whether all was well."""
    if options.picture is not None and not options.picture.parent.is_dir():
        # Not at the end of ten minutes.
        raise Failure(USAGE, f"{options.picture.parent} is no folder", "make it, or name another one for --picture")
    trace = read(options.name, options.file, options.count or sys.maxsize, clusters)
    jobs, notes = compared(trace, clusters)
    if not jobs:
        raise Failure(USAGE, f"{options.file} has no job that a cluster of this fleet could hold", "use larger ones")
    plan = VirtualPlan(trace.name, tuple(clusters), trace.shares, options.speedup or SPEEDUP, options.order)
    say(f"{trace.name}: {len(jobs)} jobs on a virtual clock, onto {len(clusters)} clusters")
    outcome, runs = _played(plan, jobs)
    gpus = sum(one.get(GPU, 0) for nodes in allocatable(clusters).values() for one in nodes.values())
    left_out = len(trace.jobs) - len(jobs)
    guarantees = Guarantees(guaranteed((job.tenant for job in jobs), gpus, trace.shares), _reclaim_seconds(plan))
    found = compare(jobs, runs, gpus, guarantees)
    report = ComparisonReport(trace.name, plan.speedup, left_out, _own(outcome), found, trace.notes + notes)
    if options.picture is not None:
        options.picture.write_text(draw(jobs, runs, gpus), "utf-8")
    _tell(report, output)
    return report.ok


def _reclaim_seconds(plan: VirtualPlan) -> float:
    """In trace time: the patience before a claim, until the queue looks. The members give no grace."""
    return (FLEET.reclaim_after + PATIENCE_EVERY_MS * PACE) / 1_000 * plan.speedup


def compared(trace: Trace, clusters: Sequence[ClusterConfig]) -> tuple[list[TraceJob], tuple[str, ...]]:
    """The jobs of the trace that every tenant's rules speak of and some cluster could hold, and what was left out."""
    known = [job for job in trace.jobs if not trace.shares or job.tenant in trace.shares]
    fitting, never = split(known, clusters)
    strangers = len(trace.jobs) - len(known)
    notes = []
    if strangers:
        notes.append(f"{strangers} rows are of virtual clusters that have no share of the nodes, and were left out")
    if never:
        notes.append(f"{len(never)} rows ask for more than any cluster has when it is empty, and were left out")
    return fitting, tuple(notes)


def _played(plan: VirtualPlan, jobs: Sequence[TraceJob]) -> tuple[VirtualOutcome, dict[str, Runs]]:
    """Fairway in this process and the other policies in a second one, which shares nothing with it."""
    display = ProgressDisplay(len(jobs))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, display.bar:
        fleet = ComparedFleet(plan.clusters, plan.shares)
        others = {name: pool.submit(policy, jobs, fleet) for name, policy in BASELINES.items()}
        outcome = replay(plan, jobs, display.show)
        return outcome, {FAIRWAY: outcome.runs, **{name: one.result() for name, one in others.items()}}


def _own(outcome: VirtualOutcome) -> dict[str, Any]:
    findings = outcome.findings
    return {
        "accepted": findings.accepted,
        "ends": findings.ends,
        "unfinished": len(findings.unfinished),
        "violations": len(findings.violations),
        "breaches": msgspec.to_builtins(findings.violations[:_MOST_TOLD]),
        "messages": findings.messages,
        "rescheduled": outcome.rescheduled,
        "most_evictions": outcome.most_evictions,
        "lost_gpu_hours": outcome.lost_gpu_hours,
        "own_seconds_max": outcome.own_seconds,
    }


def _tell(report: ComparisonReport, output: str) -> None:
    if output == "json":
        typer.echo(msgspec.json.format(msgspec.json.encode(report)).decode())
        return
    found = report.comparison
    times = f"times are of the {found.compared:,} that all policies ran"
    typer.echo(f"{report.trace}: {found.jobs:,} jobs on {found.gpus} GPUs; {times}")
    typer.echo("\n".join(table(found)))
    for name, one in found.policies.items():
        typer.echo(f"{name}: {below_min(one.below_min)}")
    own = report.fairway
    ends = ", ".join(f"{count:,} {name}" for name, count in own["ends"].items())
    typer.echo(f"Fairway: {ends}, {own['unfinished']} without an end, {own['violations']} invariants broken")
    typer.echo(f"  no job waited longer than {own['own_seconds_max']:g} s of the trace for anything but room or quota")
    lost = f"{own['lost_gpu_hours']:,g} GPU-hours of work were lost to evictions"
    again = f"{own['rescheduled']:,} attempts were followed by another one"
    typer.echo(f"  {again}, one job was evicted {own['most_evictions']} times at most, {lost}")
    for note in report.notes:
        typer.echo(f"  {note}")
    for breach in own["breaches"]:
        typer.echo(f"  {breach['rule']}: job {breach['job']}, message {breach['sequence']}: {breach['text']}")
