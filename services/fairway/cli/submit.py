"""`fairway submit`: files go in, jobs come out; or, with --dry-run, what would be said of them."""

from typing import Annotated

import typer

from fairway.client.failure import DENIED, say
from fairway.client.options import TokenFile, Url, check_output

Files = Annotated[
    list[str], typer.Option("-f", "--filename", help="a file, a folder, or - for standard input; may be repeated")
]
Output = Annotated[str, typer.Option("-o", "--output", help="json or name; lines for a person by default")]

commands = typer.Typer()


@commands.command()
def submit(
    files: Files,
    wait: Annotated[bool, typer.Option("--wait", help="wait for the end of every job")] = False,
    timeout: Annotated[str, typer.Option(help="with --wait: for how long, such as 60s or 10m")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say what would be accepted; needs no fleet")] = False,
    output: Output = "",
    url: Url = "",
    token_file: TokenFile = "",
) -> None:
    """Submit jobs. Policies in the same files travel with the jobs that they select; templates of workflows are copied
    into those that refer to them; an ElasticQuotaTree, Queues, PriorityClasses and TenantProfiles are set on the fleet
    first.

    Ends with 0 when all was accepted (with --wait: succeeded), 4 when something was refused, 5 when the time was up,
    6 when the fleet cannot be reached, 10 when a job failed, 11 when one was cancelled.
    """
    from fairway.cli import dry_run as offline
    from fairway.cli.entries import render
    from fairway.cli.manifests import read_all
    from fairway.cli.submission import send
    from fairway.cli.templates import written_out
    from fairway.client.api import connect

    check_output(output, "name")
    documents = written_out(read_all(files))
    code = 0
    if dry_run:
        entries = offline.check(documents)
    else:
        entries, code = send(documents, connect(url, token_file), wait, timeout)
    if text := render(entries, output):
        typer.echo(text)
    refused = sum(not one.accepted for one in entries)
    if refused and output:
        say(f"fairway: {refused} of {len(entries)} objects refused")
    code = DENIED if refused else code
    if code:
        raise typer.Exit(code)
