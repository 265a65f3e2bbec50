"""`fairway replay`: a trace of a real fleet through the whole system, with figures and violations at the end."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fairway.app.failure import ERROR, USAGE, Failure, end


class Name(StrEnum):
    PHILLY = "philly"
    OPENB = "openb"


def register(app: typer.Typer) -> None:
    @app.command()
    def replay(
        trace: Annotated[Name, typer.Argument(help="which trace the file is")],
        file: Annotated[Path, typer.Argument(help="the trace's CSV file")],
        jobs: Annotated[int, typer.Option(min=1, help="how many rows, from the first")] = 2_000,
        clusters: Annotated[int, typer.Option(min=1, max=50)] = 8,
        nodes: Annotated[int, typer.Option(min=1, help="of each cluster")] = 8,
        gpus: Annotated[int, typer.Option(min=1, help="of each node")] = 8,
        speedup: Annotated[float, typer.Option(min=0, help="of the clock; 0: the trace in about a minute")] = 0,
        output: Annotated[str, typer.Option("-o", "--output", help="json; lines for a person by default")] = "",
    ) -> None:
        """Replay a trace of real jobs through the bus, the cache and the services onto simulated clusters.

        Exits 1 when an invariant was broken or a job has no end, 2 when the file is missing or is something else.
        """
        if output not in ("", "json"):
            end(Failure(USAGE, f"-o {output} is not known", "use json"))
        from fairway.app.fleet import equal_clusters
        from fairway.app.replay_command import carry_out

        try:
            good = carry_out(trace.value, file, jobs, (equal_clusters(clusters, nodes, gpus), speedup), output)
        except Failure as failure:
            end(failure)
        except (OSError, RuntimeError) as error:
            end(Failure(ERROR, f"the fleet did not start: {error}"))
        raise typer.Exit(0 if good else 1)
