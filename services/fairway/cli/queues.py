"""`fairway queue` and `fairway clusters`: who waits where and why, and where there is room."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from fairway.cli.jobs import Output
from fairway.client.failure import NOT_FOUND, Failure
from fairway.client.options import Json, TokenFile, Url, check_output
from fairway.gateway.http.answers import JobRow, QueueRow

commands = typer.Typer()


@commands.command()
def queue(
    name: Annotated[str, typer.Argument(help="only this one", show_default=False)] = "",
    output: Json = "",
    url: Url = "",
    token_file: TokenFile = "",
) -> None:
    """Every queue, and in it who waits, in which order, how long and why."""
    import msgspec

    from fairway.adapters.system_clock import SystemClock
    from fairway.client.api import connect
    from fairway.client.terminal import console

    check_output(output)
    api = connect(url, token_file)
    rows = msgspec.convert(api.get("/v1/queues")["items"], list[QueueRow])
    queues = [one for one in rows if name in ("", one.name)]
    if name and not queues:
        raise Failure(NOT_FOUND, f"there is no queue {name}", "`fairway queue` lists them")
    waiting = msgspec.convert(list(api.jobs(state="queued")), list[JobRow])
    if output:
        found: list[Any] = [
            {**msgspec.to_builtins(one), "jobs": msgspec.to_builtins(ordered(one, waiting))} for one in queues
        ]
        typer.echo(msgspec.json.format(msgspec.json.encode({"items": found})).decode())
    else:
        console().print(render(queues, waiting, SystemClock().now()), end="")


@commands.command()
def clusters(output: Output = "", url: Url = "", token_file: TokenFile = "") -> None:
    """Every member cluster: its nodes, what is free, how old that news is."""
    from fairway.cli import listing
    from fairway.client.api import connect

    listing.show(listing.ListOptions("clusters", output=output), connect(url, token_file), False)


def ordered(queue: QueueRow, jobs: Sequence[JobRow]) -> list[JobRow]:
    """Those of a queue as they stand in it: by priority, unless time alone decides there, then as they came."""
    mine = (one for one in jobs if one.queue == queue.name)
    return sorted(mine, key=lambda one: (0 if queue.by_time else -one.priority, one.enqueued_at, one.id))


def render(queues: Sequence[QueueRow], waiting: Sequence[JobRow], now: int) -> Text:
    """The queues as a table, then those who wait in each."""
    from fairway.cli.tables import render_queues
    from fairway.client.terminal import render_table
    from fairway.explain.wording import span

    text = render_queues(queues, now)
    columns = ["", "JOB", "KIND", "PODS", "PRIORITY", "WAITS", "REASON", "MESSAGE"]
    for one in queues:
        lines = [
            [
                f"{place}.",
                f"{job.namespace}/{job.name or job.id}",
                job.kind or "-",
                job.pods,
                job.priority,
                span(now - job.enqueued_at),
                job.reason or "Queued",
                job.text or "-",
            ]
            for place, job in enumerate(ordered(one, waiting), 1)
        ]
        if lines:
            text.append(f"\n{one.name}\n", "bold")
            text.append(render_table(columns, lines, "REASON"))
    return text
