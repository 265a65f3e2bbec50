"""Leaving: no new work, no jobs left, then the Secret goes, and with it everything Fairway knew of the cluster."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from fairway.adapters.kubernetes.admin import Admin
from fairway.adapters.kubernetes.kubeconfig import Json
from fairway.client.api import ENDED, Api
from fairway.client.failure import DENIED, NOT_FOUND, Failure
from fairway.domain.tenancy.profile import HOME
from fairway.explain.wording import many
from fairway.join import rights
from fairway.join.adopted_namespaces import release
from fairway.join.batch_resources import member as batch_resources
from fairway.join.secret import Joined, read_secret, renewal, secret, secret_name

_LOOK_S = 1.0
# A placement that was under way when the cluster was cordoned has reached its reservation by then, or never will.
_SETTLE_S = 3.0
_SHOWN = 10
Say = Callable[[str], None]


class Farewell(Struct, frozen=True):
    """`hub` and `admin` are checked kubeconfigs; with `admin` the account in the member is removed, too."""

    name: str
    hub: Json
    admin: Json | None = None
    drain: bool = False
    move: bool = False
    loopback: bool = False


async def leave(wish: Farewell, api: Api, say: Say) -> None:
    async with Admin.open("hub", wish.hub, loopback=True) as hub:
        one = await _member(hub, wish.name)
        if not wish.drain:
            await _refuse_with_jobs(api, one)
        await _cordon(hub, one, wish, say)
        if wish.drain:
            await _drained(api, wish.name, say)
        else:
            await asyncio.sleep(_SETTLE_S)
            await _refuse_with_jobs(api, one)
        await hub.remove(_named(wish.name))
        await hub.remove(renewal(wish.name, {}))
        say(f"{wish.name} has left the fleet")
    if wish.admin is not None:
        await _cleared(wish, wish.admin, say)


async def _member(hub: Admin, name: str) -> Joined:
    manifest = await hub.get(_named(name))
    if manifest is None:
        remedy = "`fairway get clusters` lists the members; one of a folder leaves with its kubeconfig there"
        raise Failure(NOT_FOUND, f"no cluster has joined as {name}", remedy)
    try:
        return read_secret(manifest)
    except ValueError as error:
        raise Failure(DENIED, str(error), f"join it again, or delete the Secret {HOME}/{secret_name(name)}") from None


async def _jobs(api: Api, cluster: str) -> list[dict[str, Any]]:
    rows = await asyncio.to_thread(lambda: list(api.jobs()))
    return [row for row in rows if row.get("cluster") == cluster and row["state"] not in ENDED]


async def _refuse_with_jobs(api: Api, one: Joined) -> None:
    rows = await _jobs(api, one.name)
    if not rows:
        return
    names = ", ".join(f"{row['namespace']}/{row['name'] or row['id']} ({row['state']})" for row in rows[:_SHOWN])
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    text = f"{many(len(rows), 'job')} in {one.name}: {names}{more}"
    raise Failure(DENIED, text, "wait with --drain, or start them elsewhere with --drain --move")


async def _cordon(hub: Admin, one: Joined, wish: Farewell, say: Say) -> None:
    facts = msgspec.structs.replace(one.facts, cordoned=True, emptied=one.facts.emptied or wish.move)
    if facts != one.facts:
        await hub.put(secret(msgspec.structs.replace(one, facts=facts)))
    say(f"{wish.name} takes no new work" + (", and its jobs start anew elsewhere" if wish.move else ""))


async def _drained(api: Api, name: str, say: Say) -> None:
    """Empty twice in a row: what was placed before the cordon is seen by then."""
    before = -1
    empty = 0
    while empty < _SETTLE_S / _LOOK_S:
        await asyncio.sleep(_LOOK_S)
        count = len(await _jobs(api, name))
        if count not in (0, before):
            say(f"{many(count, 'job')} still in {name}")
        before = count
        empty = 0 if count else empty + 1


async def _cleared(wish: Farewell, admin: Json, say: Say) -> None:
    """Fairway's own namespace stays: others may live in it."""
    async with Admin.open(wish.name, admin, wish.loopback) as member:
        await release(member, say)
        await batch_resources.clear(member, say)
        for manifest in reversed(rights.objects()):
            if manifest["kind"] != "Namespace":
                await member.remove(manifest)
    say(f"the account and its rights are gone from {wish.name}")


def _named(cluster: str) -> Json:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": secret_name(cluster), "namespace": HOME}}
