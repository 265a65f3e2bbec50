"""`fairway rebuild`: the working set made anew from the record."""

from typing import Annotated

import typer

from fairway.client.options import Json, check_output

commands = typer.Typer()


@commands.command()
def rebuild(
    yes: Annotated[bool, typer.Option("--yes", help="do not ask first")] = False,
    timeout: Annotated[float, typer.Option(min=1, help="seconds in which a service has to have done it")] = 300,
    output: Json = "",
) -> None:
    """Take the working set away from all services, and wait until one has made it anew from the record.

    Nothing is decided meanwhile, and nothing is placed in a cluster before its agent has reported anew. What runs runs
    on. The agents, and at least one service, have to be up.
    """
    import asyncio

    from fairway.operate import servers
    from fairway.operate.rebuild import rebuild as rebuild_work

    check_output(output)
    of = servers.settings()
    if not yes and not typer.confirm(rebuild_work.question(of), err=True):
        raise typer.Exit(1)
    rebuild_work.show(asyncio.run(rebuild_work.rebuilt(of, timeout)), output)
