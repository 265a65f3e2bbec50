"""Deeds of users on a terminal, or as JSON. Names in them came from anybody: they move no cursor."""

from collections.abc import Sequence

import typer

from fairway.client.terminal import console, json_text, render_table
from fairway.explain.wording import moment
from fairway.operate.audit.deeds import Deed


def show(deeds: Sequence[Deed], output: str) -> None:
    if output:
        typer.echo(json_text({"items": deeds}))
    elif not deeds:
        typer.echo("nothing is kept of that")
    else:
        columns = ["WHEN", "WHO", "VIA", "DOES", "WHAT", "NAME", "RESULT"]
        console().print(render_table(columns, [_row(one) for one in deeds]), end="")


def _row(one: Deed) -> tuple[str, ...]:
    name = "/".join(filter(None, (one.namespace, one.name or one.job))) or "-"
    return moment(one.at), one.who.user, one.who.via, one.does, one.what, name, _result(one)


def _result(one: Deed) -> str:
    times = f" ({one.times} times)" if one.times > 1 else ""
    if one.allowed:
        return f"done{times}"
    why = one.why[0] if one.why else None
    return f"refused{times}" + (f": {why.code.value}: {why.text}" if why else "")
