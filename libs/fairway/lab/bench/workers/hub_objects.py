"""Jobs that are applied on the hub while instances come and go, and whether each of them shows its end there."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.domain.names import job_id
from fairway.domain.submission import HUB_CLIENT

_KIND = "Job.batch/v1"
_EVERY_S = 0.25
# What a status waits for at most, beside other writes to the hub (s).
_SHOWN_S = 30.0
_LOOK_S = 0.2
Json = dict[str, Any]


class HubObjects:
    """`names` are namespace and name of those that were applied."""

    def __init__(self, hub: KubernetesCluster, objects: Iterator[Json]) -> None:
        self._hub = hub
        self._objects = objects
        self.names: list[tuple[str, str]] = []

    async def set_up(self, settings: list[Json]) -> None:
        for one in settings:
            await self._hub.create(f"{one['kind']}.{one['apiVersion']}", one)

    async def apply(self, sent: Callable[[str], None], enough: Callable[[], bool]) -> None:
        """One after the other until it is enough; `sent` is told the id that the job of each is going to have."""
        while not enough():
            one = next(self._objects)
            meta = one["metadata"]
            await self._hub.create(_KIND, one)
            found = await self._hub.get(_KIND, meta["namespace"], meta["name"])
            assert found is not None, "it was made just now"
            sent(job_id(meta["namespace"], f"{HUB_CLIENT}{found['metadata']['uid']}", meta["name"]))
            self.names.append((meta["namespace"], meta["name"]))
            await asyncio.sleep(_EVERY_S)

    async def untold(self) -> list[str]:
        """Those that do not show that they succeeded, though there was time for it."""
        loop = asyncio.get_running_loop()
        until = loop.time() + _SHOWN_S
        left = list(self.names)
        while True:
            left = [where for where in left if not _complete(await self._hub.get(_KIND, *where))]
            if not left or loop.time() > until:
                return ["/".join(where) for where in left]
            await asyncio.sleep(_LOOK_S)


def _complete(found: Json | None) -> bool:
    conditions = ((found or {}).get("status") or {}).get("conditions") or ()
    return any((one["type"], one["status"]) == ("Complete", "True") for one in conditions)
