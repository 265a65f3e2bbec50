"""A cluster in memory: the same promises as a Kubernetes API, and objects that act out what they are told to.

What becomes of an object is scripted: `play` gives, for a manifest as it is applied, the statuses to show and when.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from fairway.adapters.adoption import check_ours
from fairway.domain.tenancy import member_namespace
from fairway.lab.kubesim.api.json_patch import json_patch
from fairway.runtime.cluster_port import Applied, Change, ClusterRefused, check_labels
from fairway.runtime.ports import Clock, Unreachable
from fairway.wire.reasons import Code
from fairway.workloads.member_copy import ATTEMPT_LABEL, JOB_LABEL
from tests.support.memory.manifests import by_fairway, carries, selected

Json = dict[str, Any]
Key = tuple[str, str, str]  # kind, namespace, name
_NAMESPACE = "Namespace.v1"


class Scene(Struct, frozen=True):
    """`after_ms` the one before (or the object was applied), `status` is shown; None: the object vanishes."""

    after_ms: int
    status: Json | None = None


Play = Callable[[Json], Sequence[Scene]]
# Of a kind and a review: the status that the API answers.
Review = Callable[[str, Json], Json]


class MemoryCluster:
    """`away`: nothing is answered. `lost_answers` is how many of the next calls take effect without saying so.
    `refuses` maps an object's name to the code that refuses it. `slow_s` is how long pods take to go. `namespaces` are
    those that jobs were applied in, or that were there before, with their labels. `reviews` says whose a token is and
    who may do what (identities.py has some); without it nobody is known."""

    def __init__(self, name: str, clock: Clock, kinds: Sequence[str], play: Play = lambda manifest: ()) -> None:
        self.name = name
        self._clock = clock
        self._kinds = tuple(kinds)
        self._play = play
        self.away = False
        self.lost_answers = 0
        self.refuses = dict[str, str]()
        self.slow_s = 0.0
        self.reviews: Review = lambda kind, body: {}
        self.objects: dict[Key, Json] = {}
        self.namespaces: dict[str, dict[str, str]] = {}
        self.applied: list[str] = []
        self._uids = 0
        self._acting: dict[str, asyncio.Task[None]] = {}
        self._watches: list[tuple[str, str, asyncio.Queue[Change]]] = []

    async def apply(self, kind: str, manifest: Json, level: str = "") -> Applied:
        self._reached()
        meta = manifest["metadata"]
        key = (kind, meta.get("namespace") or "default", meta["name"])
        if meta["name"] in self.refuses:
            raise ClusterRefused(self.refuses[meta["name"]], f"{self.name} does not take {meta['name']}")
        self._served(kind)
        self._take_namespace(key[1], level)
        found = self.objects.get(key)
        if found is not None:
            check_ours(meta["name"], found, manifest)
        else:
            self._create(key, by_fairway(manifest))
        self._answered()
        return Applied(self.objects[key]["metadata"]["uid"], adopted=found is not None)

    def _take_namespace(self, namespace: str, level: str) -> None:
        labels = self.namespaces.get(namespace)
        if refused := member_namespace.refusal(self.name, namespace, labels):
            raise ClusterRefused(*refused)
        if labels is None:
            self.namespaces[namespace] = member_namespace.made(namespace, level)
        elif member_namespace.above(level, labels):
            self.namespaces[namespace] = member_namespace.raised(labels, level)

    async def create(self, kind: str, manifest: Json) -> None:
        self._reached()
        self._served(kind)
        self._create((kind, manifest["metadata"].get("namespace") or "default", manifest["metadata"]["name"]), manifest)

    async def review(self, kind: str, body: Json) -> Json:
        self._reached()
        return {**body, "status": self.reviews(kind, body)}

    async def drop(self, kind: str, namespace: str, name: str) -> None:
        self._reached()
        if (kind, namespace, name) in self.objects:
            self._remove((kind, namespace, name))

    def _create(self, key: Key, manifest: Json) -> None:
        if key in self.objects:
            raise ClusterRefused("AlreadyExists", f"{key[0]} {key[1]}/{key[2]} already exists")
        copy: Json = msgspec.json.decode(msgspec.json.encode(manifest))
        self._uids += 1
        copy["metadata"]["uid"] = f"{self.name}-{self._uids}"
        self.objects[key] = copy
        labels = copy["metadata"].get("labels") or {}
        self.applied.append(f"{labels.get(JOB_LABEL)}/{labels.get(ATTEMPT_LABEL)}")
        self._tell(key, copy)
        self._acting[copy["metadata"]["uid"]] = asyncio.create_task(self._act(key, copy["metadata"]["uid"], copy))

    async def _act(self, key: Key, uid: str, manifest: Json) -> None:
        for scene in self._play(manifest):
            await self._clock.sleep(scene.after_ms / 1000)
            found = self.objects.get(key)
            if found is None or found["metadata"]["uid"] != uid:
                return
            if scene.status is None:
                self._remove(key)
            else:
                self.show(key, scene.status)

    def show(self, key: Key, status: Json) -> None:
        """The object's operator says this from now on."""
        self.objects[key] = {**self.objects[key], "status": status}
        self._tell(key, self.objects[key])

    def _remove(self, key: Key) -> None:
        self._tell(key, self.objects.pop(key), gone=True)

    async def delete(self, kind: str, namespace: str, name: str, labels: dict[str, str], wait_s: float) -> bool:
        check_labels(labels)
        self._reached()
        key = (kind, namespace, name)
        found = self.objects.get(key)
        if found is None or not carries(found, labels):
            return True
        if self.slow_s > wait_s:
            self.slow_s -= wait_s
            await self._clock.sleep(wait_s)
            return False
        await self._clock.sleep(self.slow_s)
        if self.objects.get(key) is found:
            self._remove(key)
        self._answered()
        return True

    async def watch(self, kind: str, selector: str = "", namespace: str = "") -> AsyncGenerator[Change, None]:
        line: asyncio.Queue[Change] = asyncio.Queue()
        for (what, where, name), manifest in list(self.objects.items()):
            if what == kind and selected(manifest, selector) and namespace in ("", where):
                line.put_nowait(Change(kind, where, name, manifest))
        line.put_nowait(Change(kind, synced=True))
        mine = (kind, selector, line)
        self._watches.append(mine)
        try:
            while True:
                change = await line.get()
                if namespace in ("", change.namespace):
                    yield change
        finally:
            self._watches.remove(mine)

    def _tell(self, key: Key, manifest: Json, gone: bool = False) -> None:
        for kind, selector, line in self._watches:
            if kind == key[0] and selected(manifest, selector):
                line.put_nowait(Change(*key, manifest, gone=gone))

    async def get(self, kind: str, namespace: str, name: str) -> Json | None:
        self._reached()
        if kind == _NAMESPACE and name in self.namespaces:
            return {"metadata": {"name": name, "labels": self.namespaces[name]}}
        return self.objects.get((kind, namespace, name))

    async def patch(
        self, kind: str, namespace: str, name: str, body: Json | list[Json], subresource: str = ""
    ) -> Json | None:
        """What Fairway itself patches: the status, labels, annotations, or the spec of an object whose uid is known."""
        self._reached()
        found = self.objects.get((kind, namespace, name))
        if found is None:
            return None
        if isinstance(body, list) and all("/status" not in step["path"] for step in body):
            return self._patched((kind, namespace, name), found, body)
        values = {step["path"]: step["value"] for step in body} if isinstance(body, list) else {}
        meta: Json = body["metadata"] if isinstance(body, dict) else {"uid": values.get("/metadata/uid")}
        if meta.get("uid") != found["metadata"]["uid"]:
            raise ClusterRefused("Invalid", f"{namespace}/{name} is another object by now")
        key = (kind, namespace, name)
        if part := next((one for one in ("labels", "annotations") if one in meta), ""):
            marks = {**(found["metadata"].get(part) or {}), **meta[part]}
            self.objects[key] = {**found, "metadata": {**found["metadata"], part: marks}}
            self._tell(key, self.objects[key])
        else:
            self.show(key, values["/status"])
        return self.objects[key]

    def _patched(self, key: Key, found: Json, steps: list[Json]) -> Json:
        if key[2] in self.refuses:
            raise ClusterRefused(self.refuses[key[2]], f"{self.name} does not change {key[2]}")
        self.objects[key] = json_patch(msgspec.json.decode(msgspec.json.encode(found)), steps)
        self._tell(key, self.objects[key])
        return self.objects[key]

    async def discard(self, kind: str, namespace: str, labels: dict[str, str], name: str = "") -> None:
        self._reached()
        for key, found in list(self.objects.items()):
            if key[:2] == (kind, namespace) and name in ("", key[2]) and carries(found, labels):
                self._remove(key)

    async def mark_pods(self, namespace: str, labels: dict[str, str], notes: dict[str, str]) -> None:
        """Objects have no pods here."""
        self._reached()

    async def shorten(self, namespace: str, labels: dict[str, str], grace_s: int) -> None:
        self._reached()
        self.slow_s = min(self.slow_s, grace_s)

    async def served(self) -> tuple[str, ...]:
        self._reached()
        return self._kinds

    async def close(self) -> None:
        for task in self._acting.values():
            task.cancel()

    def _served(self, kind: str) -> None:
        """The core API is served everywhere: config maps, events."""
        if kind not in self._kinds and "/" in kind:
            raise ClusterRefused(Code.KIND_NOT_SERVED, f"{kind} is not served here; install its operator (CRDs) first")

    def _reached(self) -> None:
        if self.away:
            raise Unreachable(f"{self.name} does not answer")

    def _answered(self) -> None:
        if self.lost_answers > 0:
            self.lost_answers -= 1
            raise Unreachable(f"{self.name} took the call and its answer was lost")
