"""How far a replay is, as its display shows it."""

import sys
from collections.abc import Callable

import typer
from msgspec import Struct
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from fairway.client.terminal import console


class Progress(Struct, frozen=True):
    """`wall` is in seconds since the first submission."""

    total: int
    submitted: int
    accepted: int
    running: int
    done: int
    wall: float


OnProgress = Callable[[Progress], None]


class ProgressDisplay:
    """A bar on a terminal, a line every few seconds elsewhere. Everything on standard error."""

    def __init__(self, total: int) -> None:
        self._console = console(sys.stderr)
        text = "{task.completed}/{task.total} ended  {task.fields[running]} running"
        self.bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn(text),
            TimeElapsedColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task: TaskID = self.bar.add_task("starting", total=total, running=0)
        self._next = 0.0

    def show(self, now: Progress) -> None:
        self.bar.update(self._task, description="replaying", completed=now.done, running=now.running)
        if not self._console.is_terminal and (now.wall >= self._next or now.done == now.total):
            self._next = now.wall + 5
            counts = f"{now.submitted} submitted, {now.accepted} accepted, {now.running} running, {now.done} ended"
            typer.echo(f"{now.wall:6.1f} s  {counts} of {now.total}", err=True)
