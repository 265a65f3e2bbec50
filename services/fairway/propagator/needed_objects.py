"""What belongs to a whole member and has to be there before a job is: the PriorityClass of its pods, without which no
API server takes them, and the queue that it names, without which Volcano's webhook refuses it."""

from typing import Any

import structlog

from fairway.domain.tenancy.profile import SYSTEM_CLASSES
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.runtime.ports import Clock
from fairway.workloads.settings import volcano_queues

log = structlog.get_logger()
PRIORITY_CLASS = "PriorityClass.scheduling.k8s.io/v1"
# One that somebody deletes is made anew with a job that comes this much later (ms).
_KNOWN_MS = 300_000
# Volcano's controller opens a queue that was just made within less than this (ms), with all that it has to do.
_OPENED_MS = 10_000


class NeededObjects:
    """Made where they are missing; what is there is left as it is."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[tuple[str, str, str], int] = {}

    async def priority_class(self, cluster: Cluster, name: str, value: int) -> None:
        """With the value that it has on the hub. Raises Unreachable."""
        if name and not name.startswith(SYSTEM_CLASSES):
            await self._need(cluster, PRIORITY_CLASS, priority_class(name, value))

    async def queue(self, cluster: Cluster, name: str) -> None:
        """Raises Unreachable."""
        if name:
            await self._need(cluster, volcano_queues.KIND, volcano_queue(name))

    def may_be_new(self, cluster: Cluster, queue: str) -> bool:
        """Whether this queue may have been made a moment ago, and not be open yet."""
        since = self._known.get((cluster.name, volcano_queues.KIND, queue))
        return since is not None and self._clock.now() - since < _OPENED_MS

    async def _need(self, cluster: Cluster, kind: str, manifest: dict[str, Any]) -> None:
        """A cluster that does not let us is none the worse: it may have the object."""
        name = manifest["metadata"]["name"]
        key = (cluster.name, kind, name)
        now = self._clock.now()
        if now - self._known.get(key, now - _KNOWN_MS) < _KNOWN_MS:
            return
        try:
            await ensure(cluster, kind, manifest)
        except ClusterRefused as error:
            log.info("not made", cluster=cluster.name, kind=kind, name=name, cause=str(error))
        self._known[key] = now


_WHY = "Made by Fairway for a job that names it, with the value that it has on the hub."


def priority_class(name: str, value: int, description: str = _WHY) -> dict[str, Any]:
    """Never: Fairway puts jobs where there is room, and its classes need to drive out nobody."""
    return {"metadata": {"name": name}, "value": value, "preemptionPolicy": "Never", "description": description}


def volcano_queue(name: str) -> dict[str, Any]:
    """Without limits, and nobody takes its room back: the room of its jobs was reserved for them."""
    return {"metadata": {"name": name}, "spec": {"weight": 1, "reclaimable": False}}


async def ensure(cluster: Cluster, kind: str, manifest: dict[str, Any]) -> None:
    try:
        await cluster.create(kind, manifest)
    except ClusterRefused as error:
        if error.code != "AlreadyExists":
            raise
