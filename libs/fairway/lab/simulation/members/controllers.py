"""What controllers do in a member cluster: objects get pods, pods get nodes, gangs run and end, deletions take time.

They look at the API of a simulated cluster and write to it, as kubesim's own do, in the time of the simulation.
"""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any

from msgspec import Struct

from fairway.domain.resources import Resources, add
from fairway.lab.kubesim.api.api import ClusterApi
from fairway.lab.kubesim.api.builtin import EVERYTHING
from fairway.lab.kubesim.api.metadata import Deletion, SimClock, Uids
from fairway.lab.kubesim.api.registry import Registry
from fairway.lab.kubesim.api.store import Event, ObjectStore, StoredObject, owners
from fairway.lab.kubesim.cluster_port import KubesimCluster
from fairway.lab.simulation.members import pods
from fairway.lab.simulation.members.pods import GPU, NODE, POD
from fairway.workloads.member_copy import ATTEMPT_LABEL, JOB_LABEL

Json = dict[str, Any]
AT_ONCE = Deletion(grace=0)


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


class Controlled(KubesimCluster):
    """`nodes` by name with their GPUs; `fate` is asked once for each attempt. An object that is asked to go is kept
    until its pods have gone, which are not told of that one by one: it changes once, and then all of it is gone."""

    deletion = Deletion()

    def __init__(self, name: str, clock: SimClock, nodes: dict[str, int], rng: Random, heard: MemberEvents) -> None:
        api = ClusterApi(ObjectStore(history=0), Registry(EVERYTHING), clock, Uids(f"simulation/{name}"))
        super().__init__(name, api, pods.KINDS)
        self._rng = rng
        self._heard = heard
        self.fate: Callable[[str, int], Fate] = lambda job, attempt: Fate()
        self.lost = 0
        self.away_since: list[tuple[int, int]] = []
        self._whose: dict[str, tuple[str, int]] = {}
        self._acting: dict[str, asyncio.Task[None]] = {}
        self._run = {self.resource(kind).storage for kind in pods.RUN}
        for node, gpus in nodes.items():
            self.put(NODE, pods.node(node, gpus))
        api.store.listen("", self._seen)

    @property
    def kinds(self) -> tuple[str, ...]:
        return self._kinds

    def serve(self, kinds: tuple[str, ...]) -> None:
        """Workflows come from a hub alone, SparkApplications where there are idle resources."""
        self._kinds = kinds

    def _seen(self, event: Event) -> None:
        """Operators look at objects that appear, and that are asked to go. One that has a status from the beginning
        has had its operator elsewhere."""
        made = event.new
        if made.key.storage not in self._run:
            return
        metadata = made.obj["metadata"]
        if event.type == "ADDED":
            self.api.graceful.add(made.key)
            if "status" not in made.obj:
                self._whose[metadata["uid"]] = attempt_of(made.obj)
                self._acting[metadata["uid"]] = asyncio.create_task(self._act(made))
        elif event.type == "MODIFIED" and event.old and _leaves(made) and not _leaves(event.old):
            self._doom(made)

    def whose(self, found: StoredObject) -> tuple[str, int]:
        """The job and the attempt that it was applied for, whatever became of its labels."""
        return self.made_for(found.obj["metadata"]["uid"])

    def made_for(self, uid: str) -> tuple[str, int]:
        return self._whose.get(uid, ("", 0))

    def _doom(self, found: StoredObject) -> None:
        """It goes when its pods have gone, which takes them some time."""
        self._heard.deleted(self.name, *self.whose(found))
        seconds = self._rng.choice((0.0, 0.2, 2.0, 12.0, 60.0))
        self._acting[f"doom {found.obj['metadata']['uid']}"] = asyncio.create_task(self._vanish(found, seconds))

    async def _vanish(self, found: StoredObject, seconds: float) -> None:
        await asyncio.sleep(seconds)
        # A kubelet that is not heard of does not stop its pods either.
        await self.until(lambda: not self._unheard(found))
        if self.there(found):
            self.remove(found)

    def _unheard(self, found: StoredObject) -> bool:
        own = {one.obj["spec"].get("nodeName") for one in self._pods_of(found)}
        ready = {one.key.name for one in self.every(NODE) if _ready(one)}
        return any(node and node not in ready for node in own)

    def remove(self, found: StoredObject) -> None:
        """The object and its pods are gone: by a deletion, or by somebody's hand."""
        for one in self._pods_of(found):
            self._delete(one, AT_ONCE)
        self._delete(found, AT_ONCE)
        self._heard.gone(self.name, *self.whose(found))
        self._bind()

    async def _act(self, made: StoredObject) -> None:
        """The operator of one object."""
        job, attempt = attempt_of(made.obj)
        fate = self.fate(job, attempt)
        kind = kind_of(made)
        while self.there(made):
            self._make_pods(made, fate)
            await self.until(lambda: not self.there(made) or self._bound(made))
            await asyncio.sleep(fate.up_s)
            if not self._bound(made):
                continue
            if not self.there(made):
                return
            self._show_pods(made, "Running")
            self._show(made, pods.running(kind, made.obj))
            self._heard.started(self.name, job, attempt)
            try:
                async with asyncio.timeout(fate.run_s):
                    await self.until(lambda: not self._bound(made))
            except TimeoutError:
                self._end(made, fate)
                return
            if self.there(made):  # it lost pods with a node, and gets others
                self._show(made, pods.running(kind, made.obj, up=False))

    def _end(self, made: StoredObject, fate: Fate) -> None:
        if not self.there(made):
            return
        if fate.end == "vanished":
            self.remove(made)
            return
        well = fate.end == "succeeded"
        self._show_pods(made, "Succeeded" if well else "Failed")
        self._show(made, pods.ended(kind_of(made), well, self.api.clock.now()))
        self._heard.ended(self.name, *self.whose(made), well)
        self._bind()

    def _make_pods(self, made: StoredObject, fate: Fate) -> None:
        there = {one.key.name for one in self._pods_of(made)}
        for one in pods.wanted(kind_of(made), made.obj):
            for index in range(one.count):
                name = f"{made.key.name}-{one.role}-{index}-{made.obj['metadata']['uid']}"
                if name not in there:
                    pod = pods.pod(made.key.namespace, name, one, made.obj)
                    pod["spec"]["stuck"] = fate.end == "stuck"
                    self.put(POD, pod)
        self._bind()

    def _pods_of(self, owner: StoredObject) -> list[StoredObject]:
        uid = owner.obj["metadata"]["uid"]
        return [one for one in self.every(POD) if uid in owners(one.obj)]

    def _bound(self, made: StoredObject) -> bool:
        count = sum(one.count for one in pods.wanted(kind_of(made), made.obj))
        own = self._pods_of(made)
        return len(own) == count and all(one.obj["spec"].get("nodeName") for one in own)

    def _show_pods(self, made: StoredObject, phase: str) -> None:
        for one in self._pods_of(made):
            self._rewrite(one, status={"phase": phase})

    def _show(self, made: StoredObject, status: Json) -> None:
        resource = self.resource(kind_of(made))
        now = self.api.get(resource, made.key.namespace, made.key.name)
        self._update(resource, now, {**now.obj, "status": status}, "status" if resource.status else "")

    def _bind(self) -> None:
        """The scheduler: each pod by itself onto some node with room, in the order of their making."""
        free = self.free()
        for one in self.every(POD):
            spec = one.obj["spec"]
            if spec.get("nodeName") or spec.get("stuck"):
                continue
            asks = pods.asked(one.obj)
            there = sorted(node for node, left in free.items() if pods.fits(asks, left))
            if there:
                node = min(there, key=lambda name: (free[name][GPU], name))
                free[node] = add(free[node], asks, -1)
                self._rewrite(one, spec={**spec, "nodeName": node})

    def free(self) -> dict[str, Resources]:
        """What is left of each node that is ready."""
        free = {one.key.name: pods.allocatable(one.obj) for one in self.every(NODE) if _ready(one)}
        for one in self.every(POD):
            node = one.obj["spec"].get("nodeName")
            if node in free and one.obj["status"]["phase"] not in ("Succeeded", "Failed"):
                free[node] = add(free[node], pods.asked(one.obj), -1)
        return free

    def put(self, kind: str, manifest: Json) -> StoredObject:
        """Somebody else than Fairway makes an object, with its status."""
        made = self.api.create(self.resource(kind), manifest["metadata"].get("namespace", ""), manifest, dry=True)
        status = {"status": manifest["status"]} if "status" in manifest else {}
        return self.api.store.put(made.key, {**made.obj, **status})

    def _rewrite(self, found: StoredObject, **parts: Json) -> None:
        """As kubelets and the scheduler write, who may say twice what is there already."""
        self.api.store.put(found.key, {**found.obj, "metadata": dict(found.obj["metadata"]), **parts})


def kind_of(found: StoredObject) -> str:
    return f"{found.obj['kind']}.{found.obj['apiVersion']}"


def attempt_of(manifest: Json) -> tuple[str, int]:
    labels = manifest["metadata"].get("labels") or {}
    return str(labels.get(JOB_LABEL, "")), int(labels.get(ATTEMPT_LABEL) or 0)


def _leaves(found: StoredObject) -> bool:
    return "deletionTimestamp" in found.obj["metadata"]


def _ready(node: StoredObject) -> bool:
    return bool(node.obj["status"]["conditions"][0]["status"] == "True")
