"""Confirming what a member has grown to: it is counted anew, and what its agent says is measured by that."""

from collections.abc import Callable

import msgspec

from fairway.adapters.kubernetes.admin import Admin
from fairway.adapters.kubernetes.kubeconfig import BadKubeconfig, Json, read
from fairway.adapters.system_clock import SystemClock
from fairway.client.failure import DENIED, NOT_FOUND, USAGE, Failure
from fairway.domain.resources import show
from fairway.join.capacity import counted
from fairway.join.join import joined
from fairway.join.secret import Joined, secret

Say = Callable[[str], None]


async def confirm_capacity(name: str, hub: Json, admin: Json | None, loopback: bool, say: Say) -> None:
    """What the cluster has now is what it was joined with. `hub`, and `admin` if it is given, are checked kubeconfigs:
    without an administrator's, Fairway's own account of the member lists its nodes."""
    one = next((one for one in await joined(hub) if one.name == name), None)
    if one is None:
        raise Failure(NOT_FOUND, f"no cluster has joined as {name}", "`fairway get clusters` tells their names")
    config = admin if admin is not None else _own(one, loopback)
    async with Admin.open(name, config, loopback) as member, Admin.open("hub", hub, loopback=True) as home:
        if admin is not None and await member.uid() != one.facts.uid:
            raise Failure(DENIED, f"that is the kubeconfig of another cluster than {name}", "name one of this cluster")
        found = await counted(member)
        at = max(SystemClock().now(), one.facts.confirmed + 1)
        facts = msgspec.structs.replace(one.facts, capacity=found, confirmed=at)
        await home.put(secret(msgspec.structs.replace(one, facts=facts)))
    has = ", ".join(f"{show(resource, found[resource])} {resource}" for resource in sorted(found)) or "nothing yet"
    say(f"{name} has {has}: that counts, and up to twice as much, from its next report on")


def _own(one: Joined, loopback: bool) -> Json:
    if one.kubeconfig is None:
        text = f"the hub has no way to {one.name}, which is in pull mode"
        raise Failure(USAGE, text, "name an administrator's kubeconfig of it with --kubeconfig")
    try:
        return read(one.kubeconfig, "", loopback)
    except BadKubeconfig as error:
        raise Failure(DENIED, f"{one.name}: {error}", "name an administrator's with --kubeconfig") from None
