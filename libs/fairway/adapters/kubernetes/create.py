"""Putting an object there exactly once: one call that can only create, and a look at what is there when it cannot.

Not a server-side apply: that is two calls (without force it would still write into another's object whose fields do
not conflict), it costs the API server half as much again, and it refuses lists that a create takes, such as an
environment that names a variable twice. What was created once is never applied again, so nothing is lost by it.
"""

from functools import partial
from typing import Any

import msgspec
from msgspec import Struct

from fairway.adapters.adoption import check_ours
from fairway.adapters.kubernetes.http import METADATA, Failing, Http, HttpRefusal, Request
from fairway.adapters.kubernetes.kinds import Kinds, NotServed
from fairway.adapters.kubernetes.namespaces import Namespaces
from fairway.adapters.kubernetes.responses import read, value
from fairway.runtime.cluster_port import Applied, ClusterRefused
from fairway.runtime.ports import Unreachable
from fairway.wire.reasons import Code

Json = dict[str, Any]

# Whoever looks at managedFields sees who made the object. The hub has warned of unknown fields already.
_QUERY = {"fieldManager": "fairway", "fieldValidation": "Ignore"}
_TRIES = 4


class _Uid(Struct):
    uid: str


class _Made(Struct):
    metadata: _Uid


_made = msgspec.json.Decoder(_Made).decode


class Creator:
    def __init__(self, http: Http, kinds: Kinds, namespaces: Namespaces) -> None:
        self._http = http
        self._kinds = kinds
        self._namespaces = namespaces

    async def apply(self, kind: str, manifest: Json, level: str) -> Applied:
        """The object is there and it is this attempt's; its namespace is made if it is missing, and is its tenant's."""
        namespace = _namespace(manifest)
        for _ in range(_TRIES):
            await self._namespaces.ready(namespace, level)
            try:
                return Applied(await self._namespaces.granted(namespace, partial(self.create, kind, manifest)))
            except HttpRefusal as error:
                if error.code != "AlreadyExists":
                    await self._overcome(error, namespace, level)
                    continue
            except Failing as error:
                # The object was not stored, and will not be as long as that webhook is away: others may do better.
                if "failed calling webhook" in error.said.message:
                    raise ClusterRefused(Code.WEBHOOK_FAILED, error.said.message) from error
                raise
            found = await self._find(kind, manifest)
            if found is not None:
                check_ours(_where(kind, manifest), found, manifest)
                return Applied(found["metadata"]["uid"], adopted=True)
        raise Unreachable(f"{_where(kind, manifest)}: neither created nor found {_TRIES} times in a row; trying later")

    async def _overcome(self, error: HttpRefusal, namespace: str, level: str) -> None:
        """Returns when another try may succeed: there was no namespace, or two writes met (in a quota, say)."""
        self._namespaces.forget(namespace)
        if error.status == 404 and error.plural == "namespaces":
            await self._namespaces.make(namespace, level)
        elif Code.NAMESPACE_TERMINATING in error.causes:
            raise ClusterRefused(Code.NAMESPACE_TERMINATING, error.text) from error
        elif error.status != 409:
            raise error

    async def create(self, kind: str, manifest: Json) -> str:
        """The uid. Asks the API for the kind again when its path is no longer there."""
        for age in (float("inf"), 0.0):
            resource = await self._kinds.find(kind, age)
            body = {"apiVersion": resource.api_version, "kind": resource.kind, **manifest}
            request = Request("POST", resource.path(_namespace(manifest)), _QUERY, body, accept=METADATA)
            try:
                return read(_where(kind, manifest), await self._http.call(request), _made).metadata.uid
            except HttpRefusal as error:
                if error.status != 404 or error.plural:
                    raise
        raise NotServed(kind)

    async def _find(self, kind: str, manifest: Json) -> Json | None:
        resource = await self._kinds.find(kind)
        path = resource.path(_namespace(manifest), manifest["metadata"]["name"])
        data = await self._http.found(Request("GET", path, accept=METADATA))
        return None if data is None else value(_where(kind, manifest), data)


def _namespace(manifest: Json) -> str:
    return str(manifest["metadata"].get("namespace") or "default")


def _where(kind: str, manifest: Json) -> str:
    return f"{kind} {_namespace(manifest)}/{manifest['metadata']['name']}"
