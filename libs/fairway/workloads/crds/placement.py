"""The schema of a policy's placement: which clusters, in which order, as a gang or not."""

from fairway.workloads.crds.schema import ANYTHING, SUBDOMAIN, many, obj, rule, strings, text, unsupported, whole
from fairway.workloads.settings.placement import MOST_EXPRESSIONS, MOST_TIERS

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
        "values",
        "do not go with the operator",
        "In and NotIn need at least one, Exists and DoesNotExist take none",
    ),
    required=("key", "operator"),
)


LABELS = obj({"matchLabels": strings(), "matchExpressions": many(_EXPRESSION, MOST_EXPRESSIONS)})


_AFFINITY = obj(
    {
        "affinityName": text("The name of this tier."),
        "clusterNames": {**_CLUSTERS, "description": "Clusters by name; none: all of them."},
        "exclude": {**_CLUSTERS, "description": "Clusters that are out."},
        "labelSelector": LABELS,
        "fieldSelector": obj({"matchExpressions": many({"type": "object", **ANYTHING})}),
    },
    unsupported(
        "fieldSelector",
        "!has(self.fieldSelector) || !has(self.fieldSelector.matchExpressions)"
        " || size(self.fieldSelector.matchExpressions) == 0",
    ),
)


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
        "spreadConstraints",
        "spread one job over several groups of clusters, but Fairway runs a job in one",
        "remove them, or set spreadByField: cluster with minGroups: 1 and maxGroups: 1",
    ),
)


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
        "replicaSchedulingType",
        "is Duplicated, a full copy in every cluster, but Fairway runs a job once",
        "set customSchedulingType: Gang",
    ),
    rule(
        f"{_GANG} || !({_DIVIDED}) || has(self.replicaDivisionPreference)"
        " && self.replicaDivisionPreference == 'Aggregated'",
        "replicaDivisionPreference",
        "is Weighted, which divides one job over several clusters",
        "set customSchedulingType: Gang",
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
        "key",
        "is empty",
        "name the taint, or set operator: Exists to tolerate every taint",
    ),
    rule(
        "!has(self.value) || self.value == '' || !has(self.operator) || self.operator != 'Exists'",
        "value",
        "is given, but Exists takes none",
        "remove the value, or use operator: Equal",
    ),
)

PLACEMENT = obj(
    {
        "clusterAffinity": _AFFINITY,
        "clusterAffinities": many(_AFFINITY, MOST_TIERS, "Tried in order: the next when the one before has no room."),
        "clusterTolerations": many(TOLERATION, MOST_EXPRESSIONS),
        "spreadConstraints": many(_SPREAD, MOST_EXPRESSIONS),
        "replicaScheduling": _REPLICAS,
    },
    rule(
        "!(has(self.clusterAffinity) && has(self.clusterAffinities))",
        "clusterAffinities",
        "stands beside clusterAffinity",
        "keep one of the two",
    ),
    about="Where a job may run: whole, in one cluster.",
)
