"""`fairway audit verify`: does the record say what the store says, and was everything well by it?"""

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
