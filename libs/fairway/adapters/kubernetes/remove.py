"""Deleting an attempt's object so that nothing of it is left: the object first, then its pods."""

import asyncio
import contextlib
from collections.abc import Callable
from contextlib import aclosing

import msgspec
from msgspec import Struct

from fairway.adapters.kubernetes.http import METADATA, METADATA_LIST, Http, HttpRefusal, Request
from fairway.adapters.kubernetes.kinds import Kinds, NotServed
from fairway.adapters.kubernetes.responses import read
from fairway.adapters.kubernetes.watch import Reflector, Scope, Since
from fairway.runtime.cluster_port import Change, check_labels
from fairway.runtime.ports import Unreachable
from fairway.workloads.kinds.registry import KINDS

_PODS = "Pod.v1"
_TRIES = 3


class Removal(Struct, frozen=True):
    kind: str
    namespace: str
    name: str
    labels: dict[str, str]

    @property
    def selector(self) -> str:
        return ",".join(f"{name}={value}" for name, value in sorted(self.labels.items()))

    def ours(self, labels: dict[str, str] | None) -> bool:
        found = labels or {}
        return all(found.get(name) == value for name, value in self.labels.items())


class _Meta(Struct, rename="camel"):
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    deletion_timestamp: str | None = None


class _Left(Struct):
    """An object, or the Status that says that it is gone."""

    kind: str = ""
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class _Some(Struct):
    items: list[msgspec.Raw] | None = None


_left = msgspec.json.Decoder(_Left).decode
_some = msgspec.json.Decoder(_Some).decode


class Remover:
    """Asks as little as it can: three calls when nothing has to be waited for, one more for each watch."""

    def __init__(self, http: Http, kinds: Kinds, reflect: Callable[[Scope], Reflector]) -> None:
        self._http = http
        self._kinds = kinds
        self._reflect = reflect

    async def remove(self, what: Removal, wait_s: float) -> bool:
        """True when nothing is left within `wait_s`. An object without these labels is another's and stays."""
        check_labels(what.labels)
        left = await self._order(what) if what.name else None
        pods = Scope(_PODS, selector=what.selector, namespace=what.namespace)
        try:
            async with asyncio.timeout(wait_s):
                if left is not None:
                    since = Since(left.resource_version, left.uid)
                    await self._gone(Scope(what.kind, namespace=what.namespace, name=what.name, since=since), what)
                if await self._any(pods):
                    await self._gone(pods, what)
        except TimeoutError:
            return False
        return True

    async def discard(self, what: Removal) -> None:
        """One call for all that carry the labels, by name one for the object of that name if it does. Whoever watches
        learns that they are gone in the order in which they went, and nobody waits for a garbage collector."""
        check_labels(what.labels)
        query = Scope(what.kind, what.selector, name=what.name).query
        body = {
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "propagationPolicy": "Background",
            "gracePeriodSeconds": 0,
        }
        with contextlib.suppress(NotServed):
            path = (await self._kinds.find(what.kind)).path(what.namespace)
            await self._http.found(Request("DELETE", path, query, body))

    async def _order(self, what: Removal) -> _Meta | None:
        """Asks for the deletion of exactly the object that was looked at: in the foreground, if its operator lets it.
        What is left of it, if anything is."""
        kind = KINDS.get(what.kind)
        order = "Background" if kind is not None and kind.remade else "Foreground"
        try:
            path = (await self._kinds.find(what.kind)).path(what.namespace, what.name)
            for _ in range(_TRIES):
                found = await self._read(Request("GET", path, accept=METADATA))
                if not what.ours(found.metadata.labels):
                    return None
                if found.metadata.deletion_timestamp:
                    return found.metadata
                body = {
                    "kind": "DeleteOptions",
                    "apiVersion": "v1",
                    "propagationPolicy": order,
                    "preconditions": {"uid": found.metadata.uid},
                }
                try:
                    left = await self._read(Request("DELETE", path, body=body, accept=METADATA))
                except HttpRefusal as error:
                    if error.status != 409:
                        raise
                    continue  # replaced since it was looked at
                return left.metadata if left.kind != "Status" else None
        except NotServed:
            return None
        except HttpRefusal as error:
            if error.status != 404:
                raise
            return None
        raise Unreachable(
            f"{what.kind} {what.namespace}/{what.name} changes too fast to be deleted; trying again later"
        )

    async def _read(self, request: Request) -> _Left:
        return read(f"{request.method} {request.path}", await self._http.call(request), _left)

    async def _any(self, pods: Scope) -> bool:
        path = (await self._kinds.find(_PODS)).path(pods.namespace)
        data = await self._http.call(Request("GET", path, pods.query | {"limit": "1"}, accept=METADATA_LIST))
        return bool(read(f"GET {path}", data, _some).items)

    async def _gone(self, scope: Scope, what: Removal) -> None:
        """With `since` it is known what is there: no list is needed."""
        left = {(what.namespace, what.name)} if scope.since else set()
        synced = scope.since is not None
        async with aclosing(self._reflect(scope).changes()) as changes:
            async for change in changes:
                synced = synced or change.synced
                self._count(left, change, what)
                if synced and not left:
                    return

    def _count(self, left: set[tuple[str, str]], change: Change, what: Removal) -> None:
        key = (change.namespace, change.name)
        if change.gone or change.synced or not what.ours(change.manifest.get("metadata", {}).get("labels")):
            left.discard(key)
        else:
            left.add(key)
