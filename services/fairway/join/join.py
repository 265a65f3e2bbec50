"""Joining: an account with the least rights in the member, its token and what was said of the cluster in the hub.

Every step may be done again; joining again is how a token is rotated and how labels are changed.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from contextlib import aclosing

import msgspec
from msgspec import Struct

from fairway.adapters.kubernetes.admin import Admin, life_of
from fairway.adapters.kubernetes.cluster import KubernetesCluster, Options
from fairway.adapters.kubernetes.kubeconfig import BadKubeconfig, Json, read
from fairway.adapters.kubernetes.namespaces import ACCOUNT
from fairway.adapters.system_clock import SystemClock
from fairway.client.failure import DENIED, NOT_FOUND, USAGE, Failure
from fairway.domain.tenancy.profile import HOME
from fairway.join import rights
from fairway.join.adopted_namespaces import adopt
from fairway.join.batch_resources import member as batch_resources
from fairway.join.capacity import counted, sized
from fairway.join.secret import LABEL, SECRET, Joined, read_secret, renewal, secret, secret_name, token_of, with_token
from fairway.propagator.held_room import PAUSE
from fairway.runtime.views.members import Facts
from fairway.workloads.kinds.registry import KINDS

# ValidatingAdmissionPolicies, which bound what Fairway's account may write, are stable from here on.
OLDEST = (1, 30)
# A namespace without a label, which Fairway may not make.
_UNLABELLED = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fairway-tries"}}
# Of a token, where nothing else is said or was (s).
_LIFE_S = 86_400
_TRIES = 100
_TRY_S = 0.2
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
Say = Callable[[str], None]


class JoinRequest(Struct, frozen=True):
    """`admin` and `hub` are checked kubeconfigs. `required` kinds must be served there; `seconds` is the life asked
    for the token (0: as long as it was, or a day). Namespaces to `adopt` are there and become their tenants'. To
    `renew` is to join with what was said of the cluster before, but for `level`, the highest of Pod Security, and
    `image`, that of placeholders, and `batch_class`, the PriorityClass of pods on batch resources, where they are
    said."""

    name: str
    admin: Json
    hub: Json
    facts: Facts
    required: tuple[str, ...] = ()
    seconds: int = 0
    loopback: bool = False
    adopt: tuple[str, ...] = ()
    renew: bool = False
    level: str = ""
    image: str = ""
    batch_class: str = ""


def check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        remedy = "use lower case letters, digits and -, at most 63, a letter or digit at both ends"
        raise Failure(USAGE, f"{name!r} cannot name a cluster", remedy)


async def join(wish: JoinRequest, say: Say) -> None:
    """Failure says what stands in the way; ClusterRefused and Unreachable are the APIs' own."""
    check_name(wish.name)
    opened = Admin.open(wish.name, wish.admin, wish.loopback)
    async with opened as member, Admin.open("hub", wish.hub, loopback=True) as hub:
        facts, seconds = await _examined(wish, member, hub, say)
        batch = await batch_resources.planned(member, wish.name, facts.batch_class)
        facts = msgspec.structs.replace(facts, batch_class=batch.class_name)
        await adopt(member, wish.adopt, facts.max_pod_security, say)
        for manifest in rights.objects(facts):
            await member.put(manifest)
        await batch_resources.carry_out(member, wish.name, batch, say)
        say(f"account {HOME}/{ACCOUNT}, its roles and the policies that bound it are in {wish.name}")
        credentials = renewer = None
        if facts.mode == "push":
            credentials, renewer = [
                with_token(wish.admin, await member.token(HOME, account, seconds))
                for account in (ACCOUNT, rights.RENEWER)
            ]
            await _tried(wish, credentials)
        await _remembered(hub, Joined(wish.name, facts, credentials), renewer)
        say(f"Secret {HOME}/{secret_name(wish.name)} is in the hub: {wish.name} has joined, in {facts.mode} mode")


async def _examined(wish: JoinRequest, member: Admin, hub: Admin, say: Say) -> tuple[Facts, int]:
    """What is to be said of the cluster, with its birthmark and size, and how long its token is to live. Failure when
    it cannot be a member."""
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
    known = await _check_unique(wish.name, uid, wish.hub)
    if wish.renew and known is None:
        raise Failure(NOT_FOUND, f"no cluster has joined as {wish.name}", "leave --renew out to let it join")
    facts = _told(wish, known)
    before = known.facts if known else None
    found = facts.capacity if wish.renew and facts.capacity else await counted(member)
    facts = sized(msgspec.structs.replace(facts, uid=uid), before, found, SystemClock().now())
    return facts, wish.seconds or (_life(known) if wish.renew else 0) or _LIFE_S


def _told(wish: JoinRequest, known: Joined | None) -> Facts:
    """What is said of it by whoever joins it, now or before."""
    facts = known.facts if known is not None and wish.renew else wish.facts
    level = wish.level or facts.max_pod_security
    image = wish.image or facts.placeholder_image or PAUSE
    batch = wish.batch_class or facts.batch_class
    return msgspec.structs.replace(facts, max_pod_security=level, placeholder_image=image, batch_class=batch)


def _life(known: Joined | None) -> int:
    """Of the token that it has, in seconds; 0 where there is none."""
    if known is None or known.kubeconfig is None:
        return 0
    try:
        life = life_of(token_of(read(known.kubeconfig)))
    except BadKubeconfig:
        return 0
    return (life.ends - life.begins) // 1000 if life else 0


def _listed(kinds: Sequence[str]) -> str:
    """Without their versions, and without their groups where a name is enough."""
    every = [key.partition(".")[0] for key in KINDS]
    names = {one if every.count(one.partition(".")[0]) > 1 else one.partition(".")[0] for one in kinds}
    return ", ".join(sorted(names)) or "none"


async def _check_unique(name: str, uid: str, hub: Json) -> Joined | None:
    """One name, one cluster: its room would be counted twice, or one cluster's jobs looked for in another. What was
    said of it before, if it has joined."""
    every = await joined(hub)
    for one in every:
        if one.name == name and one.facts.uid not in ("", uid):
            remedy = f"choose another name, or `fairway leave {name}` first"
            raise Failure(DENIED, f"{name} is the name of another cluster that has joined", remedy)
        if one.name != name and one.facts.uid == uid:
            text = f"this cluster has joined already, as {one.name}"
            raise Failure(DENIED, text, f"join it under that name, or `fairway leave {one.name}` first")
    return next((one for one in every if one.name == name), None)


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


async def _tried(wish: JoinRequest, credentials: Json) -> None:
    """The account must be able to do the first thing that is asked of it, and bounded by its policies: an API server
    heeds a new one a moment later."""
    async with Admin.open(wish.name, credentials, wish.loopback) as account:
        for _ in range(_TRIES):
            if "ValidatingAdmissionPolicy" in await account.refused(_UNLABELLED):
                return
            await asyncio.sleep(_TRY_S)
    text = f"{wish.name} does not hold Fairway's account to its policies"
    raise Failure(DENIED, text, "see whether its API server serves and heeds ValidatingAdmissionPolicy")


async def _remembered(hub: Admin, one: Joined, renewer: Json | None) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}}
    if await hub.get(namespace) is None:
        await hub.put(namespace)
    if renewer is None:
        await hub.remove(renewal(one.name, {}))
    else:
        await hub.put(renewal(one.name, renewer))
    await hub.put(secret(one))
