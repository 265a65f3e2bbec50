"""`fairway evictions`: who had to make room, for whom, and by which right."""

from typing import Annotated

import typer

from fairway.client.failure import USAGE, Failure
from fairway.client.options import Json, TokenFile, Url, check_output

commands = typer.Typer()


@commands.command()
def evictions(
    since: Annotated[str, typer.Option(help="how far back: 30m, 12h, 7d, or a time like 2025-11-03T10:00")] = "7d",
    claim: Annotated[str, typer.Option(help="only for this claim, by its id or the beginning of it")] = "",
    job: Annotated[str, typer.Option(help="only of this job, or for it; its id, or the beginning of it")] = "",
    http: Annotated[bool, typer.Option("--http", help="of --job, as yourself, without a credential of NATS")] = False,
    output: Json = "",
    url: Url = "",
    token_file: TokenFile = "",
) -> None:
    """List the attempts that were ended to make room for others, newest first.

    Reads NATS: FAIRWAY_NATS_URL, or the fleet of ./.fairway. With --http the gateway is asked what whoever asks may
    see: of a job of one's own, when and for whose quota it had to go, and never for which job.
    """
    import asyncio

    from fairway.adapters.system_clock import SystemClock
    from fairway.client.api import connect
    from fairway.operate.audit.since import since_of
    from fairway.operate.evictions import read, table
    from fairway.operate.evictions.told_evictions import EvictionFilter
    from fairway.process.log import configure

    check_output(output)
    at = since_of(since, SystemClock().now())
    if http and not job:
        raise Failure(USAGE, "of which job?", "give --job, or leave --http out")
    if http:
        found = read.of_job(connect(url, token_file), job, "", EvictionFilter(at, claim))
    else:
        configure()
        found = asyncio.run(read.found(EvictionFilter(at, claim, job)))
    table.show(found, output)
