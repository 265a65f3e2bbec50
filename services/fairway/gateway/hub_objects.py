"""Objects of the hub as values: which are watched, what of them is passed on, and what is wrong with them. Pure."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Raw, Struct

from fairway.domain.decision import Say
from fairway.domain.tell import message_id
from fairway.wire import fleet, subjects
from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.fields import Field, Problems
from fairway.workloads.policies import CLUSTER_WIDE, GROUPS, NAMESPACED, is_policy, read_policy
from fairway.workloads.queues import read_queue
from fairway.workloads.quota import read_quota_tree
from fairway.workloads.registry import KINDS, read_unchecked, status

Json = dict[str, Any]
Key = tuple[str, str, str]
TREE, QUEUE, CLASS = "ElasticQuotaTree", "Queue", "PriorityClass"
_encode = msgspec.json.Encoder(order="deterministic").encode


def read_priority_class(manifest: Json) -> int:
    """Its value. Raises Refused."""
    problems = Problems()
    root = Field(manifest, problems)
    if not root["value"].given:
        root["value"].wrong("is missing", "write a whole number")
    # Kubernetes keeps what is above 10^9 for itself, and has two classes there.
    value = root["value"].whole(0, -(2**31), 2**31 - 1)
    root["globalDefault"].flag()
    problems.stop()
    return value


# What the hub sets for the fleet, as `Kind.group/version`, with who reads it.
SETTINGS: Mapping[str, Callable[[Json], object]] = {
    **{f"{kind}.{group}": read_policy for kind in (NAMESPACED, CLUSTER_WIDE) for group in GROUPS},
    f"{CLASS}.scheduling.k8s.io/v1": read_priority_class,
    f"{TREE}.scheduling.sigs.k8s.io/v1beta1": read_quota_tree,
    "Queue.scheduling.x-k8s.io/v1alpha1": read_queue,
}


class HubObject(Struct, frozen=True):
    """`kind` is the key of its kind, `Kind.group/version`."""

    kind: str
    namespace: str
    name: str
    uid: str
    manifest: Json

    @property
    def plain(self) -> str:
        return self.kind.partition(".")[0]

    @property
    def api_version(self) -> str:
        return self.kind.partition(".")[2]

    @property
    def key(self) -> Key:
        """As the configuration knows it: kind without its group, namespace, name."""
        return self.plain, self.namespace, self.name

    @property
    def created(self) -> str:
        return str((self.manifest.get("metadata") or {}).get("creationTimestamp") or "")

    @property
    def only(self) -> str:
        """What there can be only one of its kind for."""
        return {TREE: "the whole fleet", QUEUE: "each name in the whole fleet"}.get(self.plain, "each name")


def place_of(key: Key) -> Key:
    """The same for objects of which only one can be in force."""
    kind, _, name = key
    return {TREE: (TREE, "", ""), QUEUE: (QUEUE, "", name)}.get(kind, key)


def hub_object(kind: str, manifest: Json) -> HubObject:
    meta = manifest.get("metadata") or {}
    return HubObject(kind, meta.get("namespace", ""), meta.get("name", ""), meta.get("uid", ""), manifest)


# Written by API servers and by kubectl; none of it is the user's wish.
_NOISE = ("managedFields", "uid", "creationTimestamp", "generation", "selfLink", "ownerReferences", "finalizers")
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def cleaned(manifest: Json, keep_version: bool = False) -> Json:
    """The object as its owner wrote it: no status, no bookkeeping. `keep_version` leaves its resourceVersion."""
    copy = {key: value for key, value in manifest.items() if key != "status"}
    dropped = _NOISE if keep_version else (*_NOISE, "resourceVersion")
    meta = {key: value for key, value in (manifest.get("metadata") or {}).items() if key not in dropped}
    if isinstance(meta.get("annotations"), dict):
        kept = {key: value for key, value in meta["annotations"].items() if key != _APPLIED}
        meta |= {"annotations": kept}
        if not kept:
            del meta["annotations"]
    return {**copy, "metadata": meta}


def digest(manifest: Json) -> str:
    """The same for the same wish, whatever the API server did to the object meanwhile."""
    return sha256(_encode(cleaned(manifest))).hexdigest()


def problems_of(one: HubObject, tree: tuple[str, str] | None) -> tuple[Reason, ...]:
    """Why a settings object cannot be taken. `tree` names the ElasticQuotaTree that is in force, if any."""
    if one.plain == TREE and tree is not None and tree != (one.namespace, one.name):
        text = f"{TREE} {tree[0]}/{tree[1]} is in force, and there is one for the whole fleet"
        return (Reason(Code.INVALID, text, "metadata.name", "change that one, or delete it and apply this one again"),)
    try:
        SETTINGS[one.kind](one.manifest)
    except Refused as error:
        return error.reasons
    return ()


def configured(one: HubObject, now: int) -> Say:
    """The object is in force as it is now."""
    manifest = Raw(_encode(cleaned(one.manifest, keep_version=True)))
    version = (one.manifest.get("metadata") or {}).get("resourceVersion", "")
    message = fleet.Configured(at=now, kind=one.plain, namespace=one.namespace, name=one.name, manifest=manifest)
    name = message_id("configured", *one.key, version, digest(one.manifest))
    return Say(name, subjects.config(*one.key), message)


def withdrawn(key: tuple[str, str, str], was: str, now: int) -> Say:
    """The object is no more; `was` tells this deletion from others of the same name."""
    kind, namespace, name = key
    message = fleet.Configured(at=now, kind=kind, namespace=namespace, name=name)
    return Say(message_id("withdrawn", *key, was), subjects.config(*key), message)


def not_taken(one: HubObject, reasons: tuple[Reason, ...], now: int) -> Say:
    """The object is refused, or (without reasons) no longer so."""
    message = fleet.ConfigRefused(at=now, kind=one.plain, namespace=one.namespace, name=one.name, reasons=reasons)
    version = (one.manifest.get("metadata") or {}).get("resourceVersion", "")
    subject = subjects.config(f"refused:{one.plain}", one.namespace, one.name)
    return Say(message_id("refused", *one.key, version, digest(one.manifest), len(reasons)), subject, message)


def ended(one: HubObject) -> bool:
    """Its status says that it is over: nobody wants it run again because Fairway is new here."""
    manifest = one.manifest
    if not manifest.get("status"):
        return False
    try:
        return status(manifest, read_unchecked(cleaned(manifest)), manifest["status"]).state in ("succeeded", "failed")
    except (Refused, KeyError, TypeError, ValueError):
        return False


def child_of_job(one: HubObject) -> bool:
    """Made by the operator of another job kind: its owner is the job."""
    owners = (one.manifest.get("metadata") or {}).get("ownerReferences") or []
    keys = {f"{owner.get('kind')}.{owner.get('apiVersion')}" for owner in owners if owner.get("controller")}
    return not keys.isdisjoint(KINDS)


def as_written(one: HubObject) -> bool:
    """It is shown in the version that it was written in. A kind that is served in several comes once in each, and the
    others hold what its owner wrote only by chance: conversion that nobody provides changes nothing but the version."""
    entries = (one.manifest.get("metadata") or {}).get("managedFields") or []
    writers = [entry for entry in entries if not entry.get("subresource")]
    writers.sort(key=lambda entry: ("f:spec" not in (entry.get("fieldsV1") or {}), entry.get("time") or ""))
    return bool(writers) and writers[0].get("apiVersion") == one.api_version


def only_named(one: HubObject) -> bool:
    """A good policy that selects nothing but objects that it names."""
    selectors = (one.manifest.get("spec") or {}).get("resourceSelectors") or ()
    return is_policy(one.manifest) and all(isinstance(each, dict) and each.get("name") for each in selectors)


def leaving(one: HubObject) -> bool:
    """Its deletion was asked for, though something still holds it."""
    return bool((one.manifest.get("metadata") or {}).get("deletionTimestamp"))
