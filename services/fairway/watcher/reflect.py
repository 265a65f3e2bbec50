"""The hub object's status shows what the member says: newest word per object, written as fast as the hub takes it."""

import asyncio
from typing import Any

import structlog

from fairway.domain.names import HUB_UID
from fairway.runtime.ports import Change, Cluster, ClusterRefused, Unreachable

log = structlog.get_logger()


class Mirror:
    """Keeps one status per hub object; an object that the hub no longer has, or has anew, is passed over."""

    def __init__(self, hub: Cluster) -> None:
        self._hub = hub
        self._waiting: dict[tuple[str, str, str], tuple[str, dict[str, Any]]] = {}
        self._news = asyncio.Event()

    def saw(self, kind: str, change: Change) -> None:
        meta = change.manifest.get("metadata") or {}
        uid = (meta.get("annotations") or {}).get(HUB_UID)
        status = change.manifest.get("status")
        if uid and status and not change.gone:
            self._waiting[kind, change.namespace, change.name] = (uid, status)
            self._news.set()

    async def run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            waiting, self._waiting = self._waiting, {}
            for (kind, namespace, name), (uid, status) in waiting.items():
                await self._write(kind, namespace, name, uid, status)

    async def _write(self, kind: str, namespace: str, name: str, uid: str, status: dict[str, Any]) -> None:
        """Replaces the status as a whole: what the member no longer says must go here too. A kind whose definition
        has no status subresource (Argo's Workflow) takes it as part of the object."""
        steps: list[dict[str, Any]] = [
            {"op": "test", "path": "/metadata/uid", "value": uid},
            {"op": "add", "path": "/status", "value": status},
        ]
        try:
            if await self._hub.patch(kind, namespace, name, steps, "status") is None:
                await self._hub.patch(kind, namespace, name, steps)
        except ClusterRefused as error:  # another uid: the object was deleted and created anew
            log.info("status not returned", kind=kind, namespace=namespace, name=name, cause=str(error))
        except Unreachable:
            self._waiting.setdefault((kind, namespace, name), (uid, status))
            await asyncio.sleep(1)
            self._news.set()
