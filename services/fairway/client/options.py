"""Options of every command that asks a running fleet."""

from typing import Annotated

import typer

Url = Annotated[str, typer.Option(help="the fleet's HTTP address; else FAIRWAY_URL, else the fleet of ./.fairway")]
TokenFile = Annotated[str, typer.Option(help="a file with a bearer token; else FAIRWAY_TOKEN_FILE, else its own")]
