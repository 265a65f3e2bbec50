"""`fairway bench`: how fast the whole pipeline is on this machine, and what a job costs."""

import tempfile
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
import uvloop
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from fairway.app.bench_pipeline import SPLITS, Run, measure

_bench = typer.Typer(no_args_is_help=True, help="Measure Fairway on this machine, against real servers.")


def register(app: typer.Typer) -> None:
    app.add_typer(_bench, name="bench")


class _Bar:
    """A progress bar on standard error, one line for each phase."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description:>17}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self.progress = Progress(*columns, console=Console(stderr=True))
        self._task: TaskID | None = None

    def tell(self, phase: str, amount: int) -> None:
        if phase:
            if self._task is not None:
                self.progress.stop_task(self._task)
            self._task = self.progress.add_task(phase, total=amount or None)
        elif self._task is not None:
            self.progress.advance(self._task, amount)


@_bench.command()
def pipeline(
    jobs: Annotated[int, typer.Option(min=1, help="measured at saturation; a quarter as many follow at half the rate")]
    = 20_000,
    warmup: Annotated[int, typer.Option(min=1, help="jobs before the measurement")] = 2_000,
    clusters: Annotated[int, typer.Option(min=1)] = 10,
    nodes: Annotated[int, typer.Option(min=1, help="nodes of each cluster")] = 100,
    tenants: Annotated[int, typer.Option(min=1)] = 50,
    processes: Annotated[int, typer.Option(help="over how many processes the services are spread: 1 to 4, or 7")] = 2,
    window: Annotated[int, typer.Option(min=1, help="most jobs under way at a time")] = 2_000,
    seed: Annotated[int, typer.Option(help="of the mix of jobs")] = 1,
    directory: Annotated[str, typer.Option("--dir", help="where to keep logs and data; else nothing is kept")] = "",
    output: Annotated[str, typer.Option("-o", "--output", help="json, or a text for people")] = "text",
) -> None:  # fmt: skip
    """Jobs per second from submitted to dispatched, with real NATS and Valkey; cluster calls are stubbed."""
    if processes not in SPLITS:
        typer.echo(f"--processes is one of {', '.join(map(str, SPLITS))}", err=True)
        raise typer.Exit(2)
    run = Run(jobs, warmup, clusters, nodes, tenants, processes, window, seed)
    bar = _Bar()
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as temporary, bar.progress:
        report = uvloop.run(measure(run, Path(directory or temporary), bar.tell))
    typer.echo(msgspec.json.format(msgspec.json.encode(report)).decode() if output == "json" else text(report))


def text(report: dict[str, Any]) -> str:
    """The report in a dozen lines."""
    f, jobs = report["figures"], report["jobs"]
    lines = [
        f"{f['jobs_per_second']:,.0f} jobs/s submitted to dispatched ({jobs['dispatched']:,} of {jobs['submitted']:,} "
        f"dispatched, {jobs['not_once']} not exactly once)",
        f"{f['bare_jobs_per_second']:,.0f} jobs/s for the bare bus: ratio {f['ratio']:.2f}",
        f"latency p50 {f['p50_ms']} ms, p99 {f['p99_ms']} ms with {report['run']['window']} under way; "
        f"p50 {f['half_p50_ms']} ms, p99 {f['half_p99_ms']} ms at half the rate",
        f"processor time a job: {f['cpu_us_per_job']:,.0f} us (bare bus {f['bare_cpu_us_per_job']:,.0f} us)",
    ]
    for name, spent in report["cpu_us_per_job"].items():
        rss = report["rss_mib"].get(name)
        lines.append(f"  {name:40} {spent:8,.0f} us" + (f" {rss:8,.0f} MiB" if rss else ""))
    lines += [f"goal {name} {goal:,}: {'met' if report['met'][name] else 'missed'}" for name, goal in
              report["goals"].items()]  # fmt: skip
    return "\n".join(lines)
