"""`fairway bench`: how fast Fairway is on this machine, and what a job costs."""

from pathlib import Path
from typing import Annotated

import typer

from fairway.client.failure import ERROR, USAGE, Failure, end, say
from fairway.domain.text.digits import is_whole
from fairway.lab.bench import fleet_states
from fairway.lab.bench.options import (
    Clusters,
    Dir,
    Nodes,
    Output,
    Processes,
    Seed,
    Sizes,
    Tenants,
    Warmup,
    Window,
    check_processes,
    numbers,
    show,
)

_bench = typer.Typer(no_args_is_help=True, help="Measure Fairway on this machine, against real servers.")

fleet_states.register(_bench)


def register(app: typer.Typer) -> None:
    app.add_typer(_bench, name="bench")


@_bench.command()
def pipeline(
    jobs: Annotated[
        int, typer.Option(min=1, help="measured at saturation; a quarter as many follow at half the rate")
    ] = 100_000,
    warmup: Warmup = 2_000,
    clusters: Clusters = 100,
    nodes: Nodes = 100,
    tenants: Tenants = 50,
    processes: Processes = 2,
    window: Window = 2_000,
    seed: Seed = 1,
    sync: Annotated[str, typer.Option(help="how often NATS writes to the disk: `2m`, or `always`")] = "2m",
    servers: Annotated[int, typer.Option(help="of NATS: 1, or 3 with a copy of every stream each")] = 1,
    directory: Dir = "",
    output: Output = "text",
) -> None:
    """Jobs per second from submitted to dispatched, and latency at half that rate; cluster calls are stubbed."""
    from fairway.lab.bench.pipeline.measure import PipelineRun, measure

    check_processes(processes)
    run = PipelineRun(jobs, warmup, clusters, nodes, tenants, processes, window, seed, sync, servers)
    show(measure, run, directory, output)


@_bench.command()
def decisions(
    sizes: Sizes = "100,1000",
    nodes: Nodes = 100,
    decisions: Annotated[int, typer.Option(min=2, help="at each number of clusters")] = 10_000,
    warmup: Annotated[int, typer.Option(min=1, help="decisions before those")] = 2_000,
    batch: Annotated[int, typer.Option(min=1, help="messages that are decided on together")] = 64,
    seed: Seed = 1,
    directory: Dir = "",
    output: Output = "text",
) -> None:
    """The scheduler's decisions alone, with what they say of every cluster; no bus, no store."""
    from fairway.lab.bench.decisions.measure import DecisionsRun, measure

    show(measure, DecisionsRun(numbers(sizes), nodes, decisions, warmup, batch, seed), directory, output)


@_bench.command()
def kubernetes(
    jobs: Annotated[int, typer.Option(min=1, help="applied in one burst")] = 600,
    calm: Annotated[int, typer.Option(min=1, help="applied one by one, at --rate a second")] = 80,
    rate: Annotated[float, typer.Option(min=0.1)] = 2.0,
    freed: Annotated[int, typer.Option(min=1, help="how often a job waits for another's room")] = 20,
    directory: Dir = "",
    output: Output = "text",
) -> None:
    """Jobs applied on a hub until they exist in one of three members, all of real API servers on this machine."""
    from fairway.lab.bench.kubernetes.measure import KubernetesRun, measure
    from fairway.lab.fleet.foreground import built

    built()
    show(measure, KubernetesRun(jobs, calm=calm, rate=rate, freed=freed), directory, output)


@_bench.command()
def report(
    nodes: Annotated[int, typer.Option(min=1)] = 5_000,
    pods: Annotated[int, typer.Option(min=1, help="that stay, beside those that come and go")] = 100_000,
    events: Annotated[int, typer.Option(min=1, help="pod changes a second")] = 100,
    seconds: Annotated[int, typer.Option(min=1, help="how long they are measured")] = 60,
    directory: Dir = "",
    output: Output = "text",
) -> None:
    """One agent beside a real API server: its start, its processor time and memory, and how late its reports are."""
    from fairway.lab.bench.agent.measure import AgentRun, measure
    from fairway.lab.fleet.foreground import built

    built()
    show(measure, AgentRun(nodes, pods, events, seconds), directory, output)


@_bench.command("kueue-baseline")
def kueue_baseline(
    clusters: Annotated[
        str, typer.Option(help="how many clusters, with commas between: all of it once on each")
    ] = "1,8",
    cohorts: Annotated[int, typer.Option(min=1)] = 5,
    queues: Annotated[int, typer.Option(min=1, help="in each cohort, with a nominal quota of 20 CPUs")] = 6,
    jobs: Annotated[int, typer.Option(min=10, help="in each queue: a multiple of ten")] = 500,
    directory: Dir = "",
    output: Output = "text",
) -> None:
    """The load of Kueue's performance test: how long until all jobs have run, and how well the quota is used."""
    from fairway.lab.bench.kueue.measure import KueueRun, measure

    counts = tuple(int(one) for one in clusters.split(",") if is_whole(one))
    if jobs % 10 or not all(counts) or len(counts) != len(clusters.split(",")):
        end(Failure(USAGE, f"--jobs is {jobs}, --clusters {clusters!r}", "give a multiple of ten, and numbers above 0"))
    show(measure, KueueRun(counts, cohorts, queues, jobs), directory, output)


@_bench.command("all")
def every(
    only: Annotated[str, typer.Option(help="names of benchmarks, with commas between")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="small runs: minutes in all, and less steady figures")] = False,
    directory: Annotated[Path, typer.Option("--dir", help="where to put the JSON of each")] = Path(".fairway/bench"),
) -> None:
    """All benchmarks one after the other, and one table of goals. Nothing else should run on the machine meanwhile."""
    import asyncio

    from fairway.client.terminal import console
    from fairway.lab.bench.table import BENCHES, run, table

    names = only.split(",") if only else [one.name for one in BENCHES]
    if unknown := sorted(set(names) - {one.name for one in BENCHES}):
        known = ", ".join(one.name for one in BENCHES)
        end(Failure(USAGE, f"no benchmark {', '.join(unknown)}", f"choose from {known}"))
    directory.mkdir(parents=True, exist_ok=True)
    results = []
    for one in BENCHES:
        if one.name in names and not (quick and one.quick is None):
            say(f"fairway bench {one.name}")
            results.append(asyncio.run(run(one, quick, directory)))
    console().print(table(results))
    say(f"the JSON of each is in {directory}")
    if any(one.error for one in results):
        raise typer.Exit(ERROR)
