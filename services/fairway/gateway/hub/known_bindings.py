"""The hub's ResourceBindings: which are there and what they say, so that nothing is written twice."""

from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import structlog
from msgspec import Struct

from fairway.gateway.hub.bindings import (
    DIGEST,
    JOB_LABEL,
    KIND,
    Binding,
    Stamps,
    manifest_of,
    name_of,
    replacing,
    stamps_of,
)
from fairway.gateway.hub.objects import HubObject
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.runtime.ports import Clock
from fairway.wire.reasons import Code

log = structlog.get_logger()
# An API that does not serve the kind is asked again this often.
_LOOK_AGAIN_MS = 15_000


class Written(Struct, frozen=True):
    """A binding that is there: whose it is, what it says, since when."""

    owner: str
    digest: str
    stamps: Stamps


class KnownBindings:
    """Raises Unreachable. `served`: the hub has the kind; without it nothing is written, and nothing is remembered."""

    def __init__(self, hub: Cluster, clock: Clock, present: Mapping[str, Any]) -> None:
        """`present` are the uids of the objects that the hub has."""
        self._hub = hub
        self._clock = clock
        self._present = present
        self._there: dict[tuple[str, str], Written] = {}
        self.served = False
        self._look_at = 0

    async def look(self) -> bool:
        """Whether the kind is served as it was not before: the bindings that are there are then known, and those
        of objects that are no longer present are removed."""
        if self.served or self._clock.now() < self._look_at:
            return False
        first = not self._look_at
        self._look_at = self._clock.now() + _LOOK_AGAIN_MS
        try:
            # Patching what is not there costs nothing, and is refused only where the kind is not known.
            await self._hub.patch(KIND, "default", "fairway.is-it-served", [])
        except ClusterRefused as error:
            if first:
                log.warning("no bindings", cause=str(error), remedy="install deploy/crds on the hub")
            return False
        await self._recall()
        self.served = True
        for (namespace, name), one in list(self._there.items()):
            if one.owner not in self._present:
                await self._drop(namespace, name)
        return True

    async def _recall(self) -> None:
        self._there.clear()
        async with aclosing(self._hub.watch(KIND, JOB_LABEL)) as told:  # type: ignore[type-var]  # it is a generator
            async for change in told:
                if change.synced:
                    return
                meta = change.manifest["metadata"]
                owner = next((ref["uid"] for ref in meta.get("ownerReferences") or ()), "")
                mark = (meta.get("annotations") or {}).get(DIGEST, "")
                self._there[change.namespace, change.name] = Written(owner, mark, stamps_of(change.manifest))

    def new(self, one: Binding) -> bool:
        """Whether it has anything new to say. Of two present objects whose bindings have one name (kinds of the same
        name in two groups) the first keeps it."""
        before = self._there.get((one.namespace, one.name))
        if not self.served or before is None:
            return self.served
        return before.digest != one.digest if before.owner == one.owner else before.owner not in self._present

    async def write(self, one: Binding) -> None:
        if not self.new(one):
            return
        before = self._there.get((one.namespace, one.name))
        stamps = before.stamps if before and before.owner == one.owner else {}
        manifest, stamps = manifest_of(one, stamps, self._clock.now())
        try:
            await self._put(manifest, known=before is not None)
        except ClusterRefused as error:
            self._refused(one, error)
        else:
            self._there[one.namespace, one.name] = Written(one.owner, one.digest, stamps)

    async def _put(self, manifest: dict[str, Any], known: bool) -> None:
        where = (KIND, manifest["metadata"]["namespace"], manifest["metadata"]["name"])
        if known and await self._hub.patch(*where, replacing(manifest)) is not None:
            return
        try:
            await self._hub.create(KIND, manifest)
        except ClusterRefused as error:
            if error.code != "AlreadyExists" or await self._hub.patch(*where, replacing(manifest)) is None:
                raise

    def _refused(self, one: Binding, error: ClusterRefused) -> None:
        if error.code == Code.KIND_NOT_SERVED:
            log.warning("no bindings any more", cause=str(error))
            self.served = False
            self._look_at = self._clock.now() + _LOOK_AGAIN_MS
        else:
            log.info("binding not taken", namespace=one.namespace, name=one.name, cause=str(error))

    async def drop(self, gone: HubObject) -> None:
        """Of an object that is no more. A hub with a garbage collector may have removed it first."""
        where = (gone.namespace, name_of(gone))
        there = self._there.get(where)
        if there is not None and there.owner == gone.uid:
            await self._drop(*where)

    async def _drop(self, namespace: str, name: str) -> None:
        try:
            await self._hub.drop(KIND, namespace, name)
        except ClusterRefused as error:
            log.info("binding not removed", namespace=namespace, name=name, cause=str(error))
        self._there.pop((namespace, name), None)
