"""The settings of the fleet that a job names: are they there, and may its namespace name them? Pure."""

from collections.abc import Iterable
from typing import Any, Protocol

import msgspec

from fairway.domain.policy_terms import bounded, within
from fairway.domain.queue_policy import QueueSpec
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.tenancy.entitlement import leaf_refused, queue_admits, queue_refused
from fairway.domain.tenancy.profile import SYSTEM_CLASSES, Tenancy
from fairway.wire.policy import Policy
from fairway.wire.reasons import Code, Reason, Refused
from fairway.wire.workload import Workload
from fairway.workloads.kinds.registry import KINDS
from fairway.workloads.kinds.volcano import EVERYBODYS
from fairway.workloads.reading.fields import Field, Problems
from fairway.workloads.reading.named_objects import NamedObjects
from fairway.workloads.settings.field_effects import unknown_fields
from fairway.workloads.settings.policies import NAMESPACED, read_policy
from fairway.workloads.settings.policy_index import Key, PoliciesInForce
from fairway.workloads.settings.policy_limits import too_large
from fairway.workloads.settings.priority_classes import PriorityClasses
from fairway.workloads.settings.queues import QUEUE_ANNOTATIONS, queue_of

# Settings that were applied a moment before the job may still be on their way here: such a refusal is looked at twice.
SETTLING = frozenset(
    {
        Code.NO_POLICY,
        Code.UNKNOWN_PRIORITY_CLASS,
        Code.UNKNOWN_QUEUE,
        Code.UNKNOWN_QUOTA,
        Code.NOT_YOUR_QUOTA,
        Code.FORBIDDEN,
    }
)
_APPLY = "apply it to the hub, where its rights are asked for, and leave it out here"


class NamedSettings(Protocol):
    """What the hub says, as far as admission needs it. `reserved` are namespaces in which no job may be."""

    policies: PoliciesInForce
    classes: PriorityClasses
    queues: dict[str, QueueSpec]
    tree: QuotaNode | None
    reserved: frozenset[str]

    def tenancy(self, namespace: str) -> Tenancy: ...


def policy_of(
    along: Iterable[dict[str, Any]], manifest: dict[str, Any], settings: NamedSettings, from_hub: bool
) -> Policy:
    """The one that selects the job, of the hub's and of those that came along. What the hub sent along is the hub's, as
    it was then; who submits may bring policies of the job's own namespace that the hub does not have."""
    policies: dict[Key, Policy] = {}
    for index, one in enumerate(along):
        if not from_hub and (wrong := too_large(one) or unknown_fields(one)):
            raise Refused(*(msgspec.structs.replace(why, field=f"policies[{index}].{why.field}") for why in wrong))
        policy = read_policy(one)
        key = (policy.kind, policy.namespace, policy.name)
        known = settings.policies.index.get(key)
        if not from_hub and (refusal := _not_along(policy, known, manifest, f"policies[{index}]")):
            raise Refused(refusal)
        if from_hub or known is None:
            policies[key] = policy
    found = settings.policies.index.select(manifest, policies)
    if isinstance(found, Refused):
        raise found
    return found


def _not_along(policy: Policy, known: Policy | None, manifest: dict[str, Any], field: str) -> Reason | None:
    """Why a policy may not come along with a job; None: it may."""
    namespace = manifest["metadata"].get("namespace") or "default"
    if known is not None and _wish(known) == _wish(policy):
        return None
    if policy.kind != NAMESPACED:
        return Reason(Code.FORBIDDEN, f"{policy.title} is for the whole fleet", field, _APPLY)
    if policy.namespace != namespace:
        text = f"{policy.title} is not of namespace {namespace}, where the job is"
        return Reason(Code.FORBIDDEN, text, field, "move it to the job's namespace, or leave it out")
    if known is not None:
        text = f"{policy.title} is on the hub, and says something else there"
        return Reason(Code.FORBIDDEN, text, field, "leave it out, change it on the hub, or give it another name")
    return None


def _wish(policy: Policy) -> tuple[Any, ...]:
    """Everything of a policy but its group and version."""
    return tuple(getattr(policy, name) for name in Policy.__struct_fields__ if name not in ("api_version", "version"))


def placement_of(policy: Policy, settings: NamedSettings, mine: Tenancy) -> dict[str, Any]:
    """Where the policy lets the job run, within the clusters that its namespace may use (domain.policy_terms). Those
    that are not there yet may join: the job waits for them."""
    if bounded(policy.placement, mine.clusters) is None:
        names = {name for affinity in policy.placement.affinities for name in affinity.cluster_names}
        field = "spec.placement.clusterAffinity.clusterNames"
        text = f"{policy.title} names {', '.join(sorted(names))}; {_may_use(mine, 'clusters', mine.clusters)}"
        raise Refused(Reason(Code.FORBIDDEN, text, field, _grant("clusters")))
    return within(policy.placement, mine.clusters)


def priority_terms(workload: Workload, claimed: NamedObjects, settings: NamedSettings, mine: Tenancy) -> dict[str, Any]:
    """By the class that the pod template names, or the hub's default class when it names none: the priority that is its
    value (0 without one), and whether others are evicted for the job. Every class that any of its templates names has
    to be one that the namespace may use; a default that it may not use is none."""
    for key, name in claimed.classes:
        _may_be_of(name, key, mine)
    default = settings.classes.default
    name = workload.priority_class or (default if default in (mine.priority_classes or (default,)) else "")
    if not name:
        return {"priority": 0, "evicts": True}
    if workload.priority_class:
        _may_be_of(name, "priorityClassName", mine)
    if name not in settings.classes.values:
        known = ", ".join(sorted(settings.classes.values)) or "none"
        text = f"there is no PriorityClass {name}; the hub has {known}"
        raise Refused(Reason(Code.UNKNOWN_PRIORITY_CLASS, text, "priorityClassName", "create it on the hub"))
    return {"priority": settings.classes.values[name], "evicts": name not in settings.classes.never}


def _may_be_of(name: str, field: str, mine: Tenancy) -> None:
    if name in mine.priority_classes:
        return
    if name.startswith(SYSTEM_CLASSES):
        text = f"PriorityClass {name[:80]} is for what a cluster itself runs on"
        raise Refused(Reason(Code.UNSAFE_POD, text, field, _grant("priorityClasses")))
    if mine.priority_classes:
        text = f"PriorityClass {name[:80]}: {_may_use(mine, 'classes', mine.priority_classes)}"
        raise Refused(Reason(Code.UNSAFE_POD, text, field, _grant("priorityClasses")))


def queue_named(manifest: dict[str, Any], claimed: NamedObjects, settings: NamedSettings, mine: Tenancy) -> str:
    """The queue that its annotation names, else the one in a field of its kind, if the fleet has that; empty when it
    waits in its leaf's. The queues and leaves that its pods name in a member count there as much as these do here, and
    are held to the same."""
    name = _annotated(manifest, settings, mine)
    _in_members(claimed, settings, mine)
    kind = KINDS[f"{manifest['kind']}.{manifest['apiVersion']}"]
    own = "" if name else kind.queue(Field(manifest, Problems()))
    return own if own in settings.queues else name


def _annotated(manifest: dict[str, Any], settings: NamedSettings, mine: Tenancy) -> str:
    name = queue_of(manifest)
    field = f"metadata.annotations[{QUEUE_ANNOTATIONS[0]}]"
    if name and name not in settings.queues:
        own = sorted(one for one, queue in settings.queues.items() if queue_admits(queue, mine, settings.tree))
        text = f"there is no Queue {name}; namespace {mine.namespace} may use {', '.join(own) or 'none'}"
        raise Refused(Reason(Code.UNKNOWN_QUEUE, text, field, "create the Queue, or leave the annotation out"))
    if name and (refusal := queue_refused(settings.queues[name], mine, settings.tree, field)):
        raise Refused(refusal)
    return name


def _in_members(claimed: NamedObjects, settings: NamedSettings, mine: Tenancy) -> None:
    for key, name in claimed.leaves:
        if name not in mine.quota_leaves and (refusal := leaf_refused(settings.tree, mine, name, key)):
            raise Refused(refusal)
    for key, name in claimed.queues:
        queue = settings.queues.get(name, QueueSpec(name, allows=(name,)))
        if name != EVERYBODYS and (refusal := queue_refused(queue, mine, settings.tree, key)):
            raise Refused(refusal)


def _may_use(mine: Tenancy, what: str, names: Iterable[str]) -> str:
    return f"the {what} that namespace {mine.namespace} may use are {', '.join(sorted(names))}"


def _grant(field: str) -> str:
    return f"name another one or none, or have it listed in spec.{field} of a TenantProfile of the namespace"
