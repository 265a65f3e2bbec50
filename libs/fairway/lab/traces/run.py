"""What `fairway replay` does: reads the trace, shows how far it is, tells the figures."""

import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import msgspec
import typer
import uvloop
from msgspec import Struct

from fairway.client.failure import USAGE, Failure
from fairway.domain.resources import fits, parse_quantity
from fairway.lab.fleet.decided_again import differing
from fairway.lab.kubesim.__main__ import ClusterConfig
from fairway.lab.traces.progress import ProgressDisplay
from fairway.lab.traces.replay import ReplayPlan, replay, speedup_for
from fairway.lab.traces.report import Figures, ReplayReport, as_json, lines
from fairway.lab.traces.trace import MODEL_LABEL, Trace, TraceJob, openb, philly

# From this part of the waiting on, the figures say more about the clock than about the fleet.
_PIPELINE_SHARE = 0.1
_MOST_TOLD = 20
_NEEDS = {
    "philly": "a CSV of timestamp, duration, num_gpus, gpu_time, cluster (the Philly job list)",
    "openb": "a CSV of name, cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec, qos, ... (an openb pod list)",
}


class ReplayOptions(Struct, frozen=True):
    """The first `count` rows of the trace `name` in this `file`; the speedup 0 is chosen."""

    name: str
    file: Path
    count: int
    speedup: float = 0
    decide_again: bool = True
    order: str = ""


def carry_out(options: ReplayOptions, clusters: Sequence[ClusterConfig], output: str) -> bool:
    """The command itself, onto these clusters. Whether all was well."""
    trace = read(options.name, options.file, options.count, clusters)
    fitting, never = split(trace.jobs, clusters)
    if not fitting:
        raise Failure(
            USAGE, f"{options.file} has no job that a cluster of this fleet could hold", "use larger clusters"
        )
    notes = trace.notes
    if never:
        notes += (f"{len(never)} rows ask for more than any cluster has when it is empty, and were left out",)
    with tempfile.TemporaryDirectory(prefix="fairway-replay-") as folder:
        plan = ReplayPlan(
            name=options.name,
            dir=Path(folder),
            clusters=tuple(clusters),
            speedup=options.speedup or speedup_for(fitting),
            shares=trace.shares,
            order=options.order,
            decide_again=options.decide_again,
        )
        _announce(plan, fitting, notes)
        display = ProgressDisplay(len(fitting))
        with display.bar:
            report = uvloop.run(replay(plan, fitting, display.show))
    jobs = {**report.figures.jobs, "left_out": len(never)}
    figures = msgspec.structs.replace(report.figures, jobs=jobs, notes=notes + too_fast(report.figures))
    report = msgspec.structs.replace(report, figures=figures)
    _tell(report, output)
    return report.ok


def too_fast(figures: Figures) -> tuple[str, ...]:
    """A note when the waiting that was measured is more the pipeline's, multiplied, than the fleet's."""
    if figures.pipeline_share < _PIPELINE_SHARE:
        return ()
    share = f"{figures.pipeline_share:.0%} of the waiting is the pipeline's own time, {figures.speedup:,.0f} times over"
    return (f"{share}: for waits that speak of the fleet alone, choose a lower --speedup",)


def read(name: str, file: Path, count: int, clusters: Sequence[ClusterConfig]) -> Trace:
    """The first `count` rows as jobs. Failure when there is no such file, or when it is something else."""
    needs = f"fairway replay {name} needs {_NEEDS[name]}"
    if not file.is_file():
        raise Failure(USAGE, f"{file} is not there", needs)
    models = {group.labels.get(MODEL_LABEL, "") for cluster in clusters for group in cluster.nodes} - {""}
    try:
        return philly(file, count) if name == "philly" else openb(file, count, models)
    except (KeyError, ValueError) as error:
        raise Failure(USAGE, f"{file} does not read: {error!r}", needs) from None


def split(jobs: Sequence[TraceJob], fleet: Sequence[ClusterConfig]) -> tuple[list[TraceJob], list[TraceJob]]:
    """Jobs that some empty cluster could hold, and those that none ever will."""
    fitting: list[TraceJob] = []
    never: list[TraceJob] = []
    for job in jobs:
        (fitting if any(_holds(cluster, job) for cluster in fleet) else never).append(job)
    return fitting, never


def _holds(cluster: ClusterConfig, job: TraceJob) -> bool:
    one = {name: parse_quantity(name, text) for name, text in job.requests.items()}
    room = 0
    for group in cluster.nodes:
        have = {name: parse_quantity(name, text) for name, text in group.allocatable.items()}
        if fits(one, have):
            room += group.count * min(have[name] // amount for name, amount in one.items() if amount)
    return room >= job.pods


def _announce(plan: ReplayPlan, jobs: Sequence[TraceJob], notes: Sequence[str]) -> None:
    runs = sorted(job.seconds * 1000 / plan.speedup for job in jobs)
    nodes = sum(group.count for cluster in plan.clusters for group in cluster.nodes)
    half = f"half of them run {runs[len(runs) // 2]:,.1f} ms or less" if runs else "none"
    where = f"{len(plan.clusters)} clusters with {nodes} nodes in all"
    typer.echo(f"{plan.name}: {len(jobs)} jobs onto {where}, {plan.speedup:,.0f} times faster; {half}", err=True)
    for note in notes:
        typer.echo(f"  {note}", err=True)


def _tell(report: ReplayReport, output: str) -> None:
    if output == "json":
        typer.echo(msgspec.json.format(msgspec.json.encode(as_json(report))).decode())
        return
    for name, text in lines(report):
        typer.echo(f"{name:<22} {text}")
    for breach in report.findings.violations[:_MOST_TOLD]:
        typer.echo(f"  {breach.rule}: job {breach.job}, message {breach.sequence}: {breach.text}")
    for text in islice(differing(report.decided), _MOST_TOLD) if report.decided is not None else ():
        typer.echo(f"  {text}")
