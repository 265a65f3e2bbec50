"""Namespaces of a member that were there before this join: which are given to their tenants, and taken back.

Fairway made some of them in a version that did not label them: the API server has kept who created a namespace
(managedFields), which nobody can write who may not write namespaces. All others are an administrator's to name.
"""

from collections.abc import Callable, Sequence
from typing import Any

from fairway.adapters.kubernetes.admin import Admin, Unlisted
from fairway.adapters.kubernetes.kubeconfig import Json
from fairway.adapters.kubernetes.namespaces import binding
from fairway.domain.tenancy.member_namespace import ADOPTED_LABEL, LEVEL_LABEL, is_tenants
from fairway.domain.tenancy.profile import BASELINE, HOME, LEVELS, TENANT_LABEL, reserved
from fairway.runtime.cluster_port import ClusterRefused
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.member_copy import FIELD_MANAGER, JOB_LABEL

NAMESPACE = "Namespace.v1"
# What Kubernetes itself puts into every namespace, and what says nothing of its use.
_BARE = {("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt")}
_PASSING = ("Event", "EndpointSlice", "Lease")
Say = Callable[[str], None]


async def adopt(member: Admin, named: Sequence[str], most: str, say: Say) -> None:
    """Gives the `named` namespaces, and those that Fairway made, to their tenants; `most` is the level of Pod Security
    that the join allows. Tells of those that hold jobs of a fleet and are nobody's."""
    metadatas = [one["metadata"] for one in await member.metadata(NAMESPACE)]
    found = {one["name"]: one for one in metadatas if not (reserved(one["name"]) or one.get("deletionTimestamp"))}
    for name in sorted(set(named) - set(found)):
        say(f"namespace {name} is not there yet; Fairway makes it for its first job")
    taken = []
    for name, metadata in sorted(found.items()):
        given = is_tenants(name, metadata.get("labels") or {})
        if name in named or _made(metadata) or given:
            if not given:
                await member.put(_labelled(name, metadata, name in named and not _made(metadata), most))
                taken.append(name)
            await _bind(member, name)
    if taken:
        say(f"namespaces of tenants there from now on: {', '.join(taken)}")
    theirs = {name for name, one in found.items() if is_tenants(name, one.get("labels") or {})}
    left = await _used(member) - set(taken) - theirs
    if left:
        words = ",".join(sorted(left))
        say(f"hold jobs of a fleet and are not Fairway's to write in: {words} (--adopt-namespaces {words} gives them)")


async def _bind(member: Admin, namespace: str) -> None:
    try:
        await member.put(binding(namespace))
    except ClusterRefused as error:
        if "being terminated" not in error.text:
            raise


async def release(member: Admin, say: Say) -> None:
    """The rights in each tenant's namespace go; so does the namespace itself if Fairway made it and nothing is in it.
    One that was adopted has its labels no more, but for the level of Pod Security: what it had before is not known, and
    an administrator may have set another since."""
    for one in await member.metadata(NAMESPACE, TENANT_LABEL):
        metadata = one["metadata"]
        name = metadata["name"]
        labels = metadata.get("labels") or {}
        if not is_tenants(name, labels):
            continue
        await member.remove(binding(name))
        if ADOPTED_LABEL in labels:
            await member.unlabel(name, (TENANT_LABEL, ADOPTED_LABEL))
            level = labels.get(LEVEL_LABEL, "none")
            say(f"namespace {name} was adopted, and stays; its level of Pod Security is {level} from now on, too")
        elif inside := await _inside(member, name):
            say(f"namespace {name} stays: {inside}")
        else:
            await member.remove({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


def _made(metadata: Json) -> bool:
    """By Fairway, as the API server noted when it was created: the first that wrote there."""
    written = metadata.get("managedFields") or ()
    return any(
        one.get("manager") == FIELD_MANAGER and "f:kubernetes.io/metadata.name" in str(one.get("fieldsV1"))
        for one in written
    )


def _labelled(name: str, metadata: Json, adopted: bool, most: str) -> Json:
    """A level that an administrator has set stays as it is."""
    labels = {TENANT_LABEL: name, **({ADOPTED_LABEL: "true"} if adopted else {})}
    if LEVEL_LABEL not in (metadata.get("labels") or {}):
        labels[LEVEL_LABEL] = min(BASELINE, most, key=LEVELS.index)
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


async def _used(member: Admin) -> set[str]:
    """Where objects lie that Fairway has applied."""
    found: set[str] = set()
    for kind in await member.served(tuple(sorted(KINDS))):
        found |= {one["metadata"]["namespace"] for one in await member.metadata(kind, JOB_LABEL) if _applied(one)}
    return found - {HOME}


def _applied(one: dict[str, Any]) -> bool:
    return any(each.get("manager") == FIELD_MANAGER for each in one["metadata"].get("managedFields") or ())


async def _inside(member: Admin, namespace: str) -> str:
    """What keeps it there: something that somebody put there, or that nobody could see whether there is."""
    try:
        found = await member.contents(namespace)
    except Unlisted as error:
        return error.text
    for kind, name in found:
        if (kind, name) not in _BARE and kind not in _PASSING:
            return f"{kind} {name} is in it"
    return ""
