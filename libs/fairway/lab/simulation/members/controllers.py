"""What controllers do in a member cluster: objects get pods, pods get nodes, gangs run and end, deletions take time.

It keeps the promises of the cluster port that `MemoryCluster` keeps, and adds what agents see.
"""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any

from msgspec import Struct

from fairway.adapters.memory.cluster import Key, MemoryCluster
from fairway.lab.simulation.members import field_managers, pods
from fairway.lab.simulation.members.pods import GPU, NODE, POD
from fairway.runtime.cluster_port import Applied, ClusterRefused
from fairway.runtime.ports import Clock
from fairway.workloads.member_copy import ATTEMPT_LABEL, JOB_LABEL

Json = dict[str, Any]


class Fate(Struct, frozen=True):
    """What becomes of one attempt: seconds until its pods are up once they are bound, and from then to its end. `end`:
    succeeded, failed, stuck (its pods are never bound) or vanished."""

    up_s: float = 1.0
    run_s: float = 10.0
    end: str = "succeeded"


class MemberEvents(Struct):
    """Whom a member tells: of a gang that runs, of one that ended (well or not), of an object that is gone with its
    pods, and of one that is asked to go."""

    started: Callable[[str, str, int], None]
    ended: Callable[[str, str, int, bool], None]
    gone: Callable[[str, str, int], None]
    deleted: Callable[[str, str, int], None]


class Controlled(MemoryCluster):
    """`nodes` by name with their GPUs; `fate` is asked once for each attempt."""

    def __init__(self, name: str, clock: Clock, nodes: dict[str, int], rng: Random, heard: MemberEvents) -> None:
        super().__init__(name, clock, pods.KINDS)
        self._rng, self._heard = rng, heard
        self.fate: Callable[[str, int], Fate] = lambda job, attempt: Fate()
        self.lost = 0
        self._whose: dict[str, tuple[str, int]] = {}
        self._changed = asyncio.Event()
        for node, gpus in nodes.items():
            self.objects[NODE, "", node] = pods.node(node, gpus)

    # What is asked of it.

    async def apply(self, kind: str, manifest: Json, level: str = "") -> Applied:
        meta = manifest["metadata"]
        found = self.objects.get((kind, meta.get("namespace") or "default", meta["name"]))
        if found is not None and "deletionTimestamp" in found["metadata"] and not self.away:
            raise ClusterRefused("StaleObject", f"{meta['name']} is on its way out")
        return await super().apply(kind, field_managers.applied(manifest), level)

    def _create(self, key: Key, manifest: Json) -> None:
        super()._create(key, manifest)
        self._whose[self.objects[key]["metadata"]["uid"]] = attempt_of(manifest)

    def whose(self, manifest: Json) -> tuple[str, int]:
        """The job and the attempt that it was applied for, whatever became of its labels."""
        return self.made_for(manifest["metadata"].get("uid", ""))

    def made_for(self, uid: str) -> tuple[str, int]:
        return self._whose.get(uid, ("", 0))

    async def delete(self, kind: str, namespace: str, name: str, labels: dict[str, str], wait_s: float) -> bool:
        self._reached()
        key = (kind, namespace, name)
        found = self.objects.get(key)
        marks = (found or {}).get("metadata", {}).get("labels") or {}
        if found is None or any(marks.get(label) != value for label, value in labels.items()):
            return True
        if "deletionTimestamp" not in found["metadata"]:
            self._doom(key, found)
        try:
            async with asyncio.timeout(wait_s):
                await self._until(lambda: not self._there(key, found["metadata"]["uid"]))
        except TimeoutError:
            return False
        return True

    def _doom(self, key: Key, found: Json) -> None:
        """It goes when its pods have gone, which takes them some time."""
        self._heard.deleted(self.name, *self.whose(found))
        self.objects[key] = {**found, "metadata": {**found["metadata"], "deletionTimestamp": "now"}}
        self._tell(key, self.objects[key])
        seconds = self._rng.choice((0.0, 0.2, 2.0, 12.0, 60.0))
        self._acting[f"doom {found['metadata']['uid']}"] = asyncio.create_task(self._vanish(key, found, seconds))

    async def _vanish(self, key: Key, found: Json, seconds: float) -> None:
        await asyncio.sleep(seconds)
        # A kubelet that is not heard of does not stop its pods either.
        await self._until(lambda: not self._unheard(found["metadata"]["uid"]))
        if self._there(key, found["metadata"]["uid"]):
            self.remove(key)

    def _unheard(self, uid: str) -> bool:
        own = {one["spec"].get("nodeName") for key, one in self.objects.items() if key[0] == POD and _owner(one) == uid}
        return any(node and not self._ready(node) for node in own)

    def _ready(self, node: str) -> bool:
        return bool(self.objects[NODE, "", node]["status"]["conditions"][0]["status"] == "True")

    def remove(self, key: Key) -> None:
        """The object and its pods are gone: by a deletion, or by somebody's hand."""
        found = self.objects[key]
        for name in self._pods_of(found["metadata"]["uid"]):
            self._remove((POD, key[1], name))
        self._remove(key)
        self._heard.gone(self.name, *self.whose(found))
        self._bind()

    # What its controllers do.

    async def _act(self, key: Key, uid: str, manifest: Json) -> None:
        """The operator of one object."""
        if key[0] not in pods.KINDS:
            return
        job, attempt = attempt_of(manifest)
        fate = self.fate(job, attempt)
        while self._there(key, uid):
            self._make_pods(key, uid, manifest, fate)
            await self._until(lambda: not self._there(key, uid) or self._bound(uid, manifest, key[0]))
            await asyncio.sleep(fate.up_s)
            if not self._bound(uid, manifest, key[0]):
                continue
            if not self._there(key, uid):
                return
            self._show_pods(key[1], uid, "Running")
            self.show(key, pods.running(key[0], manifest))
            self._heard.started(self.name, job, attempt)
            try:
                async with asyncio.timeout(fate.run_s):
                    await self._until(lambda: not self._bound(uid, manifest, key[0]))
            except TimeoutError:
                self._end(key, uid, fate)
                return
            if self._there(key, uid):  # it lost pods with a node, and gets others
                self.show(key, pods.running(key[0], manifest, up=False))

    def _end(self, key: Key, uid: str, fate: Fate) -> None:
        if not self._there(key, uid):
            return
        if fate.end == "vanished":
            self.remove(key)
            return
        self._show_pods(key[1], uid, "Succeeded" if fate.end == "succeeded" else "Failed")
        self.show(key, pods.ended(key[0], fate.end == "succeeded"))
        self._heard.ended(self.name, *self.whose(self.objects[key]), fate.end == "succeeded")
        self._bind()

    def _there(self, key: Key, uid: str) -> bool:
        found = self.objects.get(key)
        return found is not None and found["metadata"]["uid"] == uid

    def _make_pods(self, key: Key, uid: str, manifest: Json, fate: Fate) -> None:
        there = set(self._pods_of(uid))
        for one in pods.wanted(key[0], manifest):
            for index in range(one.count):
                name = f"{key[2]}-{one.role}-{index}-{uid}"
                if name not in there:
                    made = pods.pod(key[1], name, one, uid)
                    made["spec"]["stuck"] = fate.end == "stuck"
                    self._put((POD, key[1], name), made)
        self._bind()

    def _pods_of(self, uid: str) -> list[str]:
        return [key[2] for key, one in self.objects.items() if key[0] == POD and _owner(one) == uid]

    def _bound(self, uid: str, manifest: Json, kind: str) -> bool:
        count = sum(one.count for one in pods.wanted(kind, manifest))
        own = [one for key, one in self.objects.items() if key[0] == POD and _owner(one) == uid]
        return len(own) == count and all(one["spec"].get("nodeName") for one in own)

    def _show_pods(self, namespace: str, uid: str, phase: str) -> None:
        for name in self._pods_of(uid):
            key = (POD, namespace, name)
            self._put(key, {**self.objects[key], "status": {"phase": phase}})

    def _bind(self) -> None:
        """The scheduler: each pod by itself onto some node with room, in the order of their making."""
        free = self.free()
        for key, one in list(self.objects.items()):
            if key[0] != POD or one["spec"].get("nodeName") or one["spec"].get("stuck"):
                continue
            asks = _gpus(one)
            fits = sorted(node for node, gpus in free.items() if gpus >= asks)
            if fits:
                node = min(fits, key=lambda name: (free[name], name))
                free[node] -= asks
                self._put(key, {**one, "spec": {**one["spec"], "nodeName": node}})

    def free(self) -> dict[str, int]:
        """GPUs by node that is ready."""
        free = {
            key[2]: int(one["status"]["allocatable"][GPU])
            for key, one in self.objects.items()
            if key[0] == NODE and self._ready(key[2])
        }
        for key, one in self.objects.items():
            node = one["spec"].get("nodeName") if key[0] == POD else None
            if node in free and one["status"]["phase"] not in ("Succeeded", "Failed"):
                free[node] -= _gpus(one)
        return free

    # Change and waiting.

    def _put(self, key: Key, manifest: Json) -> None:
        self.objects[key] = manifest
        self._tell(key, manifest)

    def _tell(self, key: Key, manifest: Json, gone: bool = False) -> None:
        super()._tell(key, manifest, gone)
        self._changed.set()
        self._changed = asyncio.Event()

    async def _until(self, true: Callable[[], bool]) -> None:
        while not true():
            await self._changed.wait()


def attempt_of(manifest: Json) -> tuple[str, int]:
    labels = manifest["metadata"].get("labels") or {}
    return str(labels.get(JOB_LABEL, "")), int(labels.get(ATTEMPT_LABEL) or 0)


def _owner(manifest: Json) -> str:
    owners = manifest["metadata"].get("ownerReferences") or [{"uid": ""}]
    return str(owners[0]["uid"])


def _gpus(pod: Json) -> int:
    return int(pod["spec"]["containers"][0]["resources"]["limits"][GPU])
