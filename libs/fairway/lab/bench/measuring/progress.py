"""What a benchmark shows a person while it runs."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


class Bar:
    """A progress bar on standard error, one line for each phase."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description:>17}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self.progress = Progress(*columns, console=Console(stderr=True))
        self._task: TaskID | None = None

    def tell(self, phase: str, amount: int) -> None:
        if phase:
            if self._task is not None:
                self.progress.stop_task(self._task)
            self._task = self.progress.add_task(phase, total=amount or None)
        elif self._task is not None:
            self.progress.advance(self._task, amount)
