"""The scheduler of a simulated cluster: pods to nodes, oldest first, gangs all or nothing.

Works when something changed, never on a timer.
"""

import asyncio
from collections import Counter

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.api.store import Event, Key, ObjectStore, StoredObject
from fairway.lab.kubesim.fit import Space, Want, obstacle, space_of, want_of

_ENDED = ("Succeeded", "Failed")


class Scheduler:
    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._spaces: dict[str, Space] = {}
        self._pending: dict[Key, Want] = {}
        self._bound: dict[Key, tuple[str, Want]] = {}
        self._kicked = False
        store.listen("nodes", self._node_changed)
        store.listen("pods", self._pod_changed)

    def _node_changed(self, event: Event) -> None:
        name = event.new.key.name
        if event.type == "DELETED":
            self._spaces.pop(name, None)
            return
        space = space_of(event.new.obj)
        for node, want in self._bound.values():
            if node == name:
                _take(space, want, 1)
        self._spaces[name] = space
        self._kick()

    def _pod_changed(self, event: Event) -> None:
        key = event.new.key
        obj = event.new.obj
        if event.type == "DELETED" or obj["status"].get("phase") in _ENDED:
            self._pending.pop(key, None)
            self._release(key)
        elif obj["spec"].get("nodeName"):
            self._pending.pop(key, None)
            if key not in self._bound:
                self._occupy(key, obj["spec"]["nodeName"], want_of(obj))
        elif obj["metadata"].get("deletionTimestamp") or obj["spec"].get("schedulingGates"):
            self._pending.pop(key, None)
        elif key not in self._pending:
            self._pending[key] = want_of(obj)
            self._kick()

    def _occupy(self, key: Key, node: str, want: Want) -> None:
        self._bound[key] = (node, want)
        if node in self._spaces:
            _take(self._spaces[node], want, 1)

    def _release(self, key: Key) -> None:
        node, want = self._bound.pop(key, ("", None))
        if want:
            if node in self._spaces:
                _take(self._spaces[node], want, -1)
            self._kick()

    def _kick(self) -> None:
        if not self._kicked and self._pending:
            self._kicked = True
            asyncio.get_running_loop().call_soon(self._pass)

    def _pass(self) -> None:
        """Every pending pod once. A shape that did not fit is not tried again: room only shrinks in a
        pass."""
        self._kicked = False
        refused: dict[bytes, str] = {}
        gangs: dict[tuple[str, str], list[Key]] = {}
        for key, want in self._pending.items():
            gangs.setdefault((key.namespace, want.gang or f"/{key.name}"), []).append(key)
        for keys in gangs.values():
            want = self._pending[keys[0]]
            if want.gang:
                self._place_gang(keys, refused)
            else:
                self._place_one(keys[0], want, refused)

    def _place_one(self, key: Key, want: Want, refused: dict[bytes, str]) -> None:
        why = refused.get(want.shape)
        space = None if why else self._room(want)
        if space:
            self._bind(key, want, space.name)
            return
        if not why:
            why = refused[want.shape] = self._explain(want)
        self._say_unschedulable(key, why)

    def _place_gang(self, keys: list[Key], refused: dict[bytes, str]) -> None:
        """Binds what fits when, with those already bound, it reaches the gang's minimum."""
        wants = [self._pending[key] for key in keys]
        least = max(want.gang_min for want in wants)
        there = sum(
            1
            for key, (_, want) in self._bound.items()
            if want.gang == wants[0].gang and key.namespace == keys[0].namespace
        )
        chosen: list[tuple[Key, Want, Space]] = []
        for key, want in zip(keys, wants, strict=True):
            space = None if want.shape in refused else self._room(want)
            if space:
                _take(space, want, 1)
                chosen.append((key, want, space))
        for _, want, space in chosen:
            _take(space, want, -1)
        if there + len(chosen) >= least:
            for key, want, space in chosen:
                self._bind(key, want, space.name)
        for key in keys:
            if key in self._pending:
                text = f"{there + len(chosen)}/{least} pods of the gang fit: {self._explain(self._pending[key])}"
                self._say_unschedulable(key, text)

    def _room(self, want: Want) -> Space | None:
        for space in self._spaces.values():
            if not obstacle(want, space):
                return space
        return None

    def _explain(self, want: Want) -> str:
        counted = Counter(obstacle(want, space) for space in self._spaces.values())
        listed = ", ".join(f"{count} {why}" for why, count in sorted(counted.items()) if why)
        free = counted.get("", 0)
        return f"{free}/{len(self._spaces)} nodes are available: {listed}."

    def _bind(self, key: Key, want: Want, node: str) -> None:
        stored = self._store.get(key)
        if stored:
            self._pending.pop(key, None)
            self._occupy(key, node, want)
            condition = {"type": "PodScheduled", "status": "True"}
            self._put(stored, {**stored.obj["spec"], "nodeName": node}, condition)

    def _say_unschedulable(self, key: Key, why: str) -> None:
        stored = self._store.get(key)
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why}
        if stored and condition not in stored.obj["status"].get("conditions", ()):
            self._put(stored, stored.obj["spec"], condition)

    def _put(self, stored: StoredObject, spec: Json, condition: Json) -> None:
        others = [one for one in stored.obj["status"].get("conditions", ()) if one["type"] != "PodScheduled"]
        status = {**stored.obj["status"], "conditions": [*others, condition]}
        obj = {**stored.obj, "metadata": dict(stored.obj["metadata"]), "spec": spec, "status": status}
        self._store.put(stored.key, obj)


def _take(space: Space, want: Want, times: int) -> None:
    for name, amount in want.requests.items():
        space.free[name] = space.free.get(name, 0) - amount * times
