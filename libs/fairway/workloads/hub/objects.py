"""Objects of the hub as values: which are watched, what of them is passed on, and what is wrong with them. Pure."""

from collections.abc import Callable, Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Raw, Struct

from fairway.domain.decision import Say
from fairway.domain.events import message_id
from fairway.domain.queue_policy import QueueSpec
from fairway.domain.tenancy.profile import NAMESPACE_LABELS, SYSTEM_NAMESPACES
from fairway.wire import fleet, subjects
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason, Refused
from fairway.workloads.kinds.registry import KINDS, read_unchecked
from fairway.workloads.settings import tenant_profiles, volcano_queues
from fairway.workloads.settings.policies import CLUSTER_WIDE, GROUPS, NAMESPACED, is_policy, read_policy
from fairway.workloads.settings.priority_classes import read_priority_class
from fairway.workloads.settings.queues import queue_of, read_queue
from fairway.workloads.settings.quota_trees import read_quota_tree

Json = dict[str, Any]
Key = tuple[str, str, str]
TREE = "ElasticQuotaTree"
QUEUE = "Queue"
CLASS = "PriorityClass"
# Watched for what its labels say of the safety of pods, and nobody's setting.
NAMESPACE = "Namespace.v1"
_encode = msgspec.json.Encoder(order="deterministic").encode


# What is set for the fleet, as `Kind.group/version`, with who reads it.
SETTINGS: Mapping[str, Callable[[Json], object]] = {
    **{f"{kind}.{group}": read_policy for kind in (NAMESPACED, CLUSTER_WIDE) for group in GROUPS},
    f"{CLASS}.scheduling.k8s.io/v1": read_priority_class,
    f"{TREE}.scheduling.sigs.k8s.io/v1beta1": read_quota_tree,
    "Queue.scheduling.x-k8s.io/v1alpha1": read_queue,
    f"{tenant_profiles.KIND}.{tenant_profiles.API_VERSION}": tenant_profiles.read_tenant_profile,
}
# What the hub sets besides, and no other door.
_READERS = {**SETTINGS, volcano_queues.KIND: volcano_queues.read_volcano_queue}
WATCHED = (*_READERS, NAMESPACE)
# Kinds of settings without a namespace.
WIDE = frozenset({CLUSTER_WIDE, CLASS, tenant_profiles.KIND})


class HubObject(Struct, frozen=True, dict=True):
    """`kind` is the key of its kind, `Kind.group/version`. The manifest is never changed."""

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

    @cached_property
    def digest(self) -> str:
        """The same for the same wish, whatever the API server did to the object meanwhile."""
        return sha256(_encode(cleaned(self.manifest))).hexdigest()

    @cached_property
    def understood(self) -> tuple[object, tuple[Reason, ...]]:
        """What it sets, as its reader understands it, or why it does not; neither of what is no setting."""
        try:
            return (_READERS[self.kind](self.manifest) if self.kind in _READERS else None), ()
        except Refused as error:
            return None, error.reasons

    @cached_property
    def refers(self) -> bool:
        """Whether parts of a job's object stand in others."""
        return self.kind in KINDS and KINDS[self.kind].refers(self.manifest)

    @cached_property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Kind and name of the settings that a job's object names; none of one that is refused anyway."""
        try:
            class_name = read_unchecked(cleaned(self.manifest)).priority_class
        except Refused:
            return ()
        wanted = ((QUEUE, queue_of(self.manifest)), (CLASS, class_name))
        return tuple((kind, name) for kind, name in wanted if name)


def place_of(key: Key) -> Key:
    """The same for objects of which only one can be in force."""
    kind, _, name = key
    return {TREE: (TREE, "", ""), QUEUE: (QUEUE, "", name)}.get(kind, key)


def of_hub(namespace: str, uid: str = "") -> Actor:
    """Who wrote an object of the hub: somebody who may in its namespace. The watch does not tell the user."""
    return Actor(f"hub:{namespace}" if namespace else "hub", "hub", uid)


def hub_object(kind: str, manifest: Json) -> HubObject:
    meta = manifest.get("metadata") or {}
    return HubObject(kind, meta.get("namespace", ""), meta.get("name", ""), meta.get("uid", ""), manifest)


def labelled(one: HubObject) -> HubObject | None:
    """A namespace as the fleet needs to know it; None when it says nothing of the safety of pods."""
    meta = one.manifest.get("metadata") or {}
    labels = {key: value for key, value in (meta.get("labels") or {}).items() if key in NAMESPACE_LABELS}
    if not labels:
        return None
    known = {"name": one.name, "labels": labels, "resourceVersion": meta.get("resourceVersion", "")}
    return HubObject(NAMESPACE, "", one.name, "", {"apiVersion": "v1", "kind": "Namespace", "metadata": known})


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
    written = {**copy, "metadata": meta}
    kind = KINDS.get(f"{manifest.get('kind')}.{manifest.get('apiVersion')}")
    return written if kind is None else kind.as_written(written)


def problems_of(one: HubObject, admin: frozenset[str] = SYSTEM_NAMESPACES.admin) -> tuple[Reason, ...]:
    """Why a settings object cannot be taken, whatever else is in force. `admin` are the namespaces of those who run the
    fleet."""
    if misplaced(one.kind, one.key, admin):
        text = f"{one.plain} {one.namespace}/{one.name} would rule over all tenants, from where a tenant may be"
        remedy = f"apply it in {' or '.join(sorted(admin))}, and delete it here (FAIRWAY_ADMIN_NAMESPACES says where)"
        return (Reason(Code.FORBIDDEN, text, "metadata.namespace", remedy),)
    return one.understood[1]


def misplaced(kind: str, key: Key, admin: frozenset[str]) -> bool:
    """A quota tree or a queue is where a tenant might have put it. One that is in force all the same, since before
    this was asked, gives way to one in its place. `kind` is that with its group."""
    return key[0] in (TREE, QUEUE) and key[1] not in admin and kind != volcano_queues.KIND


def rival_of(one: HubObject, holder: Key, kind: str, admin: frozenset[str]) -> Reason | None:
    """Why an object cannot be taken while this `holder`, whose kind with its group is `kind`, is in force where there
    can be only one; None when it is the same, or gives way."""
    if (holder == one.key and kind == one.kind) or misplaced(kind, holder, admin):
        return None
    group = kind.partition(".")[2]
    text = f"{holder[0]} {'/'.join(filter(None, holder[1:]))} of {group} is in force, and there is one for {one.only}"
    remedy = "change that one, or delete it: then this one is taken"
    return Reason(Code.ANOTHER_IN_FORCE, text, "metadata.name", remedy)


def configured(one: HubObject, who: Actor, now: int) -> Say:
    """The object is in force as it is now."""
    manifest = Raw(_encode(cleaned(one.manifest, keep_version=True)))
    version = (one.manifest.get("metadata") or {}).get("resourceVersion", "")
    message = fleet.Configured(
        at=now, kind=one.plain, namespace=one.namespace, name=one.name, manifest=manifest, who=who
    )
    name = message_id("configured", *one.key, version, one.digest)
    return Say(name, subjects.config(*one.key), message)


def withdrawn(key: tuple[str, str, str], was: str, now: int, who: Actor | None = None) -> Say:
    """The object is no more; `was` tells this deletion from others of the same name. Without `who` it went from the
    hub."""
    kind, namespace, name = key
    message = fleet.Configured(at=now, kind=kind, namespace=namespace, name=name, who=who or of_hub(namespace))
    return Say(message_id("withdrawn", *key, was), subjects.config(*key), message)


def not_taken(one: HubObject, reasons: tuple[Reason, ...], now: int) -> Say:
    """The object is refused, or (without reasons) no longer so."""
    message = fleet.ConfigRefused(at=now, kind=one.plain, namespace=one.namespace, name=one.name, reasons=reasons)
    version = (one.manifest.get("metadata") or {}).get("resourceVersion", "")
    subject = subjects.config(f"refused:{one.plain}", one.namespace, one.name)
    return Say(message_id("refused", *one.key, version, one.digest, len(reasons)), subject, message)


def owned(one: HubObject) -> bool:
    """Made by the operator of another job kind, whose object is the job; or by any controller, where the kind is a job
    only when it is bare."""
    owners = (one.manifest.get("metadata") or {}).get("ownerReferences") or []
    keys = {f"{owner.get('kind')}.{owner.get('apiVersion')}" for owner in owners if owner.get("controller")}
    return bool(keys) if KINDS[one.kind].bare else not keys.isdisjoint(KINDS)


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


def open_to_nobody(one: HubObject) -> bool:
    """A good queue that names neither namespaces nor a leaf."""
    queue = one.understood[0]
    return isinstance(queue, QueueSpec) and not queue.allows and not queue.leaf


def leaving(one: HubObject) -> bool:
    """Its deletion was asked for, though something still holds it."""
    return bool((one.manifest.get("metadata") or {}).get("deletionTimestamp"))


def taken(one: HubObject) -> bool:
    """The hub has begun to run a job's object itself."""
    return KINDS[one.kind].runs_there(one.manifest)
