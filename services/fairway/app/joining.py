"""Joining: an account with the least rights in the member, its token and what was said of the cluster in the hub.

Every step may be done again; joining again is how a token is rotated and how labels are changed.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import aclosing

import msgspec
from msgspec import Struct

from fairway.adapters.kubernetes import KubernetesCluster, Options
from fairway.adapters.kubernetes_admin import Admin
from fairway.adapters.kubernetes_config import Json
from fairway.adapters.system import SystemClock
from fairway.app import rights
from fairway.app.failure import DENIED, NOT_FOUND, USAGE, Failure
from fairway.app.joined import HOME, LABEL, SECRET, Joined, read_secret, secret, secret_name, with_token
from fairway.runtime.members import Facts
from fairway.workloads.registry import KINDS

# Server-side apply and tokens for an audience and a time are stable from here on.
OLDEST = (1, 22)
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
Say = Callable[[str], None]


class Wish(Struct, frozen=True):
    """`admin` and `hub` are checked kubeconfigs. `required` kinds must be served there; `seconds` is the life asked
    for the token."""

    name: str
    admin: Json
    hub: Json
    facts: Facts
    required: tuple[str, ...] = ()
    seconds: int = 30 * 86_400
    loopback: bool = False


def check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        remedy = "use lower case letters, digits and -, at most 63, a letter or digit at both ends"
        raise Failure(USAGE, f"{name!r} cannot name a cluster", remedy)


async def join(wish: Wish, say: Say) -> None:
    """Failure says what stands in the way; ClusterRefused and Unreachable are the APIs' own."""
    check_name(wish.name)
    member = await Admin.open(wish.name, wish.admin, wish.loopback)
    hub = await Admin.open("hub", wish.hub, loopback=True)
    try:
        facts = await _examined(wish, member, hub, say)
        for manifest in rights.objects(facts.reserve, facts.mode):
            await member.put(manifest)
        say(f"account {HOME}/{rights.ACCOUNT} and its role are in {wish.name}")
        credentials = None
        if facts.mode == "push":
            token = await member.token(HOME, rights.ACCOUNT, wish.seconds)
            credentials = with_token(wish.admin, token)
            await _tried(wish, credentials)
        await _remembered(hub, Joined(wish.name, facts, credentials))
        say(f"Secret {HOME}/{secret_name(wish.name)} is in the hub: {wish.name} has joined, in {facts.mode} mode")
    finally:
        await member.close()
        await hub.close()


async def _examined(wish: Wish, member: Admin, hub: Admin, say: Say) -> Facts:
    """What is to be said of the cluster, with its birthmark. Failure when it cannot be a member."""
    version = await member.version()
    if version.number < OLDEST:
        least = ".".join(map(str, OLDEST))
        raise Failure(DENIED, f"{wish.name} runs Kubernetes {version.git}", f"upgrade it to {least} or newer")
    uid = await member.uid()
    if uid == await hub.uid():
        raise Failure(DENIED, f"{wish.name} is the hub itself", "jobs would run where they are only written down")
    served = await member.served(tuple(sorted(KINDS)))
    say(f"{wish.name} runs Kubernetes {version.git} and serves {_listed(served)}")
    lacking = sorted(set(wish.required) - set(served))
    if lacking or not served:
        text = f"{wish.name} does not serve {_listed(lacking or sorted(KINDS))}"
        raise Failure(DENIED, text, "install the operators (CRDs) first, or ask for fewer with --kinds")
    if rest := sorted(set(KINDS) - set(served)):
        say(f"not served there, and never placed there until they are: {_listed(rest)}")
    await _check_unique(wish.name, uid, wish.hub)
    return msgspec.structs.replace(wish.facts, uid=uid)


async def confirm_capacity(name: str, hub: Json, say: Say) -> None:
    """Whatever the cluster reports next is what it was joined with."""
    one = next((one for one in await joined(hub) if one.name == name), None)
    if one is None:
        raise Failure(NOT_FOUND, f"no cluster has joined as {name}", "`fairway get clusters` tells their names")
    facts = msgspec.structs.replace(one.facts, confirmed=max(SystemClock().now(), one.facts.confirmed + 1))
    admin = await Admin.open("hub", hub, loopback=True)
    try:
        await admin.put(secret(msgspec.structs.replace(one, facts=facts)))
    finally:
        await admin.close()
    say(f"what {name} reports counts from its next report on")


def _listed(kinds: Sequence[str]) -> str:
    """Without their versions, and without their groups where a name is enough."""
    every = [key.partition(".")[0] for key in KINDS]
    names = {one if every.count(one.partition(".")[0]) > 1 else one.partition(".")[0] for one in kinds}
    return ", ".join(sorted(names)) or "none"


async def _check_unique(name: str, uid: str, hub: Json) -> None:
    """One name, one cluster: its room would be counted twice, or one cluster's jobs looked for in another."""
    for one in await joined(hub):
        if one.name == name and one.facts.uid not in ("", uid):
            remedy = f"choose another name, or `fairway leave {name}` first"
            raise Failure(DENIED, f"{name} is the name of another cluster that has joined", remedy)
        if one.name != name and one.facts.uid == uid:
            text = f"this cluster has joined already, as {one.name}"
            raise Failure(DENIED, text, f"join it under that name, or `fairway leave {one.name}` first")


async def joined(hub: Json) -> list[Joined]:
    """The clusters that have joined, as the hub has them; those that cannot be read are left out."""
    cluster = await KubernetesCluster.from_kubeconfig("hub", hub, Options())
    found = []
    try:
        async with aclosing(cluster.watch(SECRET, LABEL, HOME)) as changes:
            async for change in changes:
                if change.synced:
                    break
                try:
                    found.append(read_secret(change.manifest))
                except ValueError:
                    continue
    finally:
        await cluster.close()
    return found


async def _tried(wish: Wish, credentials: Json) -> None:
    """The account must be able to do the first thing that is asked of it."""
    cluster = await KubernetesCluster.from_kubeconfig(wish.name, credentials, Options(loopback=wish.loopback))
    try:
        await cluster.get("Namespace.v1", "", "default")
    finally:
        await cluster.close()


async def _remembered(hub: Admin, one: Joined) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}}
    if await hub.get(namespace) is None:
        await hub.put(namespace)
    await hub.put(secret(one))
