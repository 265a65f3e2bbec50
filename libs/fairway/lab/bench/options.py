"""What the commands of the benchmarks have in common: what is looked at before, and how an outcome is shown."""

import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import typer
from msgspec.structs import asdict

from fairway.client.failure import ERROR, USAGE, Failure
from fairway.domain.quota.node_terms import ORDERS, duration
from fairway.domain.text.digits import is_whole
from fairway.lab.bench.runs import AgentRun, KubernetesRun, KueueRun


def check(run: Any) -> None:
    """Ends the command when an option is of no use, or Kubernetes was not built."""
    from fairway.lab.bench.pipeline.fleet import SPLITS
    from fairway.lab.fleet.foreground import built

    if getattr(run, "processes", 1) not in SPLITS:
        raise Failure(USAGE, f"--processes is {run.processes}", f"choose from {', '.join(map(str, SPLITS))}")
    if isinstance(run, KubernetesRun | AgentRun):
        built()
    if isinstance(run, KueueRun) and run.jobs % 10:
        raise Failure(USAGE, f"--jobs is {run.jobs}", "give a multiple of ten: seven are small, two medium, one large")
    if isinstance(run, KueueRun) and run.patience:
        try:
            duration(run.patience)
        except ValueError as error:
            raise Failure(USAGE, f"--patience: {error}", "write 0s for none") from error
    if isinstance(run, KueueRun) and run.order not in ("", *ORDERS):
        raise Failure(USAGE, f"--order is {run.order!r}", f"choose from {', '.join(ORDERS)}")


def numbers(name: str, text: str) -> tuple[int, ...]:
    """Of clusters or instances, as `--name` gives them."""
    found = tuple(int(one) for one in text.split(",") if is_whole(one) and int(one))
    if len(found) != text.count(",") + 1:
        raise Failure(USAGE, f"--{name} is {text!r}", "give whole numbers from 1 on, such as 3,30")
    return found


def show(name: str, measure: Callable[..., Coroutine[Any, Any, Any]], run: Any, directory: str, output: str) -> None:
    """Measures, with a progress bar on standard error, and prints the outcome."""
    import uvloop

    from fairway.lab.bench.measuring.facts import machine
    from fairway.lab.bench.measuring.progress import Bar
    from fairway.process.log import beside_output

    if output not in ("json", "text"):
        raise Failure(USAGE, f"-o is {output!r}", "choose json or text")
    beside_output()
    bar = Bar()
    before = machine()
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as temporary, bar.progress:
        outcome = uvloop.run(measure(run, Path(directory or temporary), bar.tell))
    outcome.name = name
    outcome.machine = before
    outcome.run = asdict(run)
    typer.echo(outcome.json() if output == "json" else outcome.text())
    if outcome.wrong:
        raise Failure(ERROR, outcome.wrong, "see the logs of the services in the folder that --dir names")
