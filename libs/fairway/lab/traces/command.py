"""`fairway replay philly` and `openb`: a trace of a real fleet through the whole system."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fairway.client.failure import ERROR, USAGE, Failure
from fairway.client.options import check_output
from fairway.domain.quota.node_terms import BY_SHARE, BY_TIME
from fairway.operate.replay.command import Output, commands

# What the real clock takes of a trace unless told otherwise; the virtual one takes all of it.
_ROWS = 2_000


class Name(StrEnum):
    PHILLY = "philly"
    OPENB = "openb"


class Order(StrEnum):
    TIME = BY_TIME
    SHARE = BY_SHARE


class ReplayClock(StrEnum):
    REAL = "real"
    VIRTUAL = "virtual"


_File = Annotated[Path, typer.Argument(help="the trace's CSV file")]
_Clock = Annotated[ReplayClock, typer.Option(help="virtual: in memory, no waiting, and other policies beside it")]
_Rows = Annotated[
    int, typer.Option(min=0, help=f"how many rows, from the first; 0: {_ROWS}, or all on the virtual clock")
]
_Clusters = Annotated[int, typer.Option(min=1, max=50)]
_Nodes = Annotated[int, typer.Option(min=1, help="of each cluster")]
_Gpus = Annotated[int, typer.Option(min=1, help="of each node")]
_Speedup = Annotated[
    float, typer.Option(min=0, help="of the clock; 0: the trace in about a minute, 100 on the virtual clock")
]
_Again = Annotated[
    bool, typer.Option("--decide-again/--no-decide-again", help="on the real clock: in the end all that was decided")
]
_Order = Annotated[Order | None, typer.Option(help="who is next, as fairway.io/order of the quota tree says it")]
_Picture = Annotated[Path | None, typer.Option(help="with --clock virtual: the SVG of waits and of GPUs in use")]


def _trace(name: Name) -> None:
    @commands.command(name.value)
    def trace(
        file: _File,
        clock: _Clock = ReplayClock.REAL,
        jobs: _Rows = 0,
        clusters: _Clusters = 8,
        nodes: _Nodes = 8,
        gpus: _Gpus = 8,
        speedup: _Speedup = 0,
        again: _Again = True,
        order: _Order = None,
        picture: _Picture = None,
        output: Output = "",
    ) -> None:
        """Replay a trace of real jobs through the bus, the cache and the services onto simulated clusters.

        With --clock virtual the same services run in memory on a clock that jumps from event to event: waits are those
        for room and quota alone, and stand beside those of a static partition, FIFO and shortest job first on the same
        nodes. Exits 1 when an invariant was broken, a job has no end or a decision would be another one, 2 when the
        file is missing or is something else.
        """
        check_output(output)
        from fairway.lab.fleet.cluster_shapes import equal_clusters
        from fairway.lab.traces.comparison import run as virtual
        from fairway.lab.traces.run import ReplayOptions, carry_out
        from fairway.process.log import beside_output

        beside_output()
        fleet = equal_clusters(clusters, nodes, gpus)
        if clock is ReplayClock.VIRTUAL:
            compared = virtual.ComparisonOptions(name.value, file, jobs, speedup, picture, order or "")
            raise typer.Exit(0 if virtual.carry_out(compared, fleet, output) else 1)
        if picture is not None:
            raise Failure(USAGE, "--picture shows policies beside each other", "give --clock virtual with it")
        try:
            good = carry_out(ReplayOptions(name.value, file, jobs or _ROWS, speedup, again, order or ""), fleet, output)
        except (OSError, RuntimeError) as error:
            raise Failure(ERROR, f"the fleet did not start: {error}") from error
        raise typer.Exit(0 if good else 1)


def register(app: typer.Typer) -> None:
    """Beside `fairway replay decisions`, which the product has."""
    for name in Name:
        _trace(name)
