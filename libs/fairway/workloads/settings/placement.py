"""`spec.placement` of a policy, in the words of Karmada: which clusters, in which order, as a gang or not.

Fairway puts a whole job in one cluster. A field that asks for anything else is refused by name: to ignore it
would run the job where its owner did not mean it to run.
"""

from fairway.wire.policy import Affinity, Placement
from fairway.wire.workload import Expression
from fairway.workloads.reading.fields import Field
from fairway.workloads.reading.names import is_name
from fairway.workloads.reading.node_rules import read_expression, read_tolerations

_PLACEMENT = (
    "clusterAffinity",
    "clusterAffinities",
    "clusterTolerations",
    "spreadConstraints",
    "replicaScheduling",
)
_AFFINITY = ("affinityName", "clusterNames", "exclude", "labelSelector")
# The CRDs have the same bounds: what their rules cost is reckoned with the largest policy they take.
MOST_TIERS = 50
MOST_EXPRESSIONS = 50
_REPLICAS = (
    "customSchedulingType",
    "replicaSchedulingType",
    "replicaDivisionPreference",
    "weightPreference",
)


def only(field: Field, *known: str) -> None:
    """Refuse every key that is not known: a policy decides where a job runs, so a typing error must show."""
    for key, entry in field.pairs():
        if key not in known and entry.value not in (None, {}, [], False):
            entry.wrong("is not supported", f"remove it; supported here: {', '.join(known) or 'nothing'}")


def read_labels(selector: Field) -> tuple[Expression, ...]:
    """A label selector as one list of expressions, all of which must hold."""
    only(selector, "matchLabels", "matchExpressions")
    equal = tuple(
        Expression(key=key, operator="In", values=(value,))
        for key, value in sorted(selector["matchLabels"].strings().items())
    )
    entries = selector["matchExpressions"].items(MOST_EXPRESSIONS)
    for entry in entries:
        if entry["operator"].value in ("Gt", "Lt"):
            entry["operator"].wrong("compares numbers, which a label selector cannot", "use In with the values")
    return equal + tuple(read_expression(entry) for entry in entries)


def read_placement(field: Field) -> Placement:
    only(field, *_PLACEMENT)
    one = field["clusterAffinity"]
    many = field["clusterAffinities"]
    if one.given and many.given:
        many.wrong("stands beside clusterAffinity", "keep one of the two")
    affinities = tuple(_affinity(entry) for entry in many.items(MOST_TIERS))
    if not affinities:
        affinities = (_affinity(one),)
    for entry in field["spreadConstraints"].items(MOST_EXPRESSIONS):
        _spread(entry)
    return Placement(
        affinities=affinities,
        tolerations=read_tolerations(field["clusterTolerations"]),
        gang=_gang(field["replicaScheduling"]),
    )


def _affinity(field: Field) -> Affinity:
    only(field, *_AFFINITY)
    return Affinity(
        name=field["affinityName"].text(),
        cluster_names=_clusters(field["clusterNames"]),
        exclude=_clusters(field["exclude"]),
        labels=read_labels(field["labelSelector"]),
    )


def _clusters(field: Field) -> tuple[str, ...]:
    for entry in field.items():
        if not is_name(entry.text()):
            entry.wrong("is not a cluster name", "use the name that `fairway get clusters` shows")
    return field.texts()


def _spread(field: Field) -> None:
    """One group of clusters is what Fairway does anyway; more would divide the job."""
    most = field["maxGroups"].whole(0)
    least = field["minGroups"].whole(0)
    by = field["spreadByField"].choice("cluster", "region", "zone", "provider")
    if field["spreadByLabel"].given or by != "cluster" or least > 1 or most > 1:
        field.wrong(
            "spreads one job over several groups of clusters; Fairway runs a job in one cluster",
            "remove it, or set spreadByField: cluster with minGroups: 1 and maxGroups: 1",
        )


def _gang(field: Field) -> bool:
    """True for Gang and when nothing is said; Divided + Aggregated asks for less than a gang."""
    only(field, *_REPLICAS)
    kind = field["replicaSchedulingType"].choice("Duplicated", "Divided")
    division = field["replicaDivisionPreference"].choice("Weighted", "Aggregated")
    if field["customSchedulingType"].choice("", "Gang") == "Gang" or not field.given:
        return True
    if kind == "Duplicated":
        field["replicaSchedulingType"].wrong(
            "Duplicated runs a full copy in every cluster; Fairway runs a job once",
            "set customSchedulingType: Gang",
        )
    elif division != "Aggregated":
        field["replicaDivisionPreference"].wrong(
            "Weighted divides one job over several clusters; Fairway runs a job in one",
            "set customSchedulingType: Gang",
        )
    return False
