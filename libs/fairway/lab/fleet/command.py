"""`fairway up`: a fleet on this machine, in the foreground, until Ctrl-C."""

from pathlib import Path
from typing import Annotated

import typer

from fairway.client.failure import ERROR, USAGE, Failure

_commands = typer.Typer()


def register(app: typer.Typer) -> None:
    app.add_typer(_commands)


@_commands.command()
def up(
    clusters: Annotated[int, typer.Option(help="how many member clusters, 1 to 50")] = 3,
    dir: Annotated[Path, typer.Option(help="where it writes what it needs")] = Path(".fairway"),
    real: Annotated[bool, typer.Option("--real", help="real Kubernetes in place of the simulator")] = False,
) -> None:
    """Start an embedded fleet: NATS, Valkey, a hub, simulated member clusters, all services. Ctrl-C ends it.

    Its clusters keep nothing, so every start begins with an empty record. With --real the hub and three members are
    real API servers with real schedulers and operators, built from source at the first time (about 20 minutes).
    """
    if not 1 <= clusters <= 50:
        raise Failure(USAGE, f"--clusters {clusters} is out of range", "use 1 to 50")
    import uvloop

    from fairway.lab.fleet import foreground

    try:
        uvloop.run(foreground.stay_up(dir, foreground.real() if real else foreground.simulated(clusters)))
    except (OSError, RuntimeError) as error:
        raise Failure(ERROR, f"the fleet did not start: {error}") from error
