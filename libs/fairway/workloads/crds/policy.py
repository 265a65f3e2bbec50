"""PropagationPolicy and ClusterPropagationPolicy of every group that is read: one schema for all of them."""

from fairway.workloads.crds.crd import AGE, READY, WHY, CrdKind, column, crd
from fairway.workloads.crds.placement import LABELS, PLACEMENT
from fairway.workloads.crds.schema import ANYTHING, LABEL, Json, flag, many, obj, rule, text, unsupported, whole
from fairway.workloads.settings.policies import CLUSTER_WIDE, GROUPS, MOST_SELECTORS, NAMESPACED

_WEEK_S = 7 * 24 * 3_600


_ALONG = (
    "False: ConfigMaps, Secrets, service accounts and claims that a job's pods name stay where they are. "
    "What resourceSelectors names of them goes along all the same."
)
_IN_VAIN = "Known and without effect; what holds instead is in the condition Ready."


_SELECTOR = obj(
    {
        "apiVersion": text("Of the jobs, such as kubeflow.org/v1; v1 of what goes along with them."),
        "kind": text(
            "Of the jobs, such as PyTorchJob; or ConfigMap, Secret, ServiceAccount, PersistentVolumeClaim, each by its "
            "name: it goes along with the jobs that this policy selects."
        ),
        "namespace": text(
            "Empty: the policy's own, or every one for a ClusterPropagationPolicy.", pattern=f"^$|{LABEL}"
        ),
        "name": text("One object by name; labelSelector does not count then."),
        "labelSelector": LABELS,
    },
    rule(
        "has(self.apiVersion) && self.apiVersion != '' && has(self.kind) && self.kind != ''",
        "apiVersion or kind",
        "is missing",
        "name the kind this policy is for",
    ),
)


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
                "purgeMode",
                "Never would leave the failed copy beside the next one",
                "remove it; Fairway clears up first",
            ),
        ),
        "cluster": dict(ANYTHING) | {"type": "object"},
    }
)

_SPEC = obj(
    {
        "resourceSelectors": many(
            _SELECTOR, MOST_SELECTORS, "The jobs that this policy is for, and what goes along with them."
        ),
        "placement": PLACEMENT,
        "priority": whole("Of two policies that select one job, the higher decides."),
        "suspension": _SUSPENSION,
        "failover": _FAILOVER,
        "propagateDeps": flag(_ALONG),
        "association": flag(_ALONG),
        "preemption": text(_IN_VAIN),
        "conflictResolution": text(_IN_VAIN),
        "activationPreference": text(_IN_VAIN),
        "schedulerName": text(_IN_VAIN),
        "dependentOverrides": many(text(), about=_IN_VAIN),
        "preserveResourcesOnDeletion": flag(),
        "autoScaling": obj({"ecsProvision": flag()}),
    },
    rule(
        "has(self.resourceSelectors) && size(self.resourceSelectors) > 0",
        "spec.resourceSelectors",
        "is empty, so the policy selects nothing",
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
)

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
    kind = CrdKind(
        api_version=group,
        kind=name,
        plural=f"{name[:-1].lower()}ies",
        about="Which jobs may run where. Changes reach jobs that still wait; running ones stay where they are.",
        namespaced=name == NAMESPACED,
        short={NAMESPACED: ("pp",), CLUSTER_WIDE: ("cpp",)}[name] if group == GROUPS[0] else (),
        columns=_COLUMNS,
    )
    return crd(kind, _SPEC)
