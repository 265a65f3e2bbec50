"""The objects of one cluster, their versions, and who hears of changes.

An object that was put is never changed in place: readers, watchers and the history share it.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from fairway.lab.kubesim.api.errors import Json, expired

_ENCODER = msgspec.json.Encoder()

# Events kept per resource for watches that start in the past; the watch cache of a real API server keeps
# 100 and more. Large, as a replay's watcher may be slow; each entry only references objects.
HISTORY = 20_000


class Key(NamedTuple):
    storage: str
    namespace: str
    name: str


class StoredObject(msgspec.Struct):
    """One version of one object, with its bytes once somebody asked for them."""

    key: Key
    obj: Json
    version: int
    raw: bytes = b""

    def encoded(self, api_version: str = "") -> bytes:
        """JSON; another served version of the kind differs in `apiVersion` only."""
        if api_version and api_version != self.obj.get("apiVersion"):
            return _ENCODER.encode({**self.obj, "apiVersion": api_version})
        if not self.raw:
            self.raw = _ENCODER.encode(self.obj)
        return self.raw

    def copy(self) -> Json:
        """The object, free to be changed."""
        copied: Json = msgspec.json.decode(self.encoded())
        return copied


class Event(msgspec.Struct):
    type: str  # ADDED | MODIFIED | DELETED
    new: StoredObject
    old: StoredObject | None = None


Listener = Callable[[Event], None]


class ObjectStore:
    def __init__(self, history: int = HISTORY) -> None:
        self.version = 1
        self._history_limit = history
        self._objects: dict[str, dict[tuple[str, str], StoredObject]] = {}
        self._owned: dict[str, dict[Key, None]] = {}
        self._history: dict[str, deque[Event]] = {}
        self._dropped: dict[str, int] = {}
        self._listeners: dict[str, list[Listener]] = {}

    def get(self, key: Key) -> StoredObject | None:
        return self._objects.get(key.storage, {}).get((key.namespace, key.name))

    def shelf(self, storage: str, namespace: str = "") -> list[StoredObject]:
        """Ordered by namespace and name; all namespaces when `namespace` is empty."""
        found = self._objects.get(storage, {})
        return [found[at] for at in sorted(found) if not namespace or at[0] == namespace]

    def all(self, storage: str) -> Iterable[StoredObject]:
        """In order of creation."""
        return self._objects.get(storage, {}).values()

    def storages(self) -> tuple[str, ...]:
        return tuple(self._objects)

    def owned_by(self, uid: str) -> tuple[Key, ...]:
        """Objects that name `uid` in an owner reference, in order of creation."""
        return tuple(self._owned.get(uid, ()))

    def put(self, key: Key, obj: Json) -> StoredObject:
        """Stores `obj` under the next version and tells everyone. The caller gives up `obj`."""
        self.version += 1
        obj["metadata"]["resourceVersion"] = str(self.version)
        new = StoredObject(key, obj, self.version)
        there = self._objects.setdefault(key.storage, {})
        old = there.get((key.namespace, key.name))
        there[key.namespace, key.name] = new
        if old:
            self._disown(old)
        for uid in owners(obj):
            self._owned.setdefault(uid, {})[key] = None
        self._tell(Event("MODIFIED" if old else "ADDED", new, old))
        return new

    def remove(self, key: Key) -> None:
        old = self._objects[key.storage].pop((key.namespace, key.name))
        self._disown(old)
        self.version += 1
        last = {**old.obj, "metadata": {**old.obj["metadata"], "resourceVersion": str(self.version)}}
        self._tell(Event("DELETED", StoredObject(key, last, self.version), old))

    def _disown(self, old: StoredObject) -> None:
        for uid in owners(old.obj):
            owned = self._owned.get(uid)
            if owned:
                owned.pop(old.key, None)
                if not owned:
                    del self._owned[uid]

    def _tell(self, event: Event) -> None:
        storage = event.new.key.storage
        history = self._history.setdefault(storage, deque())
        history.append(event)
        if len(history) > self._history_limit:
            self._dropped[storage] = history.popleft().new.version
        for listener in tuple(self._listeners.get(storage, ())):
            listener(event)
        for listener in tuple(self._listeners.get("", ())):
            listener(event)

    def listen(self, storage: str, listener: Listener) -> Callable[[], None]:
        """Calls `listener` in the same turn for every change (of every resource when `storage` is empty);
        returns what stops it."""
        self._listeners.setdefault(storage, []).append(listener)
        return lambda: self._listeners[storage].remove(listener)

    def compact(self) -> None:
        """Forgets every version but the present one, as etcd does every few minutes."""
        for storage, history in self._history.items():
            history.clear()
            self._dropped[storage] = self.version

    def since(self, storage: str, version: int) -> list[Event]:
        """The events after `version`; 410 when they are no longer kept, or `version` was never given out."""
        dropped = self._dropped.get(storage, 0)
        if version < dropped or version > self.version:
            raise expired(f"too old resource version: {version} ({max(dropped, 1)})")
        found: list[Event] = []
        for event in reversed(self._history.get(storage, ())):
            if event.new.version <= version:
                break
            found.append(event)
        found.reverse()
        return found


def owners(obj: Json) -> list[str]:
    """Uids. A Volcano Command belongs to its target, which it names in a field of its own."""
    found = [owner.get("uid", "") for owner in obj["metadata"].get("ownerReferences") or ()]
    if obj.get("kind") == "Command":
        found.append((obj.get("target") or {}).get("uid", ""))
    return found
