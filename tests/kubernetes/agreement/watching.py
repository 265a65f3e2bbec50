"""What of a cluster's nodes and pods shows where a case stands, as watches tell it; and waiting by it."""

import asyncio
from collections.abc import Callable, Container
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.runtime.cluster_port import Change
from tests.kubernetes.agreement.manifests import PLACE, ROUND

# How long nothing more may come of what is waited for. Far beyond what a scheduler takes that is to place a pod.
_STALLED_S = 60.0


class _Meta(Struct, rename="camel", omit_defaults=True):
    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    deletion_timestamp: str | None = None


class _Condition(Struct, rename="camel", omit_defaults=True):
    type: str
    status: str = ""
    reason: str = ""
    message: str = ""


class _Spec(Struct, rename="camel", omit_defaults=True):
    node_name: str = ""
    taints: list[dict[str, str]] | None = None


class _Status(Struct, rename="camel", omit_defaults=True):
    phase: str = ""
    conditions: list[_Condition] | None = None


class _Object(Struct, rename="camel", omit_defaults=True):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


# For the watches: nothing else is decoded.
SHAPES: dict[str, type[Struct]] = {"Node.v1": _Object, "Pod.v1": _Object}


class NodeNow(Struct, frozen=True):
    """`taints` are the keys."""

    ready: bool
    taints: frozenset[str]


class PodNow(Struct, frozen=True):
    """`node` is empty until it is bound; `refused` is what its scheduler last said against it. `round` and `place`: for
    what it was made."""

    node: str
    phase: str
    refused: str
    round: str = ""
    place: str = ""

    def is_of(self, round: str, places: Container[str]) -> bool:
        return self.round == round and self.place in places


class Watching:
    """Nodes by name, pods by namespace and name, as they are now. `cluster` has the SHAPES of here."""

    def __init__(self, cluster: KubernetesCluster) -> None:
        self.nodes: dict[str, NodeNow] = {}
        self.pods: dict[tuple[str, str], PodNow] = {}
        self._changed = asyncio.Event()
        self._tasks = [asyncio.create_task(self._follow(cluster, kind)) for kind in SHAPES]

    async def aclose(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def until(self, done: Callable[[], int], total: int) -> bool:
        """True when so many are `done`; False when for long there were no more of them."""
        clock = asyncio.get_running_loop().time
        most: int | None = None
        end = 0.0
        while (count := done()) < total:
            if most is None or count > most:
                most = count
                end = clock() + _STALLED_S
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(end):
                    await self._changed.wait()
            if clock() >= end:
                return False
        return True

    async def _follow(self, cluster: KubernetesCluster, kind: str) -> None:
        async for change in cluster.watch(kind):
            if not change.synced:
                self._hear(change)
                self._changed.set()

    def _hear(self, change: Change) -> None:
        place: Any = self.nodes if change.kind == "Node.v1" else self.pods
        key = change.name if change.kind == "Node.v1" else (change.namespace, change.name)
        if change.gone:
            place.pop(key, None)
            return
        found = msgspec.convert(change.manifest, _Object)
        place[key] = _node(found) if change.kind == "Node.v1" else _pod(found)


def _node(found: _Object) -> NodeNow:
    ready = any(one.type == "Ready" and one.status == "True" for one in found.status.conditions or ())
    return NodeNow(ready, frozenset(taint["key"] for taint in found.spec.taints or ()))


def _pod(found: _Object) -> PodNow:
    against = [
        one
        for one in found.status.conditions or ()
        if one.type == "PodScheduled" and one.status == "False" and one.reason != "SchedulingGated"
    ]
    refused = against[0].message or "refused" if against else ""
    labels = found.metadata.labels or {}
    return PodNow(found.spec.node_name, found.status.phase, refused, labels.get(ROUND, ""), labels.get(PLACE, ""))
