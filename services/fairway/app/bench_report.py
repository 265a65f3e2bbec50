"""What the benchmark shows a person: a progress bar while it runs, and a dozen lines at its end."""

from typing import Any

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


def text(report: dict[str, Any]) -> str:
    """The report in a dozen lines."""
    f, jobs = report["figures"], report["jobs"]
    lines = [
        f"{f['jobs_per_second']:,.0f} jobs/s submitted to dispatched ({jobs['dispatched']:,} of {jobs['submitted']:,} "
        f"dispatched, {jobs['not_once']} not exactly once)",
        f"{f['bare_jobs_per_second']:,.0f} jobs/s for the bare bus: ratio {f['ratio']:.2f}",
        f"latency p50 {f['p50_ms']} ms, p99 {f['p99_ms']} ms with {report['run']['window']} under way; "
        f"p50 {f['half_p50_ms']} ms, p99 {f['half_p99_ms']} ms at half the rate",
        f"processor time a job: {f['cpu_us_per_job']:,.0f} us (bare bus {f['bare_cpu_us_per_job']:,.0f} us)",
    ]
    for name, spent in report["cpu_us_per_job"].items():
        rss = report["rss_mib"].get(name)
        lines.append(f"  {name:40} {spent:8,.0f} us" + (f" {rss:8,.0f} MiB" if rss else ""))
    lines += [f"goal {name} {goal:,}: {'met' if report['met'][name] else 'missed'}" for name, goal in
              report["goals"].items()]  # fmt: skip
    return "\n".join(lines)
