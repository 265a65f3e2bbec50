"""Object metadata: what the server sets, what it refuses."""

import hashlib
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Protocol
from uuid import UUID

import msgspec

from fairway.lab.kubesim.api.errors import ApiError, Json, about, bad_request, conflict, invalid, modified
from fairway.lab.kubesim.api.registry import ApiResource
from fairway.lab.kubesim.api.store import StoredObject

# RFC 1123 subdomain and the rules of label keys and values: k8s.io/apimachinery, pkg/util/validation.
_NAME = re.compile(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
_LABEL = re.compile(r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$")
_QUALIFIED = re.compile(
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
)
# Set by the server alone; a client's value is ignored.
_SERVER_SET = ("uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds")
# What a writer names as managedFields who wants nobody remembered: the list is emptied (k8s.io/apimachinery,
# pkg/util/managedfields).
NOBODY: list[Json] = [{}]
# Kinds that have no generation: nobody follows a spec of theirs.
_NO_GENERATION = frozenset(
    (
        "configmaps",
        "secrets",
        "events",
        "events.events.k8s.io",
        "namespaces",
        "nodes",
        "services",
        "serviceaccounts",
        "persistentvolumeclaims",
        "leases.coordination.k8s.io",
    )
)


class SimClock(Protocol):
    def now(self) -> int:
        """Milliseconds since 1970."""
        ...


class Deletion(msgspec.Struct, frozen=True):
    """DeleteOptions. `policy` is Background, Foreground or Orphan; `grace` 0 removes a pod without its
    kubelet."""

    policy: str = "Background"
    grace: int | None = None
    preconditions: Json = {}
    dry: bool = False


class Uids:
    """Object uids and name suffixes that depend on the seed and on how many came before, and on nothing
    else."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._count = 0

    def _next(self) -> bytes:
        self._count += 1
        return hashlib.sha256(f"{self._seed}/{self._count}".encode()).digest()

    def uid(self) -> str:
        return str(UUID(bytes=self._next()[:16], version=4))

    def suffix(self) -> str:
        """Five characters, for generateName."""
        return "".join("bcdfghjklmnpqrstvwxz2456789"[byte % 27] for byte in self._next()[:5])


def rfc3339(now: int) -> str:
    return _of_second(now // 1000)


@lru_cache(maxsize=64)
def _of_second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def checked_body(resource: ApiResource, namespace: str, body: Any) -> Json:
    """The body of a write when it is an object of this resource and namespace; else 400."""
    if not isinstance(body, dict):
        raise bad_request("the body of the request is not an object")
    for field, want in (("apiVersion", resource.api_version), ("kind", resource.kind)):
        if body.setdefault(field, want) != want:
            what = "API version" if field == "apiVersion" else "kind"
            raise bad_request(f"the {what} in the data ({body[field]}) does not match the expected {what} ({want})")
    if not isinstance(body.setdefault("metadata", {}), dict):
        raise bad_request("metadata is not an object")
    if resource.namespaced and body["metadata"].setdefault("namespace", namespace) != namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    if not resource.namespaced:
        body["metadata"].pop("namespace", None)
    return body


def born(resource: ApiResource, metadata: Json, uids: Uids, now: int) -> Json:
    """The metadata of a new object."""
    kept = {key: value for key, value in metadata.items() if key not in _SERVER_SET}
    if not kept.get("name") and kept.get("generateName"):
        kept["name"] = kept["generateName"] + uids.suffix()
    first = {} if resource.storage in _NO_GENERATION else {"generation": 1}
    return {**kept, "uid": uids.uid(), "creationTimestamp": rfc3339(now), **first}


def renewed(resource: ApiResource, old: StoredObject, metadata: Json) -> Json:
    """The metadata of an update; 409 when it was made from another version or another object."""
    former = old.obj["metadata"]
    name = old.key.name
    version = metadata.get("resourceVersion")
    if not version and not resource.builtin:
        fault = ("metadata.resourceVersion", "Invalid value: 0: must be specified for an update")
        raise invalid(resource.storage, name, [fault])
    if version and version != former["resourceVersion"]:
        raise modified(resource.storage, name)
    if metadata.get("uid") and metadata["uid"] != former["uid"]:
        why = f"Precondition failed: UID in precondition: {metadata['uid']}, UID in object meta: {former['uid']}"
        raise conflict(resource.storage, name, why)
    if metadata.get("name", name) != name:
        raise bad_request(f"the name of the object ({metadata['name']}) does not match the name on the URL ({name})")
    kept = {key: former[key] for key in (*_SERVER_SET, "name", "namespace", "resourceVersion") if key in former}
    if not metadata.get("finalizers"):
        metadata = {key: value for key, value in metadata.items() if key != "finalizers"}
    signed = {"managedFields": former["managedFields"]} if "managedFields" in former else {}
    renewed = {**signed, **{key: value for key, value in metadata.items() if key not in _SERVER_SET}, **kept}
    if renewed.get("managedFields") == NOBODY:
        del renewed["managedFields"]
    return renewed


def check(resource: ApiResource, obj: Json) -> None:
    """422 with every fault of names and labels."""
    metadata = obj["metadata"]
    name = metadata.get("name") or ""
    causes = list(_name_faults(name))
    for field in ("labels", "annotations"):
        causes += _map_faults(f"metadata.{field}", metadata.get(field), is_label=field == "labels")
    causes += _owner_faults(metadata.get("ownerReferences"))
    if causes:
        raise invalid(resource.group_kind, name, causes)


def _owner_faults(found: Any) -> list[tuple[str, str]]:
    if found is None:
        return []
    fields = ("apiVersion", "kind", "name", "uid")
    if isinstance(found, list) and all(
        isinstance(one, dict) and all(one.get(field) for field in fields) for one in found
    ):
        return []
    return [("metadata.ownerReferences", "Required value: each needs apiVersion, kind, name and uid")]


def _name_faults(name: str) -> list[tuple[str, str]]:
    if not name:
        return [("metadata.name", "Required value: name or generateName is required")]
    if len(name) > 253 or not _NAME.match(name):
        return [
            (
                "metadata.name",
                f'Invalid value: "{name}": a lowercase RFC 1123 subdomain must consist of lower case '
                "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
            )
        ]
    return []


def _map_faults(field: str, found: Any, is_label: bool) -> list[tuple[str, str]]:
    if found is None:
        return []
    if not isinstance(found, dict):
        raise bad_request(f"{field} is not a map of strings")
    faults = []
    for key, value in found.items():
        if not isinstance(value, str):
            raise bad_request(f"{field}[{key}]: {value!r} is not a string")
        if not _QUALIFIED.match(key):
            faults.append((field, f'Invalid value: "{key}": not a qualified name'))
        if is_label and (len(value) > 63 or not _LABEL.match(value)):
            faults.append((field, f'Invalid value: "{value}": must be at most 63 letters, digits, -, _ or .'))
    return faults


def check_same(resource: ApiResource, old: StoredObject, patched: Json) -> None:
    """422 when a patch would make another object of it."""
    if patched["metadata"].get("uid") != old.obj["metadata"]["uid"]:
        raise invalid(resource.group_kind, old.key.name, [("metadata.uid", "Invalid value: field is immutable")])


def check_preconditions(resource: ApiResource, old: StoredObject, wanted: Json) -> None:
    """409 when a delete asks for another uid or version than the stored one."""
    for field, label in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        want = wanted.get(field)
        have = old.obj["metadata"][field]
        if want and want != have:
            why = f"Precondition failed: {label} in precondition: {want}, {label} in object meta: {have}"
            raise conflict(resource.storage, old.key.name, why)


def namespace_terminating(resource: ApiResource, name: str, namespace: str) -> ApiError:
    text = f'{resource.storage} "{name}" is forbidden: unable to create new content in namespace {namespace}'
    cause = {"reason": "NamespaceTerminating", "message": f"namespace {namespace} is being terminated"}
    details = {**about(resource.storage, name), "causes": [{**cause, "field": "metadata.namespace"}]}
    return ApiError(403, "Forbidden", f"{text} because it is being terminated", details)
