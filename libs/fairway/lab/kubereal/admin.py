"""The administrator's hands in one cluster: apply what an installation needs, and wait for what it makes."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from fairway.adapters.kubernetes import kubeconfig
from fairway.adapters.kubernetes.http import MERGE, Http, HttpRefusal, Request
from fairway.adapters.kubernetes.kinds import Kinds, NotServed
from fairway.lab.kubereal.control_plane import Plane
from fairway.lab.kubereal.program import NotUp
from fairway.runtime.ports import Unreachable

Json = dict[str, Any]

_APPLY = "application/apply-patch+yaml"  # JSON is YAML
# As many as a busy API server on two cores answers without a queue.
_AT_ONCE = 4
_PROBE_S = 0.1
_WAIT_S = 120.0


class PlaneAdmin:
    """Requests go side by side, a few at once; paths are those of the API."""

    def __init__(self, http: Http) -> None:
        self._http = http
        self._kinds = Kinds(http)
        self._turn = asyncio.Semaphore(_AT_ONCE)

    async def get(self, path: str, **query: str) -> Json | None:
        """None where nothing is."""
        try:
            return await self._json(Request("GET", path, query))
        except HttpRefusal as refusal:
            if refusal.status == 404:
                return None
            raise

    async def apply(self, manifests: Iterable[Json]) -> None:
        """Namespaces first, then the rest side by side."""
        given = list(manifests)
        first = [one for one in given if one["kind"] == "Namespace"]
        for group in (first, [one for one in given if one not in first]):
            await asyncio.gather(*(self._apply(one) for one in group))

    async def merge(self, path: str, body: Json) -> None:
        await self._json(Request("PATCH", path, {}, body, MERGE))

    async def served(self, kind: str, api_version: str) -> None:
        """Waits until the API serves this kind."""

        async def found() -> bool:
            try:
                await self._kinds.find(f"{kind}.{api_version}")
            except NotServed:
                return False
            return True

        await self.until(found, f"{kind} of {api_version}")

    async def until(self, look: Callable[[], Any], what: str, seconds: float = _WAIT_S) -> None:
        """Waits until what `look` returns (awaited) is true; NotUp says what was waited for."""
        try:
            async with asyncio.timeout(seconds):
                while not await look():
                    await asyncio.sleep(_PROBE_S)
        except TimeoutError:
            raise NotUp(f"{what}: not there after {seconds:.0f} s") from None

    async def _apply(self, manifest: Json) -> None:
        resource = await self._kinds.find(f"{manifest['kind']}.{manifest['apiVersion']}")
        metadata = manifest["metadata"]
        path = resource.path(metadata.get("namespace", ""), metadata["name"])
        query = {"fieldManager": "fairway-kubereal", "force": "true"}
        await self._json(Request("PATCH", path, query, manifest, _APPLY))

    async def _json(self, request: Request) -> Json:
        """Once more if there is no answer: whatever is asked here may be asked twice."""
        async with self._turn:
            try:
                answer = await self._http.call(request)
            except Unreachable:
                answer = await self._http.call(request)
        found: Json = msgspec.json.decode(answer)
        return found


@asynccontextmanager
async def admin(plane: Plane) -> AsyncIterator[PlaneAdmin]:
    config = kubeconfig.read(plane.kubeconfig)
    http = Http(plane.name, await kubeconfig.connect(config), random.Random(plane.name))
    try:
        yield PlaneAdmin(http)
    finally:
        await http.close()
