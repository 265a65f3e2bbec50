"""PropagationPolicy and ClusterPropagationPolicy of every group that is read: one schema for all of them."""

from fairway.workloads.crds.parts import (
    AGE,
    ANYTHING,
    LABEL,
    READY,
    STATUS,
    SUBDOMAIN,
    WHY,
    Json,
    Kind,
    column,
    crd,
    flag,
    many,
    obj,
    rule,
    strings,
    text,
    unsupported,
    whole,
)  # fmt: skip
from fairway.workloads.settings.placement import MOST_EXPRESSIONS, MOST_TIERS
from fairway.workloads.settings.policies import CLUSTER_WIDE, GROUPS, MOST_SELECTORS, NAMESPACED

_WEEK_S = 7 * 24 * 3_600
_CLUSTERS = many(text(pattern=SUBDOMAIN, maxLength=253))

_EXPRESSION = obj(
    {
        "key": text("The label to compare."),
        "operator": text(enum=["In", "NotIn", "Exists", "DoesNotExist"]),
        "values": many(text()),
    },
    rule(
        "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0"
        " : !has(self.values) || size(self.values) == 0",
        "values", "do not go with the operator", "In and NotIn need at least one, Exists and DoesNotExist take none",
    ),
    required=("key", "operator"),
)  # fmt: skip
_LABELS = obj({"matchLabels": strings(), "matchExpressions": many(_EXPRESSION, MOST_EXPRESSIONS)})

_SELECTOR = obj(
    {
        "apiVersion": text("Of the jobs, such as kubeflow.org/v1."),
        "kind": text("Of the jobs, such as PyTorchJob."),
        "namespace": text("Empty: the policy's own, or every one for a ClusterPropagationPolicy.",
                          pattern=f"^$|{LABEL}"),
        "name": text("One job by name; labelSelector does not count then."),
        "labelSelector": _LABELS,
    },
    rule(
        "has(self.apiVersion) && self.apiVersion != '' && has(self.kind) && self.kind != ''",
        "apiVersion or kind", "is missing", "name the kind this policy is for",
    ),
)  # fmt: skip

_AFFINITY = obj(
    {
        "affinityName": text("The name of this tier."),
        "clusterNames": {**_CLUSTERS, "description": "Clusters by name; none: all of them."},
        "exclude": {**_CLUSTERS, "description": "Clusters that are out."},
        "labelSelector": _LABELS,
        "fieldSelector": obj({"matchExpressions": many({"type": "object", **ANYTHING})}),
    },
    unsupported(
        "fieldSelector",
        "!has(self.fieldSelector) || !has(self.fieldSelector.matchExpressions)"
        " || size(self.fieldSelector.matchExpressions) == 0",
    ),
)

TOLERATION = obj(
    {
        "key": text(),
        "operator": text(enum=["", "Equal", "Exists"]),
        "value": text(),
        "effect": text(enum=["", "NoSchedule", "PreferNoSchedule", "NoExecute"]),
    },
    rule(
        "has(self.key) && self.key != '' || has(self.operator) && self.operator == 'Exists'",
        "key", "is empty", "name the taint, or set operator: Exists to tolerate every taint",
    ),
    rule(
        "!has(self.value) || self.value == '' || !has(self.operator) || self.operator != 'Exists'",
        "value", "is given, but Exists takes none", "remove the value, or use operator: Equal",
    ),
)  # fmt: skip

_SPREAD = obj(
    {
        "spreadByField": text(),
        "spreadByLabel": text(),
        "minGroups": whole(least=0),
        "maxGroups": whole(least=0),
    },
    rule(
        "!has(self.spreadByLabel) && (!has(self.spreadByField) || self.spreadByField == 'cluster')"
        " && (!has(self.minGroups) || self.minGroups <= 1) && (!has(self.maxGroups) || self.maxGroups <= 1)",
        "spreadConstraints", "spread one job over several groups of clusters, but Fairway runs a job in one",
        "remove them, or set spreadByField: cluster with minGroups: 1 and maxGroups: 1",
    ),
)  # fmt: skip

_GANG = "has(self.customSchedulingType) && self.customSchedulingType == 'Gang'"
_DIVIDED = "has(self.replicaSchedulingType) && self.replicaSchedulingType == 'Divided'"
_REPLICAS = obj(
    {
        "customSchedulingType": text("Gang: all pods at once, in one cluster.", enum=["", "Gang"]),
        "replicaSchedulingType": text(enum=["Duplicated", "Divided"]),
        "replicaDivisionPreference": text(enum=["Weighted", "Aggregated"]),
        "weightPreference": dict(ANYTHING) | {"type": "object"},
    },
    rule(
        f"{_GANG} || {_DIVIDED}",
        "replicaSchedulingType", "is Duplicated, a full copy in every cluster, but Fairway runs a job once",
        "set customSchedulingType: Gang",
    ),
    rule(
        f"{_GANG} || !({_DIVIDED}) || has(self.replicaDivisionPreference)"
        " && self.replicaDivisionPreference == 'Aggregated'",
        "replicaDivisionPreference", "is Weighted, which divides one job over several clusters",
        "set customSchedulingType: Gang",
    ),
)  # fmt: skip

_PLACEMENT = obj(
    {
        "clusterAffinity": _AFFINITY,
        "clusterAffinities": many(_AFFINITY, MOST_TIERS, "Tried in order: the next when the one before has no room."),
        "clusterTolerations": many(TOLERATION, MOST_EXPRESSIONS),
        "spreadConstraints": many(_SPREAD, MOST_EXPRESSIONS),
        "replicaScheduling": _REPLICAS,
    },
    rule(
        "!(has(self.clusterAffinity) && has(self.clusterAffinities))",
        "clusterAffinities", "stands beside clusterAffinity", "keep one of the two",
    ),
    about="Where a job may run: whole, in one cluster.",
)  # fmt: skip

_SUSPENSION = obj(
    {
        "scheduling": flag("True, as when absent: jobs wait in their queue for their turn."),
        "dispatching": flag(),
        "dispatchingOnClusters": obj({"clusterNames": many(text())}),
    },
    unsupported("suspension.dispatching", "!has(self.dispatching) || !self.dispatching"),
    unsupported(
        "suspension.dispatchingOnClusters",
        "!has(self.dispatchingOnClusters) || !has(self.dispatchingOnClusters.clusterNames)"
        " || size(self.dispatchingOnClusters.clusterNames) == 0",
    ),
)

_FAILOVER = obj(
    {
        "application": obj(
            {
                "decisionConditions": obj(
                    {"tolerationSeconds": whole("How long an attempt may take to start.", 0, _WEEK_S)}
                ),
                "purgeMode": text(),
                "gracePeriodSeconds": whole(),
            },
            rule(
                "!has(self.purgeMode) || self.purgeMode != 'Never'",
                "purgeMode", "Never would leave the failed copy beside the next one",
                "remove it; Fairway clears up first",
            ),
        ),
        "cluster": dict(ANYTHING) | {"type": "object"},
    }
)  # fmt: skip

_SPEC = obj(
    {
        "resourceSelectors": many(_SELECTOR, MOST_SELECTORS, "The jobs that this policy is for."),
        "placement": _PLACEMENT,
        "priority": whole("Of two policies that select one job, the higher decides."),
        "suspension": _SUSPENSION,
        "failover": _FAILOVER,
        "propagateDeps": flag(),
        "association": flag(),
        "preemption": text(),
        "conflictResolution": text(),
        "activationPreference": text(),
        "schedulerName": text(),
        "dependentOverrides": many(text()),
        "preserveResourcesOnDeletion": flag(),
        "autoScaling": obj({"ecsProvision": flag()}),
    },
    rule(
        "has(self.resourceSelectors) && size(self.resourceSelectors) > 0",
        "spec.resourceSelectors", "is empty, so the policy selects nothing",
        "name the apiVersion and kind it is for",
    ),
    unsupported(
        "spec.preserveResourcesOnDeletion",
        "!has(self.preserveResourcesOnDeletion) || !self.preserveResourcesOnDeletion",
    ),
    unsupported(
        "spec.autoScaling.ecsProvision",
        "!has(self.autoScaling) || !has(self.autoScaling.ecsProvision) || !self.autoScaling.ecsProvision",
    ),
)  # fmt: skip

_COLUMNS = (
    READY,
    column("Priority", ".spec.priority", "integer"),
    column("Clusters", ".spec.placement.clusterAffinity.clusterNames"),
    AGE,
    WHY,
)


def definitions() -> list[Json]:
    return [_definition(group, kind) for group in GROUPS for kind in (NAMESPACED, CLUSTER_WIDE)]


def _definition(group: str, name: str) -> Json:
    api, _, version = group.partition("/")
    short = {NAMESPACED: ("pp",), CLUSTER_WIDE: ("cpp",)}[name] if group == GROUPS[0] else ()
    kind = Kind(
        group=api, version=version, kind=name, plural=f"{name[:-1].lower()}ies", namespaced=name == NAMESPACED,
        short=short, columns=_COLUMNS,
    )  # fmt: skip
    about = "Which jobs may run where. Changes reach jobs that still wait; running ones stay where they are."
    return crd(kind, about, {"spec": _SPEC, "status": STATUS}, required=("spec",))
