"""Benchmarks of what a fleet may be in: full, with many waiting, with its store gone, larger, with more workers."""

from typing import Annotated

import typer

from fairway.lab.bench.options import (
    Clusters,
    Dir,
    Nodes,
    Output,
    Processes,
    Sizes,
    Tenants,
    Warmup,
    Window,
    check_processes,
    numbers,
    show,
)


def register(app: typer.Typer) -> None:
    app.command("wake-up")(wake_up)
    app.command()(backlog)
    app.command()(clusters)
    app.command()(rebuild)
    app.command()(workers)


def wake_up(
    jobs: Annotated[int, typer.Option(min=20, help="that wait, of 20 shapes")] = 10_000,
    rounds: Annotated[int, typer.Option(min=1, help="how often room for one job is freed")] = 200,
    clusters: Clusters = 20,
    nodes: Nodes = 50,
    processes: Processes = 2,
    directory: Dir = "",
    output: Output = "text",
) -> None:
    """Everything is full and room for one job is freed: how long until it is taken, and how many are woken for it."""
    from fairway.lab.bench.waiting.wake_up import WakeUpRun, measure

    check_processes(processes)
    run = WakeUpRun(jobs, rounds, clusters=clusters, nodes=nodes, processes=processes)
    show(measure, run, directory, output)


def backlog(
    jobs: Annotated[int, typer.Option(min=200, help="that wait: nine of ten behind a full quota")] = 100_000,
    asked: Annotated[int, typer.Option(min=1, help="how often a page of jobs, and why one waits, is asked for")] = 50,
    rounds: Annotated[int, typer.Option(min=1, max=80, help="how often a slot is freed")] = 20,
    tenants: Annotated[int, typer.Option(min=1, help="with a full quota; at least half as many as --rounds")] = 40,
    clusters: Clusters = 20,
    nodes: Nodes = 20,
    processes: Processes = 2,
    directory: Dir = "",
    output: Output = "text",
) -> None:
    """Very many jobs wait: the memory of the services, how soon `get jobs` and `why` are answered, who goes next."""
    from fairway.lab.bench.waiting.backlog import BacklogRun, measure

    check_processes(processes)
    show(measure, BacklogRun(jobs, asked, rounds, tenants, clusters, nodes, processes), directory, output)


def rebuild(
    jobs: Annotated[int, typer.Option(min=1, help="that are in their clusters")] = 100_000,
    waiting: Annotated[int, typer.Option(min=20, help="that wait behind a full quota")] = 1_000,
    clusters: Clusters = 100,
    nodes: Nodes = 100,
    tenants: Tenants = 50,
    processes: Processes = 2,
    directory: Dir = "",
    output: Output = "text",
) -> None:
    """The store is wiped: how long until jobs are dispatched again, and whether everything is as it was."""
    from fairway.lab.bench.pipeline.rebuild import RebuildRun, measure

    check_processes(processes)
    show(measure, RebuildRun(jobs, waiting, clusters, nodes, tenants, processes), directory, output)


def workers(
    jobs: Annotated[int, typer.Option(min=1, help="for each number of instances")] = 10_000,
    warmup: Warmup = 1_000,
    clusters: Clusters = 100,
    nodes: Nodes = 100,
    tenants: Tenants = 50,
    window: Window = 2_000,
    directory: Dir = "",
    output: Output = "text",
) -> None:
    """One, two and four instances of each stage; then some are added and taken away while jobs are on their way."""
    from fairway.lab.bench.pipeline.workers import WorkersRun, measure

    show(measure, WorkersRun(jobs, warmup, clusters, nodes, tenants, window), directory, output)


def clusters(
    sizes: Sizes = "3,30,300,1000",
    jobs: Annotated[int, typer.Option(min=1, help="for each number of clusters")] = 10_000,
    warmup: Warmup = 1_000,
    nodes: Nodes = 100,
    processes: Processes = 2,
    window: Window = 2_000,
    directory: Dir = "",
    output: Output = "text",
) -> None:
    """The pipeline with few clusters and with very many: whether the rate stays, what agents and the cache take."""
    from fairway.lab.bench.pipeline.clusters import ClustersRun, measure

    check_processes(processes)
    show(
        measure, ClustersRun(numbers(sizes), jobs, warmup, nodes, processes=processes, window=window), directory, output
    )
