"""`fairway demo`."""

from pathlib import Path
from typing import Annotated

import typer

from fairway.client.failure import say

SCENARIO = Path(__file__).parent / "script" / "scenario.yaml"
INTERRUPTED = 130

_commands = typer.Typer()


def register(app: typer.Typer) -> None:
    app.add_typer(_commands)


@_commands.command()
def demo(
    scenario: Annotated[Path, typer.Option(help="another scenario", show_default=False)] = SCENARIO,
) -> None:
    """Play a scenario on an embedded fleet of three clusters: every job kind, a gang that waits for whole nodes, quota,
    priority, queues, a min that is got back, a preemption, a job that moves, a refusal, a cancellation. About 30
    seconds; leaves nothing behind.

    Ends with 0 only if every job reached the state that the scenario names beforehand.
    """
    import asyncio

    import uvloop

    from fairway.lab.demo.play import play

    try:
        kept = uvloop.run(play(scenario))
    except (asyncio.CancelledError, KeyboardInterrupt):
        say("interrupted; nothing of the demo is left running")
        raise typer.Exit(INTERRUPTED) from None
    if not kept:
        raise typer.Exit(1)
