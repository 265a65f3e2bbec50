"""`fairway audit verify`: does the record say what the store says, and was everything well by it? `fairway audit who`:
who did what, and was refused what."""

from typing import Annotated

import typer

from fairway.client.failure import ERROR
from fairway.client.options import Json, check_output

commands = typer.Typer(name="audit", no_args_is_help=True, help="Questions to the record itself.")


@commands.command()
def verify(output: Json = "") -> None:
    """Replay the record twice from zero, compare it with the store key by key, and check it against the rules.

    The fleet may work meanwhile: what differs is looked at again before it is called drift. Ends with 1 if there is
    any, or a rule is broken.
    """
    import asyncio

    from fairway.operate.audit import show as audit_show
    from fairway.operate.audit import verify as audit_work
    from fairway.process.log import configure

    check_output(output)
    configure()
    audit = asyncio.run(audit_work.verified())
    audit_show.show(audit, output)
    if not audit.ok:
        raise typer.Exit(ERROR)


@commands.command()
def who(
    user: Annotated[str, typer.Option("-u", "--user", help="only theirs, as the hub knows them; all by default")] = "",
    since: Annotated[str, typer.Option(help="how far back: 30m, 12h, 7d, or a time like 2025-11-03T10:00")] = "7d",
    refused: Annotated[bool, typer.Option("--refused", help="only what they were refused")] = False,
    output: Json = "",
) -> None:
    """What users did and were refused, and which manifests they read: over HTTP, on the hub, on the bus, and with the
    operator's credential.

    A user is `system:serviceaccount:NAMESPACE:NAME` or a person over HTTP, `hub:NAMESPACE` on the hub, whose own audit
    log knows the person, a namespace on the bus, and whom the machine knows for an operator's command.
    """
    import asyncio

    from fairway.adapters.system_clock import SystemClock
    from fairway.operate.audit import deed_table
    from fairway.operate.audit import who as audit_work
    from fairway.operate.audit.since import since_of
    from fairway.process.log import configure

    check_output(output)
    configure()
    at = since_of(since, SystemClock().now())
    deed_table.show(asyncio.run(audit_work.found(audit_work.DeedFilter(user, at, refused))), output)
