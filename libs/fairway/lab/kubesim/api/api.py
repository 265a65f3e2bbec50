"""The verbs of the Kubernetes API over one store. Pure memory: every call ends before it returns."""

from typing import Any

from fairway.lab.kubesim import colocation
from fairway.lab.kubesim.api import job_status, pod_status, validation
from fairway.lab.kubesim.api import metadata as meta
from fairway.lab.kubesim.api.errors import ApiError, Json, already_exists, invalid, not_found
from fairway.lab.kubesim.api.garbage_collection import collect
from fairway.lab.kubesim.api.registry import ApiResource, Registry, of_crd
from fairway.lab.kubesim.api.selectors import Match
from fairway.lab.kubesim.api.store import Event, Key, ObjectStore, StoredObject

# Of built-in kinds these alone are born without the status that somebody gives them, as all are in a real cluster.
_STATUS_RULES = {"jobs.batch": job_status.faults, "pods": pod_status.faults}


class ClusterApi:
    def __init__(self, store: ObjectStore, registry: Registry, clock: meta.SimClock, uids: meta.Uids) -> None:
        self.store = store
        self.registry = registry
        self.clock = clock
        self.uids = uids
        # Pods that a kubelet runs: a delete only marks them, and the kubelet removes them.
        self.graceful: set[Key] = set()
        # What each manager applied last, for server-side apply.
        self.claims: dict[Key, dict[str, Json]] = {}
        store.listen("customresourcedefinitions.apiextensions.k8s.io", self._serve_crd)

    # ---- read
    def get(self, resource: ApiResource, namespace: str, name: str) -> StoredObject:
        found = self.store.get(Key(resource.storage, namespace, name))
        if not found:
            raise not_found(resource.storage, name)
        return found

    def find(self, resource: ApiResource, namespace: str, match: Match | None = None) -> list[StoredObject]:
        found = self.store.shelf(resource.storage, namespace)
        return [stored for stored in found if match(stored.obj)] if match else found

    # ---- write
    def create(self, resource: ApiResource, namespace: str, body: Any, dry: bool = False) -> StoredObject:
        obj = dict(meta.checked_body(resource, namespace, body))
        if obj["metadata"].get("resourceVersion"):
            raise ApiError(500, "", "resourceVersion should not be set on objects to be created")
        obj["metadata"] = meta.born(resource, obj["metadata"], self.uids, self.clock.now())
        if resource.status and (not resource.builtin or resource.storage in _STATUS_RULES):
            obj.pop("status", None)
        meta.check(resource, obj)
        validation.check_shape(resource, obj)
        _default(resource, obj)
        if resource.storage == "pods":
            colocation.admit(obj)
        key = Key(resource.storage, namespace, obj["metadata"]["name"])
        if self.store.get(key):
            raise already_exists(resource.storage, key.name)
        if dry:
            return StoredObject(key, obj, 0)
        if namespace:
            self._ensure_namespace(resource, namespace, key.name)
        return self.store.put(key, obj)

    def update(
        self, resource: ApiResource, old: StoredObject, body: Any, part: str = "", dry: bool = False
    ) -> StoredObject:
        """Replaces `old` by `body`, or only its status when `part` is `status`."""
        obj = meta.checked_body(resource, old.key.namespace, body)
        metadata = meta.renewed(resource, old, obj["metadata"])
        if part == "status":
            obj = {**old.obj, "status": obj.get("status") or {}}
            signed = {"managedFields": metadata["managedFields"]} if metadata.get("managedFields") else {}
            obj["metadata"] = {**old.obj["metadata"], **signed}
            check_status(resource, old.obj, obj)
        else:
            obj = {**obj, "metadata": metadata}
            if resource.status:
                obj.pop("status", None)
                if "status" in old.obj:
                    obj["status"] = old.obj["status"]
            meta.check(resource, obj)
            validation.check_frozen(resource, old.obj, obj)
        # The stored spelling of the version stays: versions of a kind differ in nothing else.
        obj["apiVersion"] = old.obj["apiVersion"]
        return self._write(resource, old, obj, dry)

    def _write(self, resource: ApiResource, old: StoredObject, obj: Json, dry: bool) -> StoredObject:
        if obj == old.obj:
            return old
        if "generation" in old.obj["metadata"] and _body(resource, obj) != _body(resource, old.obj):
            obj["metadata"]["generation"] = old.obj["metadata"]["generation"] + 1
        if dry:
            return StoredObject(old.key, obj, old.version)
        new = self.store.put(old.key, obj)
        metadata = obj["metadata"]
        if metadata.get("deletionTimestamp") and not metadata.get("finalizers") and old.key not in self.graceful:
            self._remove(new)
        return new

    # ---- delete
    def delete(self, resource: ApiResource, old: StoredObject, how: meta.Deletion) -> StoredObject | None:
        """What is left of the object: itself while finalizers or its kubelet keep it, else None."""
        meta.check_preconditions(resource, old, how.preconditions)
        if how.dry:
            return None
        finalizers = list(old.obj["metadata"].get("finalizers") or ())
        if how.policy == "Foreground":
            finalizers.append("foregroundDeletion")
        if how.policy == "Orphan":
            self._orphan(old)
        waits = old.key in self.graceful and how.grace != 0
        if finalizers or waits:
            kept = self._mark(old, finalizers, how.grace)
            if "foregroundDeletion" in finalizers:
                self._collect(old, foreground=True)
            return self.store.get(kept.key) or kept
        self._remove(old)
        return None

    def _mark(self, old: StoredObject, finalizers: list[str], grace: int | None) -> StoredObject:
        metadata = old.obj["metadata"]
        if metadata.get("deletionTimestamp"):
            return self._shorten(old, grace)
        asked = (old.obj.get("spec") or {}).get("terminationGracePeriodSeconds", 30) if old.key in self.graceful else 0
        marked = {
            **metadata,
            "deletionTimestamp": meta.rfc3339(self.clock.now()),
            "deletionGracePeriodSeconds": grace if grace is not None else asked,
        }
        if "generation" in metadata:
            marked["generation"] = metadata["generation"] + 1
        if finalizers:
            marked["finalizers"] = list(dict.fromkeys(finalizers))
        return self.store.put(old.key, {**old.obj, "metadata": marked})

    def _shorten(self, old: StoredObject, grace: int | None) -> StoredObject:
        """What is on its way out goes sooner if it is asked to, and never later."""
        metadata = old.obj["metadata"]
        if grace is None or grace >= metadata.get("deletionGracePeriodSeconds", 0):
            return old
        return self.store.put(old.key, {**old.obj, "metadata": {**metadata, "deletionGracePeriodSeconds": grace}})

    def _remove(self, old: StoredObject) -> None:
        self.graceful.discard(old.key)
        self.claims.pop(old.key, None)
        self.store.remove(old.key)
        self._collect(old, foreground=False)

    def removed_by_kubelet(self, key: Key) -> None:
        """A kubelet says that a pod has stopped: it goes when nothing else keeps it."""
        self.graceful.discard(key)
        old = self.store.get(key)
        if old and old.obj["metadata"].get("deletionTimestamp") and not old.obj["metadata"].get("finalizers"):
            self._remove(old)

    def _collect(self, gone: StoredObject, foreground: bool) -> None:
        collect(self, gone, foreground)
        if gone.key.storage == "namespaces" and not foreground:
            for storage in self.store.storages():
                for stored in self.store.shelf(storage, gone.key.name):
                    resource = self.resource_of(stored)
                    if resource and self.store.get(stored.key):
                        self.delete(resource, stored, meta.Deletion())

    def _orphan(self, owner: StoredObject) -> None:
        uid = owner.obj["metadata"]["uid"]
        for key in self.store.owned_by(uid):
            stored = self.store.get(key)
            if not stored:
                continue
            obj = stored.copy()
            references = [one for one in obj["metadata"]["ownerReferences"] if one.get("uid") != uid]
            obj["metadata"]["ownerReferences"] = references
            self.store.put(key, obj)

    # ---- kinds and namespaces
    def resource_of(self, stored: StoredObject) -> ApiResource | None:
        return self.registry.of_kind(stored.obj["apiVersion"], stored.obj["kind"])

    def _ensure_namespace(self, resource: ApiResource, namespace: str, name: str) -> None:
        found = self.store.get(Key("namespaces", "", namespace))
        if not found:
            ensure_namespace(self, namespace)
        elif found.obj["metadata"].get("deletionTimestamp"):
            raise meta.namespace_terminating(resource, name, namespace)

    def _serve_crd(self, event: Event) -> None:
        former = {resource.version: resource for resource in of_crd(event.old.obj)} if event.old else {}
        current = [] if event.type == "DELETED" else of_crd(event.new.obj)
        for resource in former.values():
            for stored in self.find(resource, "") if not current else ():
                self.delete(resource, stored, meta.Deletion())
            self.registry.remove(resource)
        for resource in current:
            self.registry.add(resource)


def ensure_namespace(api: ClusterApi, name: str, more: Json | None = None) -> None:
    """Any namespace exists from its first use: nobody creates namespaces in a simulation. `more` are labels."""
    resource = api.registry.find("", "v1", "namespaces")
    if resource and not api.store.get(Key("namespaces", "", name)):
        labels = {"kubernetes.io/metadata.name": name, **(more or {})}
        body = {"metadata": {"name": name, "labels": labels}, "status": {"phase": "Active"}}
        api.create(resource, "", body)


def check_status(resource: ApiResource, old: Json, new: Json) -> None:
    """422 when the status may not follow on the one that is there."""
    rules = _STATUS_RULES.get(resource.storage)
    if rules is not None and (found := rules(old, new)):
        raise invalid(resource.group_kind, new["metadata"]["name"], found)


def _body(resource: ApiResource, obj: Json) -> Json:
    """What counts for the generation."""
    skipped = ("metadata", "status") if resource.status else ("metadata",)
    return {key: value for key, value in obj.items() if key not in skipped}


def _default(resource: ApiResource, obj: Json) -> None:
    if resource.storage == "pods":
        obj.setdefault("spec", {}).setdefault("restartPolicy", "Always")
        pod_status.born(obj)
    elif resource.storage == "namespaces":
        obj.setdefault("status", {"phase": "Active"})
        obj.setdefault("spec", {"finalizers": ["kubernetes"]})
        labels = obj["metadata"].setdefault("labels", {}) or {}
        obj["metadata"]["labels"] = {"kubernetes.io/metadata.name": obj["metadata"]["name"], **labels}
    elif resource.storage == "customresourcedefinitions.apiextensions.k8s.io":
        names = (obj.get("spec") or {}).get("names", {})
        conditions = [{"type": kind, "status": "True"} for kind in ("NamesAccepted", "Established")]
        obj["status"] = {"acceptedNames": names, "conditions": conditions}
