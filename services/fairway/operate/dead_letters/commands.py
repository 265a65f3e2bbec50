"""`fairway dlq`: the dead letters, which are messages that could not be handled; seen, said again, dropped."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import typer

from fairway.client.failure import DENIED, NOT_FOUND, USAGE, Failure
from fairway.client.options import Json, check_output

Number = Annotated[int, typer.Argument(min=1, help="of the letter, as `fairway dlq list` has it")]
Numbers = Annotated[list[int] | None, typer.Argument(min=1, help="of the letters", show_default=False)]
Service = Annotated[str, typer.Option("-s", "--service", help="only letters of this service")]
All = Annotated[bool, typer.Option("--all", help="every letter, or every one of --service")]

commands = typer.Typer(name="dlq", no_args_is_help=True, help="Dead letters: messages that no service could handle.")


@commands.command("list")
def list_(service: Service = "", output: Json = "") -> None:
    """List the letters, oldest first: whose they are, when and why they came, which message they hold."""
    from fairway.operate.dead_letters import show as dlq_show

    dlq_show.show_all(_carried_out(output, lambda dlq: dlq.found(service)), output)


@commands.command()
def show(number: Number, output: Json = "") -> None:
    """Show one letter whole, with the message that it holds."""
    from fairway.operate.dead_letters import show as dlq_show

    kept = _carried_out(output, lambda dlq: dlq.one(number))
    if kept is None:
        raise Failure(NOT_FOUND, f"there is no dead letter {number}", "`fairway dlq list` has their numbers")
    dlq_show.show_one(kept, output)


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
