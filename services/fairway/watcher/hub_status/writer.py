"""Writing a status onto an object of the hub: one call, made only when something changes, and legal as it follows on
what is there."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from hashlib import blake2b
from typing import Any

import msgspec
import structlog
from msgspec import Struct

from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.runtime.ports import Unreachable
from fairway.watcher.hub_status.final import HubPlace
from fairway.wire.workload import Workload
from fairway.workloads.hub_status import as_seen
from fairway.workloads.kinds.phase import FAILED, SUCCEEDED
from fairway.workloads.kinds.registry import KINDS, status

log = structlog.get_logger()
Json = dict[str, Any]
# So long those wait who come first for the list of a kind; it goes on without them, and they come again.
_PATIENCE_S = 2.0
_encode = msgspec.json.Encoder(order="deterministic").encode


class Ended(Struct, frozen=True):
    """Of a status that is an end: which one, and what it looked like."""

    state: str
    digest: str


class _Asking(Struct, frozen=True):
    """A list that is under way, and until when those who came for it wait."""

    task: asyncio.Task[dict[str, Json | Ended]]
    until: float


class Writer:
    """Remembers which kinds have their status in the object itself, and, of those it has not written to yet, what was
    there when the kind was first asked for: what a process before this one wrote is not written again."""

    def __init__(self, hub: Cluster) -> None:
        self._hub = hub
        self._subresource: dict[str, str] = {}
        self._found: dict[str, dict[str, Json | Ended]] = {}
        self._asking: dict[str, _Asking] = {}

    async def write(self, place: HubPlace, shown: Json | None, step: Callable[[Json], Json]) -> Json | None:
        """Shows what `step` makes of what is shown; returns what is shown then, None when the object is not there any
        more. Raises Unreachable."""
        known = (await self._kind(place.kind)).pop(place.uid, {}) if shown is None else shown
        if isinstance(known, Ended):
            new = step({})
            end = end_of(place.kind, new)
            over = end.state in (FAILED, SUCCEEDED)  # else another job has the object now: an edited one
            if over and (end.state != known.state or end.digest == known.digest or not grows(place.kind)):
                return new
            known = {}
        shown = known
        new = step(known)
        if new == shown:
            return shown
        try:
            return new if await self._patch(place, new) else None
        except ClusterRefused as error:
            return await self._anew(place, step, error)

    async def _anew(self, place: HubPlace, step: Callable[[Json], Json], refusal: ClusterRefused) -> Json | None:
        """Refused: the object is another by now, or it does not show what was thought."""
        found = await self._hub.get(place.kind, place.namespace, place.name)
        if found is None or found["metadata"].get("uid") != place.uid:
            return None
        shown: Json = found.get("status") or {}
        new = step(shown)
        if new == shown:
            return shown
        try:
            return new if await self._patch(place, new) else None
        except ClusterRefused as error:
            log.warning(
                "status not returned",
                kind=place.kind,
                namespace=place.namespace,
                name=place.name,
                cause=str(error),
                before=str(refusal),
            )
            return shown

    async def _patch(self, place: HubPlace, new: Json) -> bool:
        """Replaces the status as a whole: what the member no longer says must go here too. False: no such object. A
        kind whose definition has no status subresource (Argo's Workflow) takes it as part of the object."""
        steps: list[Json] = [
            {"op": "test", "path": "/metadata/uid", "value": place.uid},
            {"op": "add", "path": "/status", "value": new},
        ]
        known = self._subresource.get(place.kind)
        for part in ("status", "") if known is None else (known,):
            if await self._hub.patch(place.kind, place.namespace, place.name, steps, part) is not None:
                self._subresource[place.kind] = part
                return True
        return False

    async def _kind(self, kind: str) -> dict[str, Json | Ended]:
        """The statuses of a kind by uid, as they were when this was first asked; of an end, which one. Unreachable
        while the list takes long: no other status waits for it."""
        if kind not in self._found:
            if kind not in self._asking:
                self._asking[kind] = _Asking(asyncio.create_task(self._list(kind)), self._now() + _PATIENCE_S)
            asking = self._asking[kind]
            await asyncio.wait((asking.task,), timeout=max(asking.until - self._now(), 0))
            if not asking.task.done():
                raise Unreachable(f"the {kind} objects of the hub are still being listed; trying again later")
            if self._asking.get(kind) is asking:
                del self._asking[kind]  # one that failed, too: whoever writes next asks anew
            self._found.setdefault(kind, asking.task.result())
        return self._found[kind]

    def close(self) -> None:
        for asking in self._asking.values():
            asking.task.cancel()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    async def _list(self, kind: str) -> dict[str, Json | Ended]:
        found: dict[str, Json | Ended] = {}
        async with aclosing(self._hub.watch(kind)) as changes:  # type: ignore[type-var]  # adapters give generators
            async for change in changes:
                if change.synced:
                    break
                if change.manifest.get("status"):
                    found[change.manifest["metadata"]["uid"]] = _short(kind, change.manifest["status"])
        return found


def grows(kind: str) -> bool:
    """Whether the status may change after the end; that of a batch Job may not."""
    return KINDS[kind].ends.shows is as_seen


def end_of(kind: str, shown: Json) -> Ended:
    name, _, api_version = kind.partition(".")
    nobody = Workload(api_version, name, "", "", (), 0)
    return Ended(status({"apiVersion": api_version, "kind": name}, nobody, shown).state, digest(shown))


def digest(status: Json) -> str:
    return blake2b(_encode(status), digest_size=12).hexdigest()


def _short(kind: str, shown: Json) -> Json | Ended:
    end = end_of(kind, shown)
    return end if end.state in (FAILED, SUCCEEDED) else shown
