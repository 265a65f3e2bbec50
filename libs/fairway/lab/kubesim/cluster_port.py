"""The cluster port on the API of a simulated cluster, without HTTP: what a call changes is there when it returns."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from typing import Any

import msgspec

from fairway.adapters.adoption import check_ours
from fairway.domain.tenancy import member_namespace
from fairway.lab.kubesim.api import field_managers, json_patch
from fairway.lab.kubesim.api import metadata as meta
from fairway.lab.kubesim.api.api import ClusterApi
from fairway.lab.kubesim.api.registry import ApiResource
from fairway.lab.kubesim.api.selectors import labels as labelled
from fairway.lab.kubesim.api.selectors import seen
from fairway.lab.kubesim.api.store import Event, Key, StoredObject
from fairway.lab.kubesim.http import access_reviews
from fairway.lab.kubesim.http.identities import MASTERS, Identity, KnownIdentities, User
from fairway.lab.kubesim.port_words import carries, is_of_kind, place_of, refusing
from fairway.runtime.cluster_port import Applied, Change, ClusterRefused, check_labels
from fairway.runtime.ports import Unreachable
from fairway.wire.reasons import Code
from fairway.workloads.member_copy import FIELD_MANAGER

Json = dict[str, Any]
_NAMESPACE = "Namespace.v1"
_POD = "Pod.v1"
_ASKER = User("fairway", groups=(MASTERS,))
_REVIEWS = {f"{one.kind}.{one.api_version}": one for one in access_reviews.RESOURCES}


class KubesimCluster:
    """`kinds` are those that `served` asks for; `identities` those that reviews know: without any, everybody may do
    everything. `away`: nothing is answered; watches tell what they have to, as those of a connection that holds.
    `deletion` is how an object is asked to go."""

    deletion = meta.Deletion(policy="Foreground")

    def __init__(self, name: str, api: ClusterApi, kinds: Sequence[str], identities: Sequence[Identity] = ()) -> None:
        self.name = name
        self.api = api
        self._kinds = tuple(kinds)
        self.away = False
        self._known = KnownIdentities(identities) if identities else None
        self._changed = asyncio.Event()
        api.store.listen("", self._wake)

    def resource(self, kind: str) -> ApiResource:
        found = self._resource(kind)
        if found is None:
            raise ClusterRefused(Code.KIND_NOT_SERVED, f"{kind} is not served here; install its operator (CRDs) first")
        return found

    def _resource(self, kind: str) -> ApiResource | None:
        name, _, api_version = kind.partition(".")
        return self.api.registry.of_kind(api_version, name)

    def stored(self, kind: str, namespace: str, name: str) -> StoredObject | None:
        resource = self._resource(kind)
        where = place_of(resource, namespace) if resource else ""
        return self.api.store.get(Key(resource.storage, where, name)) if resource else None

    def every(self, kind: str) -> Iterable[StoredObject]:
        """In the order of their making."""
        resource = self._resource(kind)
        return tuple(self.api.store.all(resource.storage)) if resource else ()

    async def apply(self, kind: str, manifest: Json, level: str = "") -> Applied:
        self._reached()
        resource = self.resource(kind)
        name = manifest["metadata"]["name"]
        namespace = manifest["metadata"].get("namespace") or "default"
        self._take_namespace(namespace, level)
        if found := self.stored(kind, namespace, name):
            check_ours(f"{kind} {namespace}/{name}", found.obj, manifest)
            return Applied(found.obj["metadata"]["uid"], adopted=True)
        return Applied(self._create(resource, manifest).obj["metadata"]["uid"])

    def _take_namespace(self, namespace: str, level: str) -> None:
        """It is there afterwards, its tenant's, and at this level or above."""
        found = self.stored(_NAMESPACE, "", namespace)
        labels = None if found is None else found.obj["metadata"].get("labels") or {}
        if refused := member_namespace.refusal(self.name, namespace, labels):
            raise ClusterRefused(*refused)
        resource = self.resource(_NAMESPACE)
        if found is None or labels is None:
            made = {"name": namespace, "labels": member_namespace.made(namespace, level)}
            self._create(resource, {"metadata": made})
        elif member_namespace.above(level, labels):
            metadata = {**found.obj["metadata"], "labels": member_namespace.raised(labels, level)}
            self._update(resource, found, {**found.obj, "metadata": metadata})

    async def create(self, kind: str, manifest: Json) -> None:
        self._reached()
        self._create(self.resource(kind), manifest)

    def _create(self, resource: ApiResource, manifest: Json) -> StoredObject:
        copy: Json = msgspec.json.decode(msgspec.json.encode(manifest))
        body = {"apiVersion": resource.api_version, "kind": resource.kind, **copy}
        signed = field_managers.signed(FIELD_MANAGER, body, self.api.clock.now())
        with refusing():
            return self.api.create(resource, place_of(resource, body["metadata"].get("namespace")), signed)

    def _update(self, resource: ApiResource, old: StoredObject, body: Json, part: str = "") -> StoredObject:
        signed = body if part else field_managers.rewritten(FIELD_MANAGER, old.obj, body, self.api.clock.now())
        with refusing():
            return self.api.update(resource, old, signed, part)

    async def get(self, kind: str, namespace: str, name: str) -> Json | None:
        self._reached()
        return found.obj if (found := self.stored(kind, namespace, name)) else None

    async def patch(
        self, kind: str, namespace: str, name: str, body: Json | list[Json], subresource: str = ""
    ) -> Json | None:
        self._reached()
        resource = self.resource(kind)
        old = self.stored(kind, namespace, name)
        if old is None:
            return None
        with refusing():
            copy = old.copy()
            patched: Json = (
                json_patch.json_patch(copy, body) if isinstance(body, list) else json_patch.merge(copy, body)
            )
            meta.check_same(resource, old, patched)
        return self._update(resource, old, patched, subresource).obj

    async def review(self, kind: str, body: Json) -> Json:
        self._reached()
        resource = _REVIEWS.get(kind)
        if resource is None:
            raise ClusterRefused(Code.KIND_NOT_SERVED, f"{kind} is not a review that is answered here")
        if self._known is None:
            return {**body, "status": {"allowed": True}}
        with refusing():
            return access_reviews.answer(self._known, _ASKER, resource, body)

    async def delete(self, kind: str, namespace: str, name: str, labels: dict[str, str], wait_s: float) -> bool:
        check_labels(labels)
        self._reached()
        found = self.stored(kind, namespace, name) if name else None
        found = found if found and carries(found, labels) else None
        if found and "deletionTimestamp" not in found.obj["metadata"]:
            exactly = {"uid": found.obj["metadata"]["uid"]}
            self._delete(found, msgspec.structs.replace(self.deletion, preconditions=exactly))
        try:
            async with asyncio.timeout(wait_s):
                await self.until(lambda: not self._left(found, namespace, labels))
        except TimeoutError:
            return False
        return True

    def _left(self, found: StoredObject | None, namespace: str, labels: dict[str, str]) -> bool:
        """Of the object or of its pods."""
        return bool(found and self.there(found)) or bool(self._pods(namespace, labels))

    def there(self, found: StoredObject) -> bool:
        """Itself, and not another one of its name."""
        now = self.api.store.get(found.key)
        return bool(now and now.obj["metadata"]["uid"] == found.obj["metadata"]["uid"])

    async def discard(self, kind: str, namespace: str, labels: dict[str, str], name: str = "") -> None:
        check_labels(labels)
        self._reached()
        for found in self.every(kind):
            if found.key.namespace == namespace and name in ("", found.key.name) and carries(found, labels):
                self._delete(found, meta.Deletion(grace=0))

    async def mark_pods(self, namespace: str, labels: dict[str, str], notes: dict[str, str]) -> None:
        self._reached()
        for found in self._pods(namespace, labels):
            with refusing():
                self._update(
                    self.resource(_POD), found, json_patch.merge(found.copy(), {"metadata": {"annotations": notes}})
                )

    async def shorten(self, namespace: str, labels: dict[str, str], grace_s: int) -> None:
        self._reached()
        for found in self._pods(namespace, labels):
            if "deletionTimestamp" in found.obj["metadata"]:
                self._delete(found, meta.Deletion(grace=grace_s))

    def _pods(self, namespace: str, labels: dict[str, str]) -> list[StoredObject]:
        check_labels(labels)
        return [one for one in self.every(_POD) if one.key.namespace == namespace and carries(one, labels)]

    async def drop(self, kind: str, namespace: str, name: str) -> None:
        self._reached()
        self.resource(kind)
        if found := self.stored(kind, namespace, name):
            self._delete(found, meta.Deletion())

    def _delete(self, found: StoredObject, how: meta.Deletion) -> None:
        """As it is now: what went before may have taken it along."""
        now = self.api.store.get(found.key)
        resource = self.api.resource_of(found)
        if now is not None and resource is not None:
            with refusing():
                self.api.delete(resource, now, how)

    async def served(self) -> tuple[str, ...]:
        self._reached()
        return tuple(sorted(kind for kind in self._kinds if self._resource(kind)))

    async def close(self) -> None: ...

    async def watch(self, kind: str, selector: str = "", namespace: str = "") -> AsyncGenerator[Change, None]:
        """A kind that is not served yet has nothing to tell until it is."""
        line: asyncio.Queue[Change] = asyncio.Queue()
        match = labelled(selector) if selector else None
        resource = self._resource(kind)

        def hear(event: Event) -> None:
            key = event.new.key
            told = seen(event, match)
            if told and namespace in ("", key.namespace) and (resource or is_of_kind(event.new, kind)):
                last = event.old if told == "DELETED" and event.old else event.new
                line.put_nowait(Change(kind, key.namespace, key.name, last.obj, gone=told == "DELETED"))

        for found in self.every(kind):
            hear(Event("ADDED", found))
        line.put_nowait(Change(kind, synced=True))
        stop = self.api.store.listen(resource.storage if resource else "", hear)
        try:
            while True:
                yield await line.get()
        finally:
            stop()

    def _wake(self, _: Event) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def until(self, true: Callable[[], bool]) -> None:
        while not true():
            await self._changed.wait()

    def _reached(self) -> None:
        if self.away:
            raise Unreachable(f"{self.name} does not answer")
