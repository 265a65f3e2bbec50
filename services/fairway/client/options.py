"""Options of every command that asks a running fleet."""

from typing import Annotated

import typer

from fairway.client.failure import USAGE, Failure

Url = Annotated[str, typer.Option(help="the fleet's HTTP address; else FAIRWAY_URL, else the fleet of ./.fairway")]
Json = Annotated[str, typer.Option("-o", "--output", help="json; words for a person by default")]
TokenFile = Annotated[str, typer.Option(help="a file with a bearer token; else FAIRWAY_TOKEN_FILE, else its own")]


def check_output(output: str, *others: str) -> None:
    """Of a command that knows json, and `others`. Raises Failure."""
    if output not in ("", "json", *others):
        raise Failure(USAGE, f"-o {output} is not known", f"use {' or '.join(('json', *others))}, or leave it out")
