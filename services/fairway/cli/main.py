"""`fairway`: everything a person types. Each command is thin; what it does is in a module of its own, and is imported
only when it is asked for, so that a question is answered at once."""

import gc
import os
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fairway.cli import crds, jobs, queues, submit
from fairway.client.failure import USAGE, Failure, say
from fairway.client.hub_address import arguments, asked
from fairway.join import commands as join
from fairway.operate.audit import commands as audit
from fairway.operate.dead_letters import commands as dlq
from fairway.operate.evictions import command as evictions
from fairway.operate.rebuild import command as rebuild
from fairway.operate.replay import command as replay_command
from fairway.operate.setup import command as setup
from fairway.process.pipeline import EVERYTHING, KEEPER, MEMBER, everything


class _Program(TyperGroup):
    """A command that cannot do its work raises Failure."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Failure as failure:
            say(f"fairway: {failure}")
            raise typer.Exit(failure.code) from None
        except KeyboardInterrupt:
            raise typer.Exit(130) from None


_NAMES = (*EVERYTHING, KEEPER)
app = typer.Typer(
    cls=_Program, no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False, rich_markup_mode=None
)


@app.callback()
def _program() -> None:
    """Place AI and batch jobs on the right one of many Kubernetes clusters."""
    folder = os.environ.get("FAIRWAY_KINDS_DIR")
    accounts = os.environ.get("FAIRWAY_OPERATOR_ACCOUNTS")
    annotations = os.environ.get("FAIRWAY_BATCH_ANNOTATIONS")
    if not folder and not accounts and not annotations:
        return
    from fairway.process.declared_kinds import declare_all, read_batch_annotations, run_all_as

    if folder:
        declare_all(Path(folder))
    if accounts:
        run_all_as(accounts)
    if annotations:
        read_batch_annotations(annotations)


@app.command()
def run(
    services: Annotated[list[str], typer.Argument(help=f"one or more of {', '.join(_NAMES)}, or all; or {MEMBER}")],
    cluster: Annotated[str, typer.Option(help="for `run agent` and `run member`: which one; else all")] = "",
    insecure: Annotated[bool, typer.Option("--insecure", hidden=True)] = False,
    announce: Annotated[bool, typer.Option("--announce", help="print a line of JSON once everything works")] = False,
) -> None:
    """Run services in this process, against the NATS, Redis and clusters of the environment."""
    gc.disable()  # nothing of what is loaded now ever goes; looking for what could costs an eighth of the time
    import msgspec
    import uvloop

    from fairway.process import main as process
    from fairway.process.log import configure
    from fairway.process.members.pull_mode import run_member
    from fairway.process.settings import NO_LONGER_INSECURE, from_environment

    gc.enable()
    if insecure:
        raise Failure(USAGE, "--insecure is gone", NO_LONGER_INSECURE)
    unknown = sorted(set(services) - {*_NAMES, "all", MEMBER})
    if unknown or (MEMBER in services and len(services) > 1):
        what = f"unknown service {', '.join(unknown)}" if unknown else f"{MEMBER} runs alone"
        raise Failure(USAGE, what, f"choose from {', '.join(_NAMES)}, all, or {MEMBER}")

    def ready(facts: dict[str, Any]) -> None:
        if announce:
            print(msgspec.json.encode(facts).decode(), flush=True)

    try:
        configure()
        settings = from_environment()
        settings = msgspec.structs.replace(settings, only_cluster=cluster)
        names = everything(settings.manifests_kept) if "all" in services else tuple(services)
        uvloop.run(run_member(settings, ready) if MEMBER in names else process.run(names, settings, ready))
    except ValueError as error:
        raise Failure(USAGE, str(error)) from error


for _part in (submit, jobs, queues, join, dlq, audit, evictions, rebuild, replay_command, setup, crds):
    app.add_typer(_part.commands)
# Commands of other packages: `fairway up`, `demo`, `bench` and more, where fairway-lab is installed.
for _found in entry_points(group="fairway.commands"):
    _found.load()(app)


def main() -> None:
    """Also as `kubectl-fairway`, which is how kubectl runs `kubectl fairway`."""
    try:
        given = arguments(sys.argv[0], sys.argv[1:])
    except Failure as failure:
        say(f"fairway: {failure}")
        sys.exit(failure.code)
    app(given, prog_name="kubectl fairway" if asked.plugin else "fairway")


if __name__ == "__main__":
    main()
