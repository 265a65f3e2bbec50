"""`fairway setup` and `fairway credentials`."""

from pathlib import Path
from typing import Annotated

import typer

from fairway.client.failure import ERROR, USAGE, Failure

commands = typer.Typer()


@commands.command()
def setup() -> None:
    """Make or change the streams and consumers of NATS, before services of this version start.

    Services wait for them and make none. It may run at any time, and while services of the version before still run.
    FAIRWAY_NATS_URL says where NATS is, FAIRWAY_REPLICAS how many copies it keeps, FAIRWAY_VIEWS_DAYS and
    FAIRWAY_VIEWS_MIB what is kept for `fairway replay`, FAIRWAY_CREDENTIALS_DIR holds the credential `setup`.
    A NATS that is not there is waited for; one that does not take the credential ends the command.
    """
    import asyncio

    from fairway.adapters.logins import RightsRefused
    from fairway.adapters.nats.server_addresses import NotLetIn
    from fairway.operate import servers
    from fairway.process.log import configure
    from fairway.process.servers.streams import set_up
    from fairway.runtime.vital_tasks import carried_out

    configure()
    of = servers.settings()
    typer.echo(f"{servers.shown(of.nats_url)}: waiting for NATS", err=True)
    try:
        made = asyncio.run(carried_out(set_up(of)))
    except ValueError as error:
        raise Failure(USAGE, str(error)) from None
    except NotLetIn as error:
        raise Failure(ERROR, str(error)) from None
    except RightsRefused as error:
        raise Failure(ERROR, str(error), "FAIRWAY_CREDENTIALS_DIR has to name the folder `setup`") from None
    typer.echo(f"{servers.shown(of.nats_url)}: {', '.join(made)} and their consumers are as this version wants them")


@commands.command()
def credentials(
    folder: Annotated[Path, typer.Argument(help="where they are written; what is there keeps its password")],
    process: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=SERVICE,SERVICE, NAME=all or NAME=all,keeper: for a process that runs several services"
        ),
    ] = None,
    renew: Annotated[list[str] | None, typer.Option(help="whose password is made anew")] = None,
) -> None:
    """Make a user of NATS and of Valkey for each service, each with the rights of its work alone.

    Below FOLDER come nats/services.conf and valkey/users.acl for the servers, and a folder for each process, which its
    FAIRWAY_CREDENTIALS_DIR names. Run it again after an upgrade: rights may have changed.
    """
    from fairway.operate.setup.credentials import read_processes, write

    try:
        write(folder, read_processes(process or []), renew or [])
    except (ValueError, OSError) as error:
        raise Failure(USAGE, str(error)) from None
    typer.echo(f"{folder}: users of NATS (nats/services.conf) and Valkey (valkey/users.acl), and a folder for each")
