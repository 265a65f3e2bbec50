"""The pods of an attempt, as whoever ends it speaks to them: told when that is, and bounded in how long they take."""

from collections.abc import AsyncIterator, Mapping

import msgspec
from msgspec import Struct

from fairway.adapters.kubernetes.http import MERGE, METADATA, METADATA_LIST, Http, HttpRefusal, Request
from fairway.adapters.kubernetes.kinds import Kinds
from fairway.adapters.kubernetes.remove import Removal
from fairway.adapters.kubernetes.responses import read
from fairway.runtime.cluster_port import check_labels

_PODS = "Pod.v1"
# Not there any more, or another one by now.
_MISSED = (404, 409)


class _PodMeta(Struct, rename="camel"):
    name: str = ""
    uid: str = ""
    annotations: dict[str, str] | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None


class _Pod(Struct):
    metadata: _PodMeta = msgspec.field(default_factory=_PodMeta)


class _Pods(Struct):
    items: list[_Pod] | None = None


_pods = msgspec.json.Decoder(_Pods).decode


class AttemptPods:
    def __init__(self, http: Http, kinds: Kinds, namespace: str, labels: dict[str, str]) -> None:
        check_labels(labels)
        self._http = http
        self._kinds = kinds
        self._what = Removal(_PODS, namespace, "", labels)

    async def mark(self, notes: Mapping[str, str]) -> None:
        """Those that have these annotations already are not written to."""
        body = {"metadata": {"annotations": dict(notes)}}
        async for one, path in self._every():
            if not notes.items() <= (one.annotations or {}).items():
                await self._send(Request("PATCH", path, body=body, content=MERGE, accept=METADATA))

    async def shorten(self, grace_s: int) -> None:
        """Only of those that are on their way out: an API counts the new grace from when the first one began."""
        async for one, path in self._every():
            if one.deletion_timestamp and (one.deletion_grace_period_seconds or 0) > grace_s:
                await self._send(_delete(path, one.uid, grace_s))

    async def _every(self) -> AsyncIterator[tuple[_PodMeta, str]]:
        pods = await self._kinds.find(_PODS)
        path = pods.path(self._what.namespace)
        query = {"labelSelector": self._what.selector}
        data = await self._http.call(Request("GET", path, query, accept=METADATA_LIST))
        for one in read(f"GET {path}", data, _pods).items or ():
            yield one.metadata, pods.path(self._what.namespace, one.metadata.name)

    async def _send(self, request: Request) -> None:
        try:
            await self._http.call(request)
        except HttpRefusal as error:
            if error.status not in _MISSED:
                raise


def _delete(path: str, uid: str, grace_s: int) -> Request:
    body = {
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "gracePeriodSeconds": grace_s,
        "preconditions": {"uid": uid},
    }
    return Request("DELETE", path, body=body, accept=METADATA)
