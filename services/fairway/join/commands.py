"""`fairway join` and `fairway leave`: a real cluster becomes a member, and stops being one."""

import asyncio
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from fairway.client.failure import DENIED, UNREACHABLE, USAGE, Failure, say
from fairway.client.options import TokenFile

Name = Annotated[str, typer.Argument(help="how the fleet calls the cluster: a DNS label")]
HubKubeconfig = Annotated[str, typer.Option(help="the hub's; else FAIRWAY_HUB_KUBECONFIG, else that of ./.fairway")]
Loopback = Annotated[bool, typer.Option("--allow-loopback", help="its server may be on this machine")]
PlaceholderImage = Annotated[
    str, typer.Option(envvar="FAIRWAY_PLACEHOLDER_IMAGE", help="which pods that hold room there may run, alone")
]
BatchPriorityClass = Annotated[
    str, typer.Option(help="of the member, for pods on batch resources; fairway-batch, which is made, by default")
]
ConfirmCapacity = Annotated[
    bool, typer.Option("--confirm-capacity", help="of a member: what it has now is true, and counts")
]

commands = typer.Typer()


@commands.command()
def join(
    context_of: typer.Context,
    name: Name,
    kubeconfig: Annotated[str, typer.Option(help="an administrator's, for the member; used now and not kept")] = "",
    context: Annotated[str, typer.Option(help="which of its contexts; the current one by default")] = "",
    labels: Annotated[str, typer.Option(help="the cluster's own, such as gpu=a100,region=eu")] = "",
    taints: Annotated[str, typer.Option(help="such as dedicated=research:NoSchedule, several with commas")] = "",
    reserve: Annotated[str, typer.Option(help="how room is held: auto, reservations, placeholders, ledger")] = "auto",
    mode: Annotated[str, typer.Option(help="push: from the hub; pull: a process beside the member")] = "push",
    kinds: Annotated[str, typer.Option(help="kinds it has to serve, such as PyTorchJob,Job")] = "",
    token_life: Annotated[str, typer.Option(help="of its token, renewed at a third of it; 24h by default")] = "",
    adopt_namespaces: Annotated[str, typer.Option(help="of the member, to be used by tenants of their names")] = "",
    max_pod_security: Annotated[str, typer.Option(help="of a namespace there: restricted, baseline, privileged")] = "",
    placeholder_image: PlaceholderImage = "",
    batch_priority_class: BatchPriorityClass = "",
    nodes: Annotated[int, typer.Option(min=1, help="no more of its nodes count than this")] = 10_000,
    confirm_capacity: ConfirmCapacity = False,
    renew: Annotated[bool, typer.Option("--renew", help="rights and token anew, and all else as it was said")] = False,
    hub_kubeconfig: HubKubeconfig = "",
    allow_loopback: Loopback = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="print what would be applied in the member")] = False,
) -> None:
    """Let a cluster join the fleet; again, to rotate its token or to change what is said of it."""
    from fairway.join import join as joining
    from fairway.join import options

    joining.check_name(name)
    options.check_together(_typed(context_of))
    if confirm_capacity:
        _confirmed(name, (kubeconfig, context), hub_kubeconfig, allow_loopback)
        return
    facts = options.facts_of((labels, taints), reserve, mode, max_pod_security, nodes)
    named = options.image_of(placeholder_image), options.class_of(batch_priority_class)
    needed = options.kinds_of(kinds), options.seconds_of(token_life)
    rest = *needed, allow_loopback, options.namespaces_of(adopt_namespaces), renew, max_pod_security, *named
    if dry_run:
        typer.echo(options.page(facts, *named), nl=False)
        return
    admin, hub = _owners((kubeconfig, context), hub_kubeconfig, allow_loopback, needed=True)
    _asked(joining.join(joining.JoinRequest(name, admin, hub, facts, *rest), say))


def _typed(context: typer.Context) -> set[str]:
    """Options that were written there, whatever their values."""
    written = context.get_parameter_source
    return {name for name in context.params if (source := written(name)) and source.name == "COMMANDLINE"}


def _confirmed(name: str, owner: tuple[str, str], hub: str, loopback: bool) -> None:
    from fairway.join import confirm_capacity as confirming

    admin, home = _owners(owner, hub, loopback)
    _asked(confirming.confirm_capacity(name, home, admin, loopback, say))


@commands.command()
def leave(
    name: Name,
    drain: Annotated[bool, typer.Option("--drain", help="no new work there, then wait until its jobs ended")] = False,
    move: Annotated[bool, typer.Option("--move", help="with --drain: its jobs start anew elsewhere")] = False,
    kubeconfig: Annotated[str, typer.Option(help="an administrator's: takes the account away there too")] = "",
    context: Annotated[str, typer.Option(help="which of its contexts; the current one by default")] = "",
    hub_kubeconfig: HubKubeconfig = "",
    url: Annotated[str, typer.Option(help="the fleet's HTTP address; else FAIRWAY_URL, else that of ./.fairway")] = "",
    token_file: TokenFile = "",
    allow_loopback: Loopback = False,
) -> None:
    """Let a cluster leave the fleet. Refused while jobs are there, unless they are drained."""
    from fairway.client.api import connect
    from fairway.join import leave as leaving

    try:
        if move and not drain:
            raise Failure(USAGE, "--move is a way to drain", "add --drain")
        admin, hub = _owners((kubeconfig, context), hub_kubeconfig, allow_loopback)
        farewell = leaving.Farewell(name, hub, admin, drain, move, allow_loopback)
        _asked(leaving.leave(farewell, connect(url, token_file), say))
    except KeyboardInterrupt:
        say(f"{name} stays a member and takes no new work; go on with `fairway leave {name} --drain`")
        raise typer.Exit(130) from None


def _asked(work: Any) -> None:
    from fairway.runtime.cluster_port import ClusterRefused
    from fairway.runtime.ports import Unreachable

    try:
        asyncio.run(work)
    except ClusterRefused as error:
        raise Failure(DENIED, error.text or error.code, "use an administrator's kubeconfig") from None
    except Unreachable as error:
        raise Failure(UNREACHABLE, str(error), "is the address right, and is the API server up?") from None


def _owners(owner: tuple[str, str], hub: str, loopback: bool, needed: bool = False) -> tuple[Any, Any]:
    """The member as its administrator (kubeconfig, context) sees it, None if nobody is named, and the hub."""
    if needed and not owner[0]:
        raise Failure(USAGE, "no --kubeconfig is given", "name an administrator's kubeconfig of the member")
    return _read(*owner, loopback) if owner[0] else None, _hub(hub)


def _hub(path: str) -> Any:
    from fairway.client.credential import facts_of_folder

    path = path or os.environ.get("FAIRWAY_HUB_KUBECONFIG", "")
    path = path or str(facts_of_folder().get("FAIRWAY_HUB_KUBECONFIG") or "")
    if not path:
        raise Failure(USAGE, "no hub is known here", "name its kubeconfig with --hub-kubeconfig")
    return _read(path, "", loopback=True)


_TOKEN = (
    "make a kubeconfig with a token in its place: `kubectl create token ACCOUNT`, and "
    "`kubectl config view --minify --flatten --raw` for the rest (docs/joining-clusters.md)"
)


def _read(path: str, context: str, loopback: bool) -> Any:
    from fairway.adapters.kubernetes.kubeconfig import BadKubeconfig, read

    try:
        return read(Path(path), context, loopback)
    except BadKubeconfig as error:
        needs_token = error.field in ("user.exec", "user.auth-provider", "user.tokenFile")
        raise Failure(DENIED, f"{path}: {error}", _TOKEN if needs_token else "") from None
    except OSError as error:
        raise Failure(USAGE, f"{path} cannot be read: {error.strerror}") from None
