"""Deleting an attempt's object so that nothing of it is left: the object first, then its pods."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import msgspec
from msgspec import Struct

from fairway.adapters.kubernetes_http import Http, Refusal, Request
from fairway.adapters.kubernetes_kinds import Kinds, NotServed
from fairway.adapters.kubernetes_watch import Reflector, Scope
from fairway.runtime.ports import Change

_PODS = "Pod.v1"


class Removal(Struct, frozen=True):
    kind: str
    namespace: str
    name: str
    labels: dict[str, str]

    def ours(self, manifest: dict[str, Any]) -> bool:
        found = manifest.get("metadata", {}).get("labels") or {}
        return all(found.get(name) == value for name, value in self.labels.items())


class Remover:
    def __init__(self, http: Http, kinds: Kinds, reflect: Callable[[Scope], Reflector]) -> None:
        self._http, self._kinds, self._reflect = http, kinds, reflect

    async def remove(self, what: Removal, wait_s: float) -> bool:
        """True when nothing is left within `wait_s`. An object without these labels is another's and stays."""
        if not what.labels:
            raise ValueError("a deletion without labels would take anybody's object; name the job and the attempt")
        await self._order(what)
        pods = ",".join(f"{name}={value}" for name, value in sorted(what.labels.items()))
        try:
            async with asyncio.timeout(wait_s):
                await self._gone(Scope(what.kind, namespace=what.namespace, name=what.name), what)
                await self._gone(Scope(_PODS, selector=pods, namespace=what.namespace), what)
        except TimeoutError:
            return False
        return True

    async def discard(self, what: Removal) -> None:
        """One call for all that carry the labels, by name one for the object of that name if it does. Whoever watches
        learns that they are gone in the order in which they went, and nobody waits for a garbage collector."""
        if not what.labels:
            raise ValueError("a deletion without labels would take anybody's object; name the job and the attempt")
        selector = ",".join(f"{name}={value}" for name, value in sorted(what.labels.items()))
        query = {"labelSelector": selector} | ({"fieldSelector": f"metadata.name={what.name}"} if what.name else {})
        body = {
            "kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background", "gracePeriodSeconds": 0,
        }  # fmt: skip
        try:
            path = (await self._kinds.find(what.kind)).path(what.namespace)
            await self._http.call(Request("DELETE", path, query, body))
        except NotServed:
            return
        except Refusal as error:
            if error.status != 404:
                raise

    async def _order(self, what: Removal) -> None:
        """Asks for foreground deletion of exactly the object that was looked at."""
        try:
            path = (await self._kinds.find(what.kind)).path(what.namespace, what.name)
            for _ in range(3):
                manifest = msgspec.json.decode(await self._http.call(Request("GET", path)))
                metadata = manifest["metadata"]
                if not what.ours(manifest) or metadata.get("deletionTimestamp"):
                    return
                body = {
                    "kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Foreground",
                    "preconditions": {"uid": metadata["uid"]},
                }  # fmt: skip
                try:
                    await self._http.call(Request("DELETE", path, body=body))
                    return
                except Refusal as error:
                    if error.status != 409:  # replaced since it was looked at
                        raise
        except NotServed:
            return
        except Refusal as error:
            if error.status != 404:
                raise

    async def _gone(self, scope: Scope, what: Removal) -> None:
        left: set[tuple[str, str]] = set()
        synced = False
        async with aclosing(self._reflect(scope).changes()) as changes:
            async for change in changes:
                synced = synced or change.synced
                self._count(left, change, what)
                if synced and not left:
                    return

    def _count(self, left: set[tuple[str, str]], change: Change, what: Removal) -> None:
        key = (change.namespace, change.name)
        if change.gone or change.synced or not what.ours(change.manifest):
            left.discard(key)
        else:
            left.add(key)
