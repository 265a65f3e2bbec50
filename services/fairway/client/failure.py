"""How a command ends when it does not end well: a word on standard error, and an exit code of its own."""

from typing import NoReturn

import typer

ERROR, USAGE, NOT_FOUND, DENIED, TIMEOUT, UNREACHABLE = 1, 2, 3, 4, 5, 6
# Of `submit --wait`: the job itself ended like this.
JOB_FAILED, JOB_CANCELLED = 10, 11


class Failure(Exception):
    """`text` is the cause, `remedy` what to do about it."""

    def __init__(self, code: int, text: str, remedy: str = "") -> None:
        super().__init__(text)
        self.code, self.remedy = code, remedy

    def __str__(self) -> str:
        return f"{self.args[0]}; {self.remedy}" if self.remedy else str(self.args[0])


def say(text: str) -> None:
    """A diagnostic: to standard error, so that data on standard output stays clean."""
    typer.echo(text, err=True)


def end(failure: Failure) -> NoReturn:
    say(f"fairway: {failure}")
    raise typer.Exit(failure.code)
