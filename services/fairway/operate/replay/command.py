"""`fairway replay decisions`: what every stage decided, decided again from the record."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from fairway.client.failure import USAGE, Failure
from fairway.client.options import check_output

Output = Annotated[str, typer.Option("-o", "--output", help="json; lines for a person by default")]
# fairway-lab adds the traces that it knows.
commands = typer.Typer(
    name="replay", no_args_is_help=True, help="Replay a trace of real jobs, or the decisions of the record."
)


@commands.command()
def decisions(
    since: Annotated[str, typer.Option("--from", help="made from then on: 2025-11-03T10:00, UTC unless it says")] = "",
    until: Annotated[str, typer.Option("--to", help="made up to then")] = "",
    job: Annotated[str, typer.Option(help="only this job's: its id, or the beginning of it")] = "",
    service: Annotated[list[str] | None, typer.Option(help="only this stage's; may be given several times")] = None,
    output: Output = "",
) -> None:
    """Decide again what every stage decided, on what it knew, and compare with the record field by field.

    Reads NATS: FAIRWAY_NATS_URL, or the fleet of ./.fairway. Exits 1 when a decision would be another one now, when a
    row was not what the record says, or when no decision can be made again.
    """
    check_output(output)
    from fairway.operate.replay.decisions import DecisionFilter, carry_out

    services = tuple(map(_stage, service or ()))
    good = carry_out(DecisionFilter(_moment("--from", since), _moment("--to", until), job, services), output)
    raise typer.Exit(0 if good else 1)


def _stage(name: str) -> str:
    from fairway.replay.stages import STAGES

    known = list(dict.fromkeys(one.service for one in STAGES.values()))
    if name not in known:
        raise Failure(USAGE, f"{name} is no stage whose decisions are recorded", f"name one of {', '.join(known)}")
    return name


def _moment(name: str, given: str) -> int:
    """In milliseconds since 1970; 0 when it is not given."""
    if not given:
        return 0
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        remedy = "write it as 2025-11-03T10:00 or 2025-11-03T10:00:00.5+01:00"
        raise Failure(USAGE, f"{name} {given} is no time", remedy) from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
