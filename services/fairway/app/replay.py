"""`fairway replay`: a trace of a real fleet through the whole system, or the decisions of the record once more."""

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fairway.app.failure import ERROR, USAGE, Failure, end


class Name(StrEnum):
    PHILLY = "philly"
    OPENB = "openb"


Output = Annotated[str, typer.Option("-o", "--output", help="json; lines for a person by default")]
_commands = typer.Typer(no_args_is_help=True, help="Replay a trace of real jobs, or the decisions of the record.")


def register(app: typer.Typer) -> None:
    app.add_typer(_commands, name="replay")


def _trace(name: Name) -> None:
    @_commands.command(name.value)
    def trace(
        file: Annotated[Path, typer.Argument(help="the trace's CSV file")],
        jobs: Annotated[int, typer.Option(min=1, help="how many rows, from the first")] = 2_000,
        clusters: Annotated[int, typer.Option(min=1, max=50)] = 8,
        nodes: Annotated[int, typer.Option(min=1, help="of each cluster")] = 8,
        gpus: Annotated[int, typer.Option(min=1, help="of each node")] = 8,
        speedup: Annotated[float, typer.Option(min=0, help="of the clock; 0: the trace in about a minute")] = 0,
        output: Output = "",
    ) -> None:
        """Replay a trace of real jobs through the bus, the cache and the services onto simulated clusters.

        Exits 1 when an invariant was broken or a job has no end, 2 when the file is missing or is something else.
        """
        _known(output)
        from fairway.app.fleet import equal_clusters
        from fairway.app.replay_command import carry_out

        try:
            good = carry_out(name.value, file, jobs, (equal_clusters(clusters, nodes, gpus), speedup), output)
        except Failure as failure:
            end(failure)
        except (OSError, RuntimeError) as error:
            end(Failure(ERROR, f"the fleet did not start: {error}"))
        raise typer.Exit(0 if good else 1)


for _name in Name:
    _trace(_name)


@_commands.command()
def decisions(
    since: Annotated[str, typer.Option("--from", help="made from then on: 2025-11-03T10:00, UTC unless it says")] = "",
    until: Annotated[str, typer.Option("--to", help="made up to then")] = "",
    job: Annotated[str, typer.Option(help="only this job's: its id, or the beginning of it")] = "",
    output: Output = "",
) -> None:
    """Decide again what the scheduler decided, on what it saw, and compare with the record field by field.

    Reads NATS: FAIRWAY_NATS_URL, or the fleet of ./.fairway. Exits 1 when a decision would be another one now,
    or when none of them can be decided again.
    """
    _known(output)
    from fairway.app.replay_decisions import Asked, carry_out

    try:
        same = carry_out(Asked(_moment("--from", since), _moment("--to", until), job), output)
    except Failure as failure:
        end(failure)
    raise typer.Exit(0 if same else 1)


def _moment(name: str, given: str) -> int:
    """In milliseconds since 1970; 0 when it is not given."""
    if not given:
        return 0
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        end(Failure(USAGE, f"{name} {given} is no time", "write it as 2025-11-03T10:00 or 2025-11-03T10:00:00.5+01:00"))
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def _known(output: str) -> None:
    if output not in ("", "json"):
        end(Failure(USAGE, f"-o {output} is not known", "use json"))
