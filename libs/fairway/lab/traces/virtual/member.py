"""A member cluster in memory that runs what it is given for as long as its manifest says, and does nothing else.

Pods go to the nodes that Fairway planned, as they do where room is held in the member: what a kube-scheduler would do
otherwise is no part of what a trace measures. An object and its pods are gone when they have ended.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from typing import Any

from fairway.adapters.adoption import check_ours
from fairway.lab.kubesim.__main__ import ClusterConfig
from fairway.lab.kubesim.pod_behaviour import RUN_FOR, milliseconds
from fairway.lab.simulation.members import pods
from fairway.lab.simulation.members.controllers import attempt_of
from fairway.runtime.cluster_port import Applied, Change, ClusterRefused
from fairway.wire.capacity import Slot

Json = dict[str, Any]
_Place = tuple[str, str, str]
# An object shows that it runs this long after it was applied: by then its dispatch is in the record (s).
SHOWN_S = 0.000_001


class TraceMember:
    """Implements `Cluster`. `planned` says where the pods of an attempt go."""

    def __init__(self, config: ClusterConfig, planned: Callable[[str, int], Sequence[Slot]]) -> None:
        self.name = config.name
        self._planned = planned
        self._nodes = {node["metadata"]["name"]: node for group in config.nodes for node in group.nodes()}
        self._objects: dict[_Place, Json] = {}
        self._pods: dict[_Place, dict[str, Json]] = {}
        self._watches: dict[str, list[asyncio.Queue[Change]]] = {}
        self._made = 0

    async def apply(self, kind: str, manifest: Json, level: str = "") -> Applied:
        place = (kind, manifest["metadata"]["namespace"], manifest["metadata"]["name"])
        if found := self._objects.get(place):
            check_ours(f"{kind} {place[1]}/{place[2]}", found, manifest)
            return Applied(found["metadata"]["uid"], adopted=True)
        self._made += 1
        uid = f"{self.name}-{self._made}"
        made = {**manifest, "metadata": {**manifest["metadata"], "uid": uid, "resourceVersion": str(self._made)}}
        self._objects[place] = made
        self._pods[place] = self._bound(made)
        for name, pod in self._pods[place].items():
            self._tell(Change(pods.POD, place[1], name, pod))
        asyncio.get_running_loop().call_later(SHOWN_S, self._begin, place, uid)
        return Applied(uid)

    def _bound(self, made: Json) -> dict[str, Json]:
        """The pods of an object, each on its node."""
        template = _template(made)
        meta = {"namespace": made["metadata"]["namespace"], "labels": template["metadata"]["labels"]}
        found = {}
        nodes = [slot.node for slot in self._planned(*attempt_of(made)) for _ in range(slot.count)]
        for index, node in enumerate(nodes):
            name = f"{made['metadata']['name']}-{index}"
            spec = {**template["spec"], "nodeName": node}
            found[name] = {"metadata": {**meta, "name": name}, "spec": spec, "status": {"phase": "Running"}}
        return found

    def _begin(self, place: _Place, uid: str) -> None:
        made = self._objects.get(place)
        if made is None or made["metadata"]["uid"] != uid:
            return
        kind = place[0]
        seconds = (milliseconds(made["metadata"]["annotations"][RUN_FOR]) or 0) / 1000
        self._show(place, pods.running(kind, made))
        asyncio.get_running_loop().call_later(seconds, self._end, place, uid)

    def _end(self, place: _Place, uid: str) -> None:
        made = self._objects.get(place)
        if made is None or made["metadata"]["uid"] != uid:
            return
        self._release(place)
        self._show(place, pods.ended(place[0], True, 0))
        asyncio.get_running_loop().call_later(SHOWN_S, self._remove, place, uid)

    def _show(self, place: _Place, status: Json) -> None:
        made = self._objects[place] = {**self._objects[place], "status": status}
        self._tell(Change(*place, made))

    def _release(self, place: _Place) -> None:
        for name, pod in self._pods.pop(place, {}).items():
            self._tell(Change(pods.POD, place[1], name, pod, gone=True))

    def _remove(self, place: _Place, uid: str) -> None:
        made = self._objects.get(place)
        if made is not None and made["metadata"]["uid"] == uid:
            self._release(place)
            del self._objects[place]
            self._tell(Change(*place, made, gone=True))

    def _tell(self, change: Change) -> None:
        for line in self._watches.get(change.kind, ()):
            line.put_nowait(change)

    async def watch(self, kind: str, selector: str = "", namespace: str = "") -> AsyncGenerator[Change, None]:
        """Nothing here is anybody else's, so that every selector of Fairway's finds all."""
        line: asyncio.Queue[Change] = asyncio.Queue()
        for change in self._every(kind):
            line.put_nowait(change)
        line.put_nowait(Change(kind, synced=True))
        self._watches.setdefault(kind, []).append(line)
        while True:
            yield await line.get()

    def _every(self, kind: str) -> Iterable[Change]:
        if kind == pods.NODE:
            return [Change(kind, "", name, node) for name, node in self._nodes.items()]
        if kind == pods.POD:
            return [Change(kind, at[1], name, pod) for at, own in self._pods.items() for name, pod in own.items()]
        return [Change(*place, made) for place, made in self._objects.items() if place[0] == kind]

    async def delete(self, kind: str, namespace: str, name: str, labels: dict[str, str], wait_s: float) -> bool:
        place = (kind, namespace, name)
        if place in self._objects and labels.items() <= self._objects[place]["metadata"]["labels"].items():
            self._remove(place, self._objects[place]["metadata"]["uid"])
        return True

    async def get(self, kind: str, namespace: str, name: str) -> Json | None:
        return self._objects.get((kind, namespace, name))

    async def served(self) -> tuple[str, ...]:
        return pods.KINDS

    async def close(self) -> None: ...

    async def patch(self, kind: str, namespace: str, name: str, body: Json | list[Json], subresource: str = "") -> Any:
        raise _never(f"patch {kind}")

    async def create(self, kind: str, manifest: Json) -> None:
        raise _never(f"create {kind}")

    async def review(self, kind: str, body: Json) -> Json:
        raise _never(f"review {kind}")

    async def discard(self, kind: str, namespace: str, labels: dict[str, str], name: str = "") -> None:
        raise _never(f"discard {kind}")

    async def mark_pods(self, namespace: str, labels: dict[str, str], notes: dict[str, str]) -> None:
        raise _never("patch pods")

    async def shorten(self, namespace: str, labels: dict[str, str], grace_s: int) -> None:
        raise _never("delete pods")

    async def drop(self, kind: str, namespace: str, name: str) -> None:
        raise _never(f"drop {kind}")


def _never(what: str) -> ClusterRefused:
    return ClusterRefused("MethodNotAllowed", f"{what}: no job of a trace needs it; use a kubesim cluster for others")


def _template(made: Json) -> Json:
    """Of its pods: the jobs of traces have one."""
    spec = made["spec"]
    template: Json = spec["template"] if "template" in spec else spec["pytorchReplicaSpecs"]["Worker"]["template"]
    return template
