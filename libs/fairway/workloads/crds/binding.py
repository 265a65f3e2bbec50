"""ResourceBinding: one for each job, as a Karmada user expects it. Fairway writes it, nobody needs to.

Without the status subresource, so that one server-side apply writes spec and status together.
"""

from fairway.workloads.crds.crd import AGE, CONDITIONS, CrdKind, column, crd
from fairway.workloads.crds.schema import ANYTHING, Json, flag, many, obj, text, whole

_RAW: Json = {"type": "object", **ANYTHING}
_TARGET = obj({"name": text(), "replicas": whole(least=0)}, required=("name",))
_SPEC = obj(
    {
        "resource": obj(
            {name: text() for name in ("apiVersion", "kind", "namespace", "name", "uid", "resourceVersion")},
            required=("apiVersion", "kind", "name"),
            about="The job that this is the binding of.",
        ),
        "replicas": whole("Pods of the whole job.", least=0),
        "clusters": many(_TARGET, about="Where the job is; none while it waits."),
        "suspension": obj({"scheduling": flag("True while the job waits in its queue.")}),
        "placement": _RAW,
        "replicaRequirements": _RAW,
        "components": many(_RAW),
        "schedulerName": text(),
    },
    required=("resource",),
)
_AGGREGATED = obj(
    {
        "clusterName": text(),
        "applied": flag(),
        "appliedMessage": text(),
        "health": text(enum=["Healthy", "Unhealthy", "Unknown"]),
        "status": _RAW,
    },
    required=("clusterName",),
)
_STATUS = obj(
    {
        "schedulerObservedGeneration": whole(least=0, most=2**53 - 1),
        "lastScheduledTime": text(format="date-time"),
        "conditions": {**CONDITIONS, "description": "Queuing, Scheduled and FullyApplied, with their reasons."},
        "aggregatedStatus": many(_AGGREGATED, about="What the member says of the job."),
    }
)


def _condition(name: str) -> str:
    return f'.status.conditions[?(@.type=="{name}")].status'


def definition() -> Json:
    columns = (
        column("Scheduled", _condition("Scheduled")),
        column("FullyApplied", _condition("FullyApplied")),
        column("Cluster", ".spec.clusters[*].name"),
        AGE,
        column("Queuing", _condition("Queuing"), wide=True),
        column("Why", '.status.conditions[?(@.type=="Scheduled")].message', wide=True),
    )
    kind = CrdKind(
        api_version="work.karmada.io/v1alpha2",
        kind="ResourceBinding",
        plural="resourcebindings",
        about="Where a job is and why: written by Fairway for every job of the hub.",
        short=("rb",),
        categories=("karmada-io",),
        subresource=False,
        columns=columns,
    )
    return crd(kind, _SPEC, status=_STATUS)
