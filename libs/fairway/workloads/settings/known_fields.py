"""The fields of each kind of setting, as the products document them: read, known and not acted on, or not known at all;
and of jobs what is not acted on, though elsewhere a job would be started otherwise for it.

A field that is read may still be refused by its reader. What is not in these tables is a typing error, or of a version
that nobody here knows: it is refused where settings come in (`field_effects.unknown_fields`), lest it change nothing
unseen. What is known and not acted on is taken and named (`field_effects.without_effect`).
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Union

from msgspec import Struct

from fairway.domain.quota.node_terms import (
    DOMAIN,
    LEND_LIMIT,
    MAX_EVICTIONS,
    MAX_GRACE,
    MIN_RUNTIME,
    ORDER,
    PREEMPT_AFTER,
    PREEMPT_POLICY,
    RECLAIM_AFTER,
    SHARED_WEIGHT,
    WEIGHT,
    is_weight,
)
from fairway.domain.quota.tree import ALLOW_NAMESPACES
from fairway.domain.tenancy.submission_limits import MAX_BYTES, MAX_PENDING, MAX_RATE
from fairway.workloads.kinds.batch_job import JOB
from fairway.workloads.settings import policies, queues, quota_trees, tenant_profiles, volcano_queues


class Meaning(Enum):
    """READ: a reader looks at it, and at all that is in it. UNKNOWN: it is none of this object's."""

    READ = "read"
    UNKNOWN = "unknown"


class NotActedOn(Struct, frozen=True):
    """A known field by which nothing changes: `text` says what holds whatever it says. With a value of `unless` it asks
    for nothing else, and one that is `read` is acted on."""

    text: str
    unless: tuple[object, ...] = ()
    read: Callable[[str], bool] | None = None

    def of(self, value: object) -> bool:
        """Whether nothing changes by this value."""
        if self.read is not None and isinstance(value, str) and self.read(value):
            return False
        return not any(value is one or value == one for one in self.unless)


# By key; `prefix/*` stands for all others with this prefix, and `*` for all others.
Fields = Mapping[str, Union[Meaning, NotActedOn, "Fields"]]
READ = Meaning.READ
UNKNOWN = Meaning.UNKNOWN
_HEAD: Fields = {"apiVersion": READ, "kind": READ, "metadata": READ, "status": READ}

_WHOLE = "a job runs whole, in one cluster"
_AT_ONCE = "what is left of an attempt is removed at once, before the next one begins"
_PLACEMENT: Fields = {
    "clusterAffinity": READ,
    "clusterAffinities": READ,
    "clusterTolerations": {
        **dict.fromkeys(("key", "operator", "value", "effect"), READ),
        "tolerationSeconds": NotActedOn("a taint that comes later moves no job away"),
    },
    "spreadConstraints": dict.fromkeys(("spreadByField", "spreadByLabel", "minGroups", "maxGroups"), READ),
    "replicaScheduling": {
        "customSchedulingType": READ,
        "replicaSchedulingType": READ,
        "replicaDivisionPreference": NotActedOn(_WHOLE, ("Aggregated",)),
        "weightPreference": NotActedOn(_WHOLE),
    },
}
_FAILOVER: Fields = {
    "application": {
        "decisionConditions": {"tolerationSeconds": READ},
        "purgeMode": NotActedOn(_AT_ONCE, ("Immediately", "Directly")),
        "gracePeriodSeconds": NotActedOn(_AT_ONCE),
        "statePreservation": NotActedOn("nothing of an attempt's status is carried over to the next one"),
    },
    "cluster": NotActedOn("what becomes of the jobs of a lost cluster is the same for all"),
}
_POLICY: Fields = {
    **_HEAD,
    "spec": {
        "resourceSelectors": READ,
        "placement": _PLACEMENT,
        "priority": READ,
        "suspension": {
            "scheduling": NotActedOn("every job waits for its turn in its queue", (True,)),
            "dispatching": READ,
            "dispatchingOnClusters": READ,
        },
        "failover": _FAILOVER,
        "preserveResourcesOnDeletion": READ,
        "autoScaling": READ,
        "propagateDeps": READ,
        "association": READ,
        "preemption": NotActedOn("a policy takes over no job that has another one", ("Never",)),
        "conflictResolution": NotActedOn("an object that Fairway did not make is never overwritten", ("Abort",)),
        "activationPreference": NotActedOn("a change of the policy reaches the jobs that wait at once"),
        "schedulerName": NotActedOn("there is one scheduler for all policies", ("default-scheduler",)),
        "schedulePriority": NotActedOn("the order is that of the PriorityClass in the pod template"),
        "dependentOverrides": NotActedOn("there are no override policies here, and none is waited for"),
    },
}

_NOBODYS = NotActedOn("nothing here reads it")
_ATTRIBUTES: Fields = {
    **dict.fromkeys((ALLOW_NAMESPACES, MAX_PENDING, MAX_RATE, MAX_BYTES), READ),
    **dict.fromkeys((LEND_LIMIT, PREEMPT_POLICY, WEIGHT, DOMAIN, ORDER), READ),
    **dict.fromkeys((RECLAIM_AFTER, PREEMPT_AFTER, MIN_RUNTIME, MAX_EVICTIONS, MAX_GRACE), READ),
    SHARED_WEIGHT: NotActedOn(f"a node has one weight for all resources: a whole number in {WEIGHT}", read=is_weight),
    "resourceflavors": NotActedOn("a quota counts resources by name, whatever nodes have them"),
    "fairway.io/*": UNKNOWN,
    "*": _NOBODYS,
}
_NODE: dict[str, Meaning | NotActedOn | Fields] = {
    **dict.fromkeys(("name", "namespaces", "min", "max"), READ),
    "attributes": _ATTRIBUTES,
}
_NODE["children"] = _NODE
_ALONE = NotActedOn("the root has no siblings that it could lend to or share with")
_ROOT: Fields = {
    **_NODE,
    "name": NotActedOn("the root is called root", (quota_trees.ROOT,)),
    "attributes": {**_ATTRIBUTES, **dict.fromkeys((LEND_LIMIT, WEIGHT, SHARED_WEIGHT), _ALONE)},
}
_TREE: Fields = {
    **_HEAD,
    "metadata": {"annotations": {"fairway.io/*": UNKNOWN, "*": READ}, "*": READ},
    "spec": {"root": _ROOT},
}

_QUEUES_OWN: Fields = {
    f"{product}/{key}": meaning
    for product in ("kube-queue", "koord-queue")
    for key, meaning in {
        "wait-for-pods-running": NotActedOn("the next job may go when the one before has its room, running or not"),
        "enable-queueunit-preemption": NotActedOn("who goes for others is said by the quota tree and PriorityClasses"),
        "max-depth": NotActedOn("every job that waits is looked at", ("-1",)),
        "*": _NOBODYS,
    }.items()
}
_OTHER_WORD = NotActedOn(f"the label is {queues.POLICY_LABEL} here, or write spec.queuePolicy")
_QUEUE: Fields = {
    **_HEAD,
    "metadata": {
        "labels": {
            queues.POLICY_LABEL: READ,
            "koord-queue/queue-policy": _OTHER_WORD,
            "kube-queue/*": _NOBODYS,
            "koord-queue/*": _NOBODYS,
            "*": READ,
        },
        "annotations": {**_QUEUES_OWN, queues.LEAF_ANNOTATION: READ, "*": READ},
        "*": READ,
    },
    "spec": {
        "queuePolicy": READ,
        "priority": READ,
        "priorityClassName": READ,
        "admissionChecks": NotActedOn("jobs are let go without such checks"),
    },
}

_SHARES = NotActedOn("what a queue gets is its order, and the quota of its jobs' leaves")
_AT_MOST = NotActedOn("what its jobs use at once is bounded by the max of their leaves in the ElasticQuotaTree")
_FLAT = NotActedOn("queues lie side by side; a hierarchy is that of the ElasticQuotaTree")
_VOLCANO_QUEUE: Fields = {
    **_HEAD,
    "metadata": {
        "annotations": {"volcano.sh/*": _FLAT, **_QUEUES_OWN, queues.LEAF_ANNOTATION: READ, "*": READ},
        "*": READ,
    },
    "spec": {
        "priority": READ,
        # Who goes for others is said by the quota tree and PriorityClasses, whatever it says.
        "reclaimable": READ,
        "weight": NotActedOn(_SHARES.text, (1,)),
        **dict.fromkeys(("deserved", "guarantee"), _SHARES),
        "capability": _AT_MOST,
        "parent": NotActedOn(_FLAT.text, ("root",)),
        # Of what other versions of Volcano have there is none that is acted on.
        "*": _NOBODYS,
    },
}

_PROFILE: Fields = {**_HEAD, "spec": READ}

# Of Kueue, for a Job that may be started with fewer pods; no other kind has it.
MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
_ALL_PODS = NotActedOn("a Job starts with as many pods as it asks for, or waits")
_JOB: Fields = {"metadata": {"annotations": {MIN_PARALLELISM: _ALL_PODS, "*": READ}, "*": READ}, "*": READ}

# By `Kind.group/version`.
KNOWN: Mapping[str, Fields] = {
    **{
        f"{kind}.{group}": _POLICY for kind in (policies.NAMESPACED, policies.CLUSTER_WIDE) for group in policies.GROUPS
    },
    f"{quota_trees.KIND}.{quota_trees.API_VERSION}": _TREE,
    f"{queues.KIND}.{queues.API_VERSION}": _QUEUE,
    volcano_queues.KIND: _VOLCANO_QUEUE,
    f"{tenant_profiles.KIND}.{tenant_profiles.API_VERSION}": _PROFILE,
    JOB.key: _JOB,
}
