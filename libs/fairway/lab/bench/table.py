"""All benchmarks one after the other, each in a process of its own, and one table of their goals."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from rich.table import Table
from rich.text import Text

from fairway.lab.bench.measuring.outcome import Goal
from fairway.lab.processes.die_with_parent import guarded


class BenchEntry(Struct, frozen=True):
    """A benchmark as `make bench` runs it. `quick` are its options where minutes matter more than steady figures; with
    None it is left out then. One that is run once more with other options has a name of its own, and says whose run it
    is: `of`. Goals that do not hold for those options give way to the figures that are `shown`."""

    name: str
    full: tuple[str, ...] = ()
    quick: tuple[str, ...] | None = ()
    of: str = ""
    shown: tuple[str, ...] = ()


_RATE = ("jobs_per_second", "half_p50_ms", "half_p99_ms")
BENCHES = (
    BenchEntry("pipeline", quick=("--jobs", "5000", "--warmup", "500")),
    BenchEntry("pipeline-always", ("--jobs", "20000", "--sync", "always"), None, "pipeline", _RATE),
    BenchEntry("pipeline-r3", ("--jobs", "20000", "--servers", "3"), None, "pipeline", _RATE),
    BenchEntry("decisions", quick=("--decisions", "1000", "--warmup", "300")),
    BenchEntry("evict", quick=("--seeds", "1", "--rounds", "5", "--small", "50", "--victims", "64", "--owners", "0")),
    BenchEntry("scrape", quick=("--scrapes", "3")),
    BenchEntry("wake-up", quick=("--jobs", "1000", "--rounds", "40")),
    BenchEntry("backlog", quick=("--jobs", "5000")),
    BenchEntry("backlog-million", ("--jobs", "1000000"), None, "backlog"),
    BenchEntry("rebuild", quick=("--jobs", "5000", "--waiting", "200")),
    BenchEntry("clusters", quick=("--sizes", "3,30,100", "--jobs", "1000", "--warmup", "200")),
    BenchEntry("workers", quick=("--jobs", "1000", "--warmup", "200", "--takeovers", "2")),
    BenchEntry("recording", quick=("--jobs", "1000", "--ended", "200", "--warmup", "200")),
    BenchEntry("kueue-baseline", quick=("--jobs", "50", "--clusters", "1")),
    BenchEntry("report", quick=("--nodes", "500", "--pods", "5000", "--seconds", "20")),
    BenchEntry("kubernetes", quick=("--jobs", "100", "--calm", "20", "--freed", "5")),
)


class BenchResult(Struct):
    """What is shown of an outcome, or why there is none."""

    name: str
    figures: dict[str, float] = {}
    goals: dict[str, Goal] = {}
    error: str = ""


async def run(entry: BenchEntry, quick: bool, folder: Path) -> BenchResult:
    """Its JSON goes to `folder`; its progress is seen on standard error."""
    options = entry.quick or () if quick else entry.full
    options = (entry.of or entry.name, *options, "-o", "json")
    # It ends with this process, however that ends.
    line = guarded(sys.executable, "-m", "fairway.cli.main", "bench", *options)
    child = await asyncio.create_subprocess_exec(*line, stdout=asyncio.subprocess.PIPE)
    said, _ = await child.communicate()
    if child.returncode:
        return BenchResult(entry.name, error=f"it ended with {child.returncode}; see above")
    (folder / f"{entry.name}.json").write_bytes(said)
    found: Any = msgspec.json.decode(said)
    result = BenchResult(entry.name, found["figures"], msgspec.convert(found["goals"], dict[str, Goal]))
    if entry.shown:
        result.goals = dict.fromkeys(entry.shown, Goal())
    return result


def table(results: list[BenchResult]) -> Table:
    """A row for each goal, or figure that is shown without one; `of goal` is 1 where it is just met, and more where it
    is bettered."""
    shown = Table("benchmark", "figure", "goal", "measured", "of goal", "")
    for one in results:
        if one.error:
            shown.add_row(one.name, "-", "-", "-", "-", Text(f"failed: {one.error}", "red"))
        for name, goal in one.goals.items():
            figure = one.figures[name]
            if goal == Goal():
                shown.add_row(one.name, name, "-", f"{figure:,.6g}", "-", "")
                continue
            mark = Text("met", "green") if goal.met(figure) else Text("missed", "red")
            shown.add_row(one.name, name, str(goal), f"{figure:,.6g}", f"{goal.share(figure):.2f}", mark)
    return shown
