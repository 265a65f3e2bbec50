"""`fairway bench`: how fast the whole pipeline is on this machine, and what a job costs."""

import tempfile
from pathlib import Path
from typing import Annotated

import msgspec
import typer

_bench = typer.Typer(no_args_is_help=True, help="Measure Fairway on this machine, against real servers.")


def register(app: typer.Typer) -> None:
    app.add_typer(_bench, name="bench")


@_bench.command()
def pipeline(
    jobs: Annotated[int, typer.Option(min=1, help="measured at saturation; a quarter as many follow at half the rate")]
    = 20_000,
    warmup: Annotated[int, typer.Option(min=1, help="jobs before the measurement")] = 2_000,
    clusters: Annotated[int, typer.Option(min=1)] = 10,
    nodes: Annotated[int, typer.Option(min=1, help="nodes of each cluster")] = 250,
    tenants: Annotated[int, typer.Option(min=1)] = 50,
    processes: Annotated[int, typer.Option(help="over how many processes the services are spread: 1 to 4, or 7")] = 2,
    window: Annotated[int, typer.Option(min=1, help="most jobs under way at a time")] = 2_000,
    seed: Annotated[int, typer.Option(help="of the mix of jobs")] = 1,
    directory: Annotated[str, typer.Option("--dir", help="where to keep logs and data; else nothing is kept")] = "",
    output: Annotated[str, typer.Option("-o", "--output", help="json, or a text for people")] = "text",
) -> None:  # fmt: skip
    """Jobs per second from submitted to dispatched, with real NATS and Valkey; cluster calls are stubbed."""
    import uvloop

    from fairway.app.bench_pipeline import SPLITS, Run, measure
    from fairway.app.bench_report import Bar, text

    if processes not in SPLITS:
        typer.echo(f"--processes is one of {', '.join(map(str, SPLITS))}", err=True)
        raise typer.Exit(2)
    run = Run(jobs, warmup, clusters, nodes, tenants, processes, window, seed)
    bar = Bar()
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as temporary, bar.progress:
        report = uvloop.run(measure(run, Path(directory or temporary), bar.tell))
    typer.echo(msgspec.json.format(msgspec.json.encode(report)).decode() if output == "json" else text(report))


@_bench.command()
def kubernetes(
    jobs: Annotated[int, typer.Option(min=1, help="applied in one burst")] = 600,
    calm: Annotated[int, typer.Option(min=1, help="applied one by one, at --rate a second")] = 80,
    rate: Annotated[float, typer.Option(min=0.1)] = 2.0,
    freed: Annotated[int, typer.Option(min=1, help="how often a job waits for another's room")] = 20,
    directory: Annotated[str, typer.Option("--dir", help="where to keep logs and data; else nothing is kept")] = "",
    output: Annotated[str, typer.Option("-o", "--output", help="json, or a text for people")] = "text",
) -> None:  # fmt: skip
    """Jobs applied on a hub until they exist in one of three members, all of real API servers on this machine."""
    import uvloop

    from fairway.app.bench_kubernetes import Run, measure
    from fairway.app.bench_kubernetes_report import text
    from fairway.app.bench_report import Bar
    from fairway.app.foreground import built

    built()
    bar = Bar()
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as temporary, bar.progress:
        report = uvloop.run(
            measure(Run(jobs, calm=calm, rate=rate, freed=freed), Path(directory or temporary), bar.tell)
        )
    typer.echo(msgspec.json.format(msgspec.json.encode(report)).decode() if output == "json" else text(report))


@_bench.command()
def report(
    nodes: Annotated[int, typer.Option(min=1)] = 5_000,
    pods: Annotated[int, typer.Option(min=1, help="that stay, beside those that come and go")] = 20_000,
    events: Annotated[int, typer.Option(min=1, help="pod changes a second")] = 100,
    seconds: Annotated[int, typer.Option(min=1, help="how long they are measured")] = 60,
    directory: Annotated[str, typer.Option("--dir", help="where to keep logs and data; else nothing is kept")] = "",
    output: Annotated[str, typer.Option("-o", "--output", help="json, or a text for people")] = "text",
) -> None:
    """One agent beside a real API server: its start, its processor time and memory, and how late its reports are."""
    import uvloop

    from fairway.app.bench_agent import Run, measure
    from fairway.app.bench_agent_report import text
    from fairway.app.bench_report import Bar
    from fairway.app.foreground import built

    built()
    bar = Bar()
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as temporary, bar.progress:
        found = uvloop.run(measure(Run(nodes, pods, events, seconds), Path(directory or temporary), bar.tell))
    typer.echo(msgspec.json.format(msgspec.json.encode(found)).decode() if output == "json" else text(found))
