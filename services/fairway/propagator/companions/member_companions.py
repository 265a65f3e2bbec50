"""Companions in a member, and what the attempt's object is not whole without (a TrainJob's runtime): put there before
the object, under an anchor, and gone with it.

The anchor comes first, then what it owns, then the object, and then the anchor is the object's. Whatever is left in
between is the anchor's, and the recall takes that away by its name.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from fairway.domain.decision import Call
from fairway.propagator.calls import Copy
from fairway.propagator.companions import hub_companions
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.runtime.ports import Unreachable
from fairway.wire.reasons import Code
from fairway.wire.spec import Companion
from fairway.workloads.companions import sent
from fairway.workloads.companions.named import CONFIG_MAP, Named
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.seal import Spot

Json = dict[str, Any]
NOTHING: Mapping[str, Json] = MappingProxyType({})
# Two attempts that share one may write to it at once.
_TRIES = 4


class Along(Struct, frozen=True):
    """What was sent: the anchor's uid, and what to say of each companion."""

    anchor: str = ""
    told: tuple[Companion, ...] = ()


class Companions:
    """`hub` is where tenants apply them, if there is one: without one none is sent. `key` is the fleet's."""

    def __init__(self, hub: Cluster | None, key: bytes) -> None:
        self._hub = hub
        self._key = key

    async def send(self, cluster: Cluster, call: Call, manifest: Json, parts: Mapping[str, Json] = NOTHING) -> Along:
        """They are there as they are on the hub now; what the hub does not have is taken to be there already. `parts`
        are what the object is not whole without, by kind. Raises ClusterRefused or Unreachable; done again it does no
        harm."""
        copy: Copy = call.body
        hub = self._hub if copy.policy_companions or (copy.companions and not copy.alone) else None
        found = await hub_companions.read(hub, copy, manifest) if hub is not None else {}
        told = [*hub_companions.left_out(copy)] if hub is not None else []
        if not found and not parts:
            return Along(told=tuple(told))
        wanted = sent.anchor(self._key, cluster.name, copy.namespace, (call.job, call.attempt))
        try:
            anchor = (await cluster.apply(CONFIG_MAP, wanted, copy.level)).uid
        except ClusterRefused as error:
            if error.code != "Forbidden":
                raise
            why = _not_allowed(cluster.name)
            if parts:
                raise ClusterRefused(error.code, why) from error
            return Along(told=(*told, *(sent.told(self._key, one.kind, has, why) for one, has in found.items())))
        owner = sent.owned_by(CONFIG_MAP, wanted["metadata"]["name"], anchor)
        await self._put_parts(cluster, call, parts, owner)
        for one, has in found.items():
            spot = Spot(cluster.name, one.kind, copy.namespace, one.name)
            why = await self._put(cluster, one, sent.companion(self._key, spot, has, owner))
            told.append(sent.told(self._key, one.kind, has, why))
        return Along(anchor, tuple(told))

    async def _put_parts(self, cluster: Cluster, call: Call, parts: Mapping[str, Json], owner: Json) -> None:
        copy: Copy = call.body
        for kind, content in parts.items():
            spot = Spot(cluster.name, kind, copy.namespace, owner["name"])
            part = sent.part(self._key, spot, (call.job, call.attempt), content, owner)
            try:
                await cluster.apply(kind, part, copy.level)
            except ClusterRefused as error:
                if error.code != Code.KIND_NOT_SERVED or kind not in KINDS[copy.kind].spared:
                    raise

    async def _put(self, cluster: Cluster, one: Named, wanted: Json) -> str:
        """Why what is there counts, and not this; empty when it is there as wanted."""
        for _ in range(_TRIES):
            try:
                await _said(cluster.create(one.kind, wanted), cluster.name, one)
                return ""
            except ClusterRefused as error:
                if error.code == "Forbidden":
                    return _not_allowed(cluster.name)
                if error.code not in ("AlreadyExists", Code.SECRET_NOT_SENT):
                    raise
                refusal = error
            spot = Spot(cluster.name, one.kind, wanted["metadata"]["namespace"], one.name)
            there = await cluster.get(one.kind, spot.namespace, one.name)
            if there is not None and not sent.ours(self._key, spot, there):
                return f"{cluster.name} has one of its own, which Fairway did not make"
            if refusal.code == Code.SECRET_NOT_SENT:
                raise refusal
            if there is not None and await self._replaced(cluster, one, there, wanted):
                return ""
        raise Unreachable(f"{one} in {cluster.name} changes too fast; trying again later")

    async def _replaced(self, cluster: Cluster, one: Named, there: Json, wanted: Json) -> bool:
        """False when it is no longer what was looked at."""
        namespace = wanted["metadata"]["namespace"]
        if there["metadata"].get("deletionTimestamp"):
            raise Unreachable(f"{one} in {cluster.name} is still being removed")
        if sent.fixed(one.kind, there, wanted):
            # Its owners go over to the one that is made in its place.
            wanted["metadata"]["ownerReferences"] = sent.owners_of(there, wanted)
            await cluster.drop(one.kind, namespace, one.name)
            return False
        patch = sent.replaced(one.kind, there, wanted)
        try:
            done = await _said(cluster.patch(one.kind, namespace, one.name, patch), cluster.name, one)
        except ClusterRefused as error:
            if error.code != "Conflict":
                raise
            return False
        return done is not None

    async def bind(self, cluster: Cluster, call: Call, along: Along, uid: str) -> None:
        """From now on the anchor goes with the attempt's object."""
        if not along.anchor:
            return
        copy: Copy = call.body
        name = sent.anchor_name(call.job, call.attempt)
        owners = [sent.owned_by(copy.kind, copy.name, uid)]
        patch = {"metadata": {"uid": along.anchor, "ownerReferences": owners}}
        if await cluster.patch(CONFIG_MAP, copy.namespace, name, patch) is None:
            raise Unreachable(f"ConfigMap {name} went away in {cluster.name} while its job was being applied")

    async def forget(self, cluster: Cluster, call: Call) -> None:
        """Of an attempt whose object is gone, or never came to be: its anchor goes, if it is still there."""
        copy: Copy = call.body
        if not copy.companions and not KINDS[copy.kind].brings:
            return
        name = sent.anchor_name(call.job, call.attempt)
        spot = Spot(cluster.name, CONFIG_MAP, copy.namespace, name)
        try:
            there = await cluster.get(CONFIG_MAP, copy.namespace, name)
            if there is not None and sent.ours(self._key, spot, there):
                await cluster.drop(CONFIG_MAP, copy.namespace, name)
        except ClusterRefused as error:
            if error.code != "Forbidden":  # where we may make none, there is none
                raise


def _not_allowed(cluster: str) -> str:
    renew = f"fairway join {cluster} --renew --kubeconfig ADMIN"
    return f"{cluster} does not let Fairway put it there; {renew} gives it the rights"


async def _said(call: Any, cluster: str, one: Named) -> Any:
    """What `call` brings. The words of an API server may repeat what is in an object, so only its code is passed on."""
    try:
        return await call
    except ClusterRefused as error:
        told = f"{one} was not taken ({error.code}); a server-side dry run of it there says why"
        text = error.text if error.code == Code.SECRET_NOT_SENT else told
        raise ClusterRefused(error.code, text) from None
    except Unreachable:
        raise Unreachable(f"{cluster} did not answer about {one}") from None
