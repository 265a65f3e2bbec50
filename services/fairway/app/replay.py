"""`fairway replay`: a trace of a real fleet through the whole system, with figures and violations at the end."""

import sys
import tempfile
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer
import uvloop
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from fairway.app.fleet import equal_clusters
from fairway.app.replay_report import Report, as_json, lines
from fairway.app.replay_run import Plan, Progress, replay, speedup_for
from fairway.app.replay_trace import MODEL_LABEL, READERS, Trace, TraceJob
from fairway.app.show import console
from fairway.domain.resources import fits, parse_quantity
from fairway.kubesim.__main__ import ClusterConfig

_NEEDS = {
    "philly": "a CSV of timestamp, duration, num_gpus, gpu_time, cluster (the Philly job list)",
    "openb": "a CSV of name, cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec, qos, ... (an openb pod list)",
}


class Name(StrEnum):
    PHILLY = "philly"
    OPENB = "openb"


def register(app: typer.Typer) -> None:
    app.command("replay")(command)


def command(
    trace: Annotated[Name, typer.Argument(help="which trace the file is")],
    file: Annotated[Path, typer.Argument(help="the trace's CSV file")],
    jobs: Annotated[int, typer.Option(min=1, help="how many rows, from the first")] = 2_000,
    clusters: Annotated[int, typer.Option(min=1)] = 8,
    nodes: Annotated[int, typer.Option(min=1, help="of each cluster")] = 8,
    gpus: Annotated[int, typer.Option(min=1, help="of each node")] = 8,
    speedup: Annotated[float, typer.Option(min=0, help="of the clock; 0: the trace in about a minute")] = 0,
    seed: Annotated[int, typer.Option(help="kept for the record; a replay draws nothing at random")] = 0,
    output: Annotated[str, typer.Option("-o", "--output", help="text or json")] = "text",
) -> None:
    """Replay a trace of real jobs through the bus, the cache and the services onto simulated clusters.

    Exits 1 when an invariant was broken or a job has no end, 2 when the file is missing or is something else.
    """
    fleet = equal_clusters(clusters, nodes, gpus)
    found = _read(trace, file, jobs, fleet)
    fitting, skipped = split(found.jobs, fleet)
    notes = [*found.notes, f"seed {seed}: nothing in a replay is drawn at random"][: len(found.notes) + bool(seed)]
    if skipped:
        notes.append(f"{len(skipped)} rows ask for more than the whole fleet's largest cluster and were left out")
    with tempfile.TemporaryDirectory(prefix="fairway-replay-") as folder:
        plan = Plan(
            name=trace.value, dir=Path(folder), clusters=fleet, speedup=speedup or speedup_for(fitting),
            shares=found.shares,
        )  # fmt: skip
        _announce(plan, fitting, notes)
        with _Display(len(fitting)) as display:
            report = uvloop.run(replay(plan, fitting, display.show))
    _tell(msgspec.structs.replace(report, figures=msgspec.structs.replace(report.figures, notes=tuple(notes))), output)
    raise typer.Exit(0 if report.figures.ok else 1)


def _read(trace: Name, file: Path, count: int, fleet: Sequence[ClusterConfig]) -> Trace:
    needs = f"fairway replay {trace.value} needs {_NEEDS[trace.value]}"
    if not file.is_file():
        typer.echo(f"{file} is not there; {needs}", err=True)
        raise typer.Exit(2)
    try:
        if trace is Name.OPENB:
            models = {group.labels.get(MODEL_LABEL, "") for cluster in fleet for group in cluster.nodes}
            return READERS[trace.value](file, count, models - {""})
        return READERS[trace.value](file, count)
    except (KeyError, ValueError) as error:
        typer.echo(f"{file} does not read ({error!r}); {needs}", err=True)
        raise typer.Exit(2) from None


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


def _announce(plan: Plan, jobs: Sequence[TraceJob], notes: Sequence[str]) -> None:
    runs = sorted(job.seconds * 1000 / plan.speedup for job in jobs)
    nodes = sum(group.count for cluster in plan.clusters for group in cluster.nodes)
    half = f"half of them run {runs[len(runs) // 2]:,.1f} ms or less" if runs else "none"
    where = f"{len(plan.clusters)} clusters with {nodes} nodes in all"
    typer.echo(f"{plan.name}: {len(jobs)} jobs onto {where}, {plan.speedup:,.0f} times faster; {half}", err=True)
    for note in notes:
        typer.echo(f"  {note}", err=True)


class _Display:
    """A bar on a terminal, a line every few seconds elsewhere. Everything on standard error."""

    def __init__(self, total: int) -> None:
        self._console = console(sys.stderr)
        text = "{task.completed}/{task.total} ended  {task.fields[running]} running"
        self._bar = Bar(
            TextColumn("{task.description}"), BarColumn(), TextColumn(text), TimeElapsedColumn(),
            console=self._console, disable=not self._console.is_terminal,
        )  # fmt: skip
        self._task: TaskID = self._bar.add_task("starting", total=total, running=0)
        self._next = 0.0

    def __enter__(self) -> "_Display":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, now: Progress) -> None:
        self._bar.update(self._task, description="replaying", completed=now.done, running=now.running)
        if not self._console.is_terminal and (now.wall >= self._next or now.done == now.total):
            self._next = now.wall + 5
            counts = f"{now.submitted} submitted, {now.accepted} accepted, {now.running} running, {now.done} ended"
            typer.echo(f"{now.wall:6.1f} s  {counts} of {now.total}", err=True)


def _tell(report: Report, output: str) -> None:
    if output == "json":
        typer.echo(msgspec.json.format(msgspec.json.encode(as_json(report))).decode())
        return
    for name, text in lines(report):
        typer.echo(f"{name:<22} {text}")
    for breach in report.findings.violations[:20]:
        typer.echo(f"  {breach.rule}: job {breach.job}, message {breach.sequence}: {breach.text}")
