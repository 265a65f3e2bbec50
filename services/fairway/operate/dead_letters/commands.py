"""`fairway dlq`: the dead letters, which are messages that could not be handled; seen, said again, dropped."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import typer

from fairway.client.failure import DENIED, NOT_FOUND, USAGE, Failure
from fairway.client.options import Json, TokenFile, Url, check_output

Number = Annotated[int, typer.Argument(min=1, help="of the letter, as `fairway dlq list` has it")]
Numbers = Annotated[list[int] | None, typer.Argument(min=1, help="of the letters", show_default=False)]
Http = Annotated[bool, typer.Option("--http", help="ask the gateway, as yourself, without a credential of NATS")]
Service = Annotated[str, typer.Option("-s", "--service", help="only letters of this service")]
All = Annotated[bool, typer.Option("--all", help="every letter, or every one of --service")]

commands = typer.Typer(name="dlq", no_args_is_help=True, help="Dead letters: messages that no service could handle.")


@commands.command("list")
def list_(
    service: Service = "", http: Http = False, output: Json = "", url: Url = "", token_file: TokenFile = ""
) -> None:
    """List the letters, oldest first: whose they are, when and why they came, which message they hold."""
    from fairway.client.api import connect
    from fairway.operate.dead_letters import over_http
    from fairway.operate.dead_letters import show as dlq_show

    check_output(output)
    if http:
        found = over_http.found(connect(url, token_file), service)
    else:
        found = _carried_out(output, lambda dlq: dlq.found(service))
    dlq_show.show_all(found, output)


@commands.command()
def show(number: Number, http: Http = False, output: Json = "", url: Url = "", token_file: TokenFile = "") -> None:
    """Show one letter, with its message if you may see that. That you were shown it stands in the audit."""
    from fairway.client.api import connect
    from fairway.operate.dead_letters import over_http
    from fairway.operate.dead_letters import show as dlq_show

    check_output(output)
    if http:
        letter = over_http.one(connect(url, token_file), number)
    elif (kept := _carried_out(output, lambda dlq: dlq.one(number))) is None:
        raise Failure(NOT_FOUND, f"there is no dead letter {number}", "`fairway dlq list` has their numbers")
    else:
        letter = dlq_show.ShownLetter.of(kept)
    dlq_show.show_one(letter, output)


@commands.command()
def retry(numbers: Numbers = None, all: All = False, service: Service = "", output: Json = "") -> None:
    """Say the messages again where they were said; a letter goes once its message is stored.

    A message is known by its id, so that one that was handled already does nothing. The bus knows ids for two
    minutes: a letter younger than that waits for it.
    """
    asked = _asked(numbers, all, service)
    _tell(_carried_out(output, lambda dlq: dlq.retried(asked)), output)


@commands.command()
def drop(numbers: Numbers = None, all: All = False, service: Service = "", output: Json = "") -> None:
    """Delete letters for good. Who did it is said in a line of the log, with what the letter was."""
    asked = _asked(numbers, all, service)
    _tell(_carried_out(output, lambda dlq: dlq.dropped(asked)), output)


def _asked(numbers: list[int] | None, all: bool, service: str) -> Any:
    from fairway.operate.dead_letters.retry import LetterSelection

    if bool(numbers) == all or (numbers and service):
        raise Failure(USAGE, "which letters?", "give their numbers, or --all, or --all with --service")
    return LetterSelection(tuple(numbers or ()), service)


def _carried_out(output: str, work: Callable[[Any], Coroutine[Any, Any, Any]]) -> Any:
    import asyncio

    from fairway.operate.dead_letters import retry as dlq_work
    from fairway.process.log import configure

    check_output(output)
    configure()
    return asyncio.run(work(dlq_work))


def _tell(outcomes: Any, output: str) -> None:
    from fairway.operate.dead_letters import retry as dlq_work
    from fairway.operate.dead_letters import show as dlq_show

    dlq_show.show_outcomes(outcomes, output)
    if any(one.done == dlq_work.NOT_THERE for one in outcomes):
        raise typer.Exit(NOT_FOUND)
    if any(one.why is not None for one in outcomes):
        raise typer.Exit(DENIED)
