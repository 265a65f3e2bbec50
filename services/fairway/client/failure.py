"""How a command ends when it does not end well: a word on standard error, and an exit code of its own."""

import typer

ERROR = 1
USAGE = 2
NOT_FOUND = 3
DENIED = 4
TIMEOUT = 5
UNREACHABLE = 6
# Of `submit --wait`: the job itself ended like this.
JOB_FAILED = 10
JOB_CANCELLED = 11


class Failure(Exception):
    """`text` is the cause, `remedy` what to do about it."""

    def __init__(self, code: int, text: str, remedy: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.args[0]}; {self.remedy}" if self.remedy else str(self.args[0])


def say(text: str) -> None:
    """A diagnostic: to standard error, so that data on standard output stays clean."""
    typer.echo(text, err=True)
