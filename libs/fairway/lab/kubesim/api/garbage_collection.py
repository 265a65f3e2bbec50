"""Garbage collection by owner references: dependents go after their last owner, or before it (foreground)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairway.lab.kubesim.api.errors import Json
from fairway.lab.kubesim.api.metadata import Deletion
from fairway.lab.kubesim.api.store import Key, StoredObject

if TYPE_CHECKING:
    from fairway.lab.kubesim.api.api import ClusterApi


def collect(api: ClusterApi, gone: StoredObject, foreground: bool) -> None:
    """Deletes what only `gone` owned, then lets go of owners that waited for `gone`."""
    uid = gone.obj["metadata"]["uid"]
    how = Deletion(policy="Foreground" if foreground else "Background")
    for key in api.store.owned_by(uid):
        dependent = api.store.get(key)
        resource = api.resource_of(dependent) if dependent else None
        if dependent and resource and not _other_owner(api, dependent.obj, uid):
            api.delete(resource, dependent, how)
    if foreground:
        _let_go(api, gone.key)
    else:
        for owner in gone.obj["metadata"].get("ownerReferences") or ():
            if stored := _find_owner(api, gone.key.namespace, owner):
                _let_go(api, stored.key)


def _other_owner(api: ClusterApi, obj: Json, uid: str) -> bool:
    namespace = obj["metadata"].get("namespace", "")
    owners = obj["metadata"].get("ownerReferences") or ()
    return any(owner["uid"] != uid and _find_owner(api, namespace, owner) for owner in owners)


def _find_owner(api: ClusterApi, namespace: str, owner: Json) -> StoredObject | None:
    resource = api.registry.of_kind(owner["apiVersion"], owner["kind"])
    if not resource:
        return None
    stored = api.store.get(Key(resource.storage, namespace if resource.namespaced else "", owner["name"]))
    return stored if stored and stored.obj["metadata"]["uid"] == owner["uid"] else None


def _let_go(api: ClusterApi, key: Key) -> None:
    """An owner that waits in the foreground goes when its last dependent has gone."""
    owner = api.store.get(key)
    finalizers = (owner.obj["metadata"].get("finalizers") or []) if owner else []
    if not owner or "foregroundDeletion" not in finalizers:
        return
    if api.store.owned_by(owner.obj["metadata"]["uid"]):
        return
    resource = api.resource_of(owner)
    if resource:
        obj = owner.copy()
        obj["metadata"]["finalizers"] = [one for one in finalizers if one != "foregroundDeletion"]
        api.update(resource, owner, obj)
