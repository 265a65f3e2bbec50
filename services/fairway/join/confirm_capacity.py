"""Confirming what a member has grown to: it is counted anew, and what its agent says is measured by that."""

from collections.abc import Callable

import msgspec
from msgspec import Struct

from fairway.adapters.kubernetes.admin import Admin
from fairway.adapters.kubernetes.kubeconfig import Json
from fairway.adapters.system_clock import SystemClock
from fairway.client.failure import DENIED, NOT_FOUND, Failure
from fairway.domain.resources import show
from fairway.join.capacity import counted, opened
from fairway.join.join import joined
from fairway.join.secret import secret

Say = Callable[[str], None]


class Confirmation(Struct, frozen=True):
    """`hub`, and `admin` if it is given, are checked kubeconfigs."""

    name: str
    hub: Json
    admin: Json | None = None
    loopback: bool = False


async def confirm_capacity(wish: Confirmation, say: Say) -> None:
    """What the cluster has now is what it was joined with."""
    name = wish.name
    one = next((one for one in await joined(wish.hub) if one.name == name), None)
    if one is None:
        raise Failure(NOT_FOUND, f"no cluster has joined as {name}", "`fairway get clusters` tells their names")
    member = await opened(one, wish.admin, wish.loopback)
    hub = await Admin.open("hub", wish.hub, loopback=True)
    try:
        if wish.admin is not None and await member.uid() != one.facts.uid:
            raise Failure(DENIED, f"that is the kubeconfig of another cluster than {name}", "name one of this cluster")
        found = await counted(member)
        at = max(SystemClock().now(), one.facts.confirmed + 1)
        facts = msgspec.structs.replace(one.facts, capacity=found, confirmed=at)
        await hub.put(secret(msgspec.structs.replace(one, facts=facts)))
    finally:
        await member.close()
        await hub.close()
    has = ", ".join(f"{show(resource, found[resource])} {resource}" for resource in sorted(found)) or "nothing yet"
    say(f"{name} has {has}: that counts, and up to twice as much, from its next report on")
