"""`fairway replay philly` and `openb`: a trace of a real fleet through the whole system."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fairway.client.failure import ERROR, Failure
from fairway.client.options import check_output
from fairway.operate.replay.command import Output, commands


class Name(StrEnum):
    PHILLY = "philly"
    OPENB = "openb"


def _trace(name: Name) -> None:
    @commands.command(name.value)
    def trace(
        file: Annotated[Path, typer.Argument(help="the trace's CSV file")],
        jobs: Annotated[int, typer.Option(min=1, help="how many rows, from the first")] = 2_000,
        clusters: Annotated[int, typer.Option(min=1, max=50)] = 8,
        nodes: Annotated[int, typer.Option(min=1, help="of each cluster")] = 8,
        gpus: Annotated[int, typer.Option(min=1, help="of each node")] = 8,
        speedup: Annotated[float, typer.Option(min=0, help="of the clock; 0: the trace in about a minute")] = 0,
        again: Annotated[
            bool, typer.Option("--decide-again/--no-decide-again", help="at the end: what every stage decided")
        ] = True,
        output: Output = "",
    ) -> None:
        """Replay a trace of real jobs through the bus, the cache and the services onto simulated clusters.

        Exits 1 when an invariant was broken, a job has no end or a decision would be another one, 2 when the file is
        missing or is something else.
        """
        check_output(output)
        from fairway.lab.fleet.cluster_shapes import equal_clusters
        from fairway.lab.traces.run import ReplayOptions, carry_out

        try:
            options = ReplayOptions(name.value, file, jobs, speedup, again)
            good = carry_out(options, equal_clusters(clusters, nodes, gpus), output)
        except (OSError, RuntimeError) as error:
            raise Failure(ERROR, f"the fleet did not start: {error}") from error
        raise typer.Exit(0 if good else 1)


def register(app: typer.Typer) -> None:
    """Beside `fairway replay decisions`, which the product has."""
    for name in Name:
        _trace(name)
