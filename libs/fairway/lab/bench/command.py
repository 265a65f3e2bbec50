"""`fairway bench`: how fast Fairway is on this machine, and what a job costs."""

import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from fairway.client.failure import ERROR, USAGE, Failure, say
from fairway.lab.bench import options, runs

_bench = typer.Typer(no_args_is_help=True, help="Measure Fairway on this machine, against real servers.")
_Run = type[Struct]
_DIRECTORY = Annotated[str, typer.Option("--dir", help="where to keep logs and data; else nothing is kept")]
_OUTPUT = Annotated[str, typer.Option("-o", "--output", help="json, or a text for people")]

# Command, what it is given, and the module that measures.
_BENCHES: tuple[tuple[str, _Run, str], ...] = (
    ("wake-up", runs.WakeUpRun, "waiting.wake_up"),
    ("backlog", runs.BacklogRun, "waiting.backlog"),
    ("clusters", runs.ClustersRun, "pipeline.clusters"),
    ("rebuild", runs.RebuildRun, "pipeline.rebuild"),
    ("workers", runs.WorkersRun, "workers.measure"),
    ("pipeline", runs.PipelineRun, "pipeline.measure"),
    ("recording", runs.RecordingRun, "recording.measure"),
    ("decisions", runs.DecisionsRun, "decisions.measure"),
    ("evict", runs.EvictRun, "evict.measure"),
    ("scrape", runs.ScrapeRun, "scrape.measure"),
    ("kubernetes", runs.KubernetesRun, "kubernetes.measure"),
    ("report", runs.AgentRun, "agent.measure"),
    ("kueue-baseline", runs.KueueRun, "kueue.measure"),
    ("allocation", runs.AllocationRun, "allocation.measure"),
    ("idle", runs.IdleRun, "idle.measure"),
)


def register(app: typer.Typer) -> None:
    app.add_typer(_bench, name="bench")


def _command(bench: str, run: _Run, module: str) -> Callable[..., None]:
    """A command whose options are the fields of `run` that say so."""
    hints = get_type_hints(run, include_extras=True)
    asked = {one.name: one.default for one in fields(run) if get_args(hints[one.name])[1:]}
    lists = {name for name, default in asked.items() if isinstance(default, tuple)}

    def command(directory: str, output: str, **given: Any) -> None:
        values = {name: options.numbers(name, value) if name in lists else value for name, value in given.items()}
        made = run(**values)
        options.check(made)
        options.show(bench, import_module(f"fairway.lab.bench.{module}").measure, made, directory, output)

    def parameter(name: str, kind: Any, default: Any) -> inspect.Parameter:
        if name in lists:  # typed with commas between
            kind = Annotated[str, get_args(kind)[1]]
            default = ",".join(map(str, default))
        default = inspect.Parameter.empty if default is NODEFAULT else default
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)

    own = [parameter(name, hints[name], default) for name, default in asked.items()]
    rest = [parameter("directory", _DIRECTORY, ""), parameter("output", _OUTPUT, "text")]
    command.__signature__ = inspect.Signature([*own, *rest])  # type: ignore[attr-defined]  # what typer reads
    command.__annotations__ = {one.name: one.annotation for one in (*own, *rest)}
    command.__doc__ = (inspect.getdoc(run) or "").partition("\n\n")[0]
    return command


for _name, _run, _module in _BENCHES:
    _bench.command(_name)(_command(_name, _run, _module))


@_bench.command("all")
def every(
    only: Annotated[str, typer.Option(help="names of benchmarks, with commas between")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="small runs: minutes in all, and less steady figures")] = False,
    directory: Annotated[Path, typer.Option("--dir", help="where to put the JSON of each")] = Path(".fairway/bench"),
) -> None:
    """All benchmarks one after the other, and one table of goals. Nothing else should run on the machine meanwhile."""
    import asyncio

    from fairway.client.terminal import console
    from fairway.lab.bench.table import BENCHES, run, table

    names = only.split(",") if only else [one.name for one in BENCHES]
    if unknown := sorted(set(names) - {one.name for one in BENCHES}):
        known = ", ".join(one.name for one in BENCHES)
        raise Failure(USAGE, f"no benchmark {', '.join(unknown)}", f"choose from {known}")
    directory.mkdir(parents=True, exist_ok=True)
    results = []
    for one in BENCHES:
        if one.name in names and not (quick and one.quick is None):
            say(f"fairway bench {one.name}")
            results.append(asyncio.run(run(one, quick, directory)))
    console().print(table(results))
    say(f"the JSON of each is in {directory}")
    if any(one.error for one in results):
        raise typer.Exit(ERROR)
