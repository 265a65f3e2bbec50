"""PriorityClasses in members: without the class that it names, no pod of a job is taken by an API server."""

from typing import Any

import structlog

from fairway.domain.tenancy.profile import SYSTEM_CLASSES
from fairway.runtime.cluster_port import Cluster, ClusterRefused
from fairway.runtime.ports import Clock

log = structlog.get_logger()
KIND = "PriorityClass.scheduling.k8s.io/v1"
# A class that somebody deletes is made anew with a job that comes this much later (ms).
_KNOWN_MS = 300_000


class Classes:
    """Made where they are missing, with the value that they have on the hub; what is there is left as it is."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[tuple[str, str], int] = {}

    async def need(self, cluster: Cluster, name: str, value: int) -> None:
        """Raises Unreachable. A cluster that does not let us is none the worse: it may have the class."""
        key = (cluster.name, name)
        now = self._clock.now()
        if not name or name.startswith(SYSTEM_CLASSES) or now - self._known.get(key, now - _KNOWN_MS) < _KNOWN_MS:
            return
        try:
            await ensure(cluster, KIND, priority_class(name, value))
        except ClusterRefused as error:
            log.info("priority class not made", cluster=cluster.name, name=name, cause=str(error))
        self._known[key] = now


_WHY = "Made by Fairway for a job that names it, with the value that it has on the hub."


def priority_class(name: str, value: int, description: str = _WHY) -> dict[str, Any]:
    """Never: Fairway puts jobs where there is room, and its classes need to drive out nobody."""
    return {"metadata": {"name": name}, "value": value, "preemptionPolicy": "Never", "description": description}


async def ensure(cluster: Cluster, kind: str, manifest: dict[str, Any]) -> None:
    try:
        await cluster.create(kind, manifest)
    except ClusterRefused as error:
        if error.code != "AlreadyExists":
            raise
