"""Evictions on a terminal, or as JSON. Names in them came from anybody: they move no cursor."""

from collections.abc import Sequence

import typer
from rich.text import Text

from fairway.client.terminal import console, json_text, render_table
from fairway.explain.wording import moment
from fairway.operate.evictions.told_evictions import Eviction

_COLUMNS = ("WHEN", "CAUSE", "JOB", "ATTEMPT", "CLUSTER", "FOR QUOTA", "FOR JOB", "CLAIM", "LEVEL", "PRIORITY")


def show(found: Sequence[Eviction], output: str) -> None:
    if output:
        typer.echo(json_text({"items": found}))
    elif not found:
        typer.echo("no evictions are kept of that")
    else:
        console().print(rendered(found), end="")


def rendered(found: Sequence[Eviction]) -> Text:
    return render_table(_COLUMNS, [row(one) for one in found])


def row(one: Eviction) -> tuple[object, ...]:
    """Of level and priority that of whoever got the room is first."""
    whose = (one.leaf or "-", one.beneficiary or "-", one.claim)
    numbers = (f"{one.level} over {one.own_level}", f"{one.priority} over {one.own_priority}")
    return (moment(one.at), one.cause, f"{one.tenant}/{one.job}", one.attempt, one.cluster, *whose, *numbers)
