"""`fairway get`, `why`, `story` and `cancel`: questions to a running fleet, and one wish."""

from typing import Annotated, Any

import typer

from fairway.client.options import Json, TokenFile, Url, check_output

Job = Annotated[str, typer.Argument(help="its id, namespace/name, its name, or the beginning of one of them")]
What = Annotated[str, typer.Argument(help="jobs, queues, quota or clusters")]
Name = Annotated[str, typer.Argument(help="only this one", show_default=False)]
Namespace = Annotated[str, typer.Option("-n", "--namespace", help="only jobs of this namespace")]
Output = Annotated[str, typer.Option("-o", "--output", help="wide, json, yaml or name; a table by default")]

commands = typer.Typer()


@commands.command()
def get(
    what: What,
    name: Name = "",
    namespace: Namespace = "",
    output: Output = "",
    watch: Annotated[bool, typer.Option("-w", "--watch", help="then show every change, until Ctrl-C")] = False,
    url: Url = "",
    token_file: TokenFile = "",
) -> None:
    """List jobs, queues, quota or clusters, or show one of them."""
    from fairway.cli import listing
    from fairway.client.api import connect

    try:
        listing.show(listing.ListOptions(what, name, namespace, output), connect(url, token_file), watch)
    except KeyboardInterrupt:
        raise typer.Exit(130 if not watch else 0) from None


@commands.command()
def why(job: Job, namespace: Namespace = "", output: Json = "", url: Url = "", token_file: TokenFile = "") -> None:
    """Where a job stands, why, and what would move it."""
    _about(job, "why", (namespace, output, url, token_file))


@commands.command()
def story(job: Job, namespace: Namespace = "", output: Json = "", url: Url = "", token_file: TokenFile = "") -> None:
    """Everything that happened to a job, attempt by attempt, with the decision behind each step."""
    _about(job, "story", (namespace, output, url, token_file))


@commands.command()
def manifest(
    job: Job,
    namespace: Namespace = "",
    output: Annotated[str, typer.Option("-o", "--output", help="json; YAML by default")] = "",
    url: Url = "",
    token_file: TokenFile = "",
) -> None:
    """The manifest that counts for a job now, as the record has it. That you read it stands in the audit."""
    import yaml

    from fairway.client.api import connect

    check_output(output)
    api = connect(url, token_file)
    answer = api.get(f"/v1/jobs/{api.find(job, namespace)}/manifest")
    _print(answer) if output else typer.echo(yaml.safe_dump(answer["manifest"], sort_keys=False), nl=False)


@commands.command()
def cancel(job: Job, namespace: Namespace = "", output: Json = "", url: Url = "", token_file: TokenFile = "") -> None:
    """Cancel a job: nothing of it stays in any cluster. One that has ended stays as it is."""
    from fairway.client.api import connect

    check_output(output)
    api = connect(url, token_file)
    answer = api.delete(f"/v1/jobs/{api.find(job, namespace)}")
    _print(answer) if output else typer.echo(f"{answer['job']}: {answer['text']}")


def _about(job: str, question: str, options: tuple[str, str, str, str]) -> None:
    import msgspec

    from fairway.client.api import connect
    from fairway.client.terminal import console, render_story, render_why
    from fairway.explain.story import Story, Why

    namespace, output, url, token_file = options
    check_output(output)
    api = connect(url, token_file)
    answer = api.get(f"/v1/jobs/{api.find(job, namespace)}/{question}")
    if output:
        _print(answer)
    elif question == "why":
        console().print(render_why(msgspec.convert(answer, Why)), end="")
    else:
        console().print(render_story(msgspec.convert(answer, Story)), end="")


def _print(value: Any) -> None:
    import json

    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
