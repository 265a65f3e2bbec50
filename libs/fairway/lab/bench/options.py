"""What the commands of the benchmarks have in common: their options, and how an outcome is shown."""

import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

from fairway.client.failure import ERROR, USAGE, Failure, end
from fairway.domain.text.digits import is_whole

Dir = Annotated[str, typer.Option("--dir", help="where to keep logs and data; else nothing is kept")]
Output = Annotated[str, typer.Option("-o", "--output", help="json, or a text for people")]
Warmup = Annotated[int, typer.Option(min=1, help="jobs before the measurement")]
Window = Annotated[int, typer.Option(min=1, help="most jobs under way at a time")]
Clusters = Annotated[int, typer.Option(min=1)]
Nodes = Annotated[int, typer.Option(min=1, help="nodes of each cluster")]
Sizes = Annotated[str, typer.Option(help="numbers of clusters, with commas between")]
Tenants = Annotated[int, typer.Option(min=1)]
Seed = Annotated[int, typer.Option(help="of the mix of jobs")]
Processes = Annotated[int, typer.Option(help="over how many processes the services are spread: 1 to 4, or 7")]


def check_processes(given: int) -> None:
    from fairway.lab.bench.pipeline.fleet import SPLITS

    if given not in SPLITS:
        end(Failure(USAGE, f"--processes is {given}", f"choose from {', '.join(map(str, SPLITS))}"))


def numbers(sizes: str) -> tuple[int, ...]:
    """Of clusters, as `--sizes` gives them."""
    found = tuple(int(one) for one in sizes.split(",") if is_whole(one) and int(one))
    if len(found) != sizes.count(",") + 1:
        end(Failure(USAGE, f"--sizes is {sizes!r}", "give numbers of clusters such as 3,30"))
    return found


def show(measure: Callable[..., Coroutine[Any, Any, Any]], run: Any, directory: str, output: str) -> None:
    """Measures, with a progress bar on standard error, and prints the outcome."""
    import uvloop

    from fairway.lab.bench.measuring.progress import Bar

    if output not in ("json", "text"):
        end(Failure(USAGE, f"-o is {output!r}", "choose json or text"))
    bar = Bar()
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as temporary, bar.progress:
        outcome = uvloop.run(measure(run, Path(directory or temporary), bar.tell))
    typer.echo(outcome.json() if output == "json" else outcome.text())
    if outcome.wrong:
        end(Failure(ERROR, outcome.wrong, "see the logs of the services in the folder that --dir names"))
