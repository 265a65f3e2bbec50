"""One setting of each kind that the hub's service and the gateway write to."""

from tests.kubernetes.support.kinds import Json


def setting(api: str, kind: str, spec: Json, namespace: str = "spare") -> Json:
    # One name in both groups would be one policy.
    name = f"set.{api.partition('/')[0]}"
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


_NOBODY = {
    "resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job", "labelSelector": {"matchLabels": {"no": "body"}}}],
    "placement": {},
}
_POLICIES = ("policy.karmada.io/v1alpha1", "policy.one.alibabacloud.com/v1alpha1")
_SCOPES = ("PropagationPolicy", "ClusterPropagationPolicy")
_TENANTS = ["hub-lives", "hub-along", "lost", "spare"]
_AMOUNT = {"cpu": 1000}
_LEAF = {"name": "leaf", "namespaces": _TENANTS, "min": _AMOUNT, "max": _AMOUNT}
_CLASS = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "set"}, "value": 77}
SETTINGS = (
    _CLASS,
    *(setting(group, scope, _NOBODY) for group in _POLICIES for scope in _SCOPES),
    setting("scheduling.x-k8s.io/v1alpha1", "Queue", {"queuePolicy": "Block"}, "kube-system"),
    setting("fairway.io/v1alpha1", "TenantProfile", {"namespaces": ["nobody"]}),
    setting(
        "scheduling.sigs.k8s.io/v1beta1",
        "ElasticQuotaTree",
        {"root": {"name": "root", "min": _AMOUNT, "max": _AMOUNT, "children": [_LEAF]}},
        "kube-system",
    ),
)

SETTINGS_KINDS = {
    *("propagationpolicies", "clusterpropagationpolicies", "elasticquotatrees", "queues", "priorityclasses"),
    "tenantprofiles",
}
