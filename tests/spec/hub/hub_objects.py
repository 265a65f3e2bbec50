"""Builders of hub objects, as an API server gives them."""

from typing import Any

from fairway.workloads.hub.objects import HubObject, hub_object

Json = dict[str, Any]
JOB = "Job.batch/v1"
PP = "PropagationPolicy.policy.karmada.io/v1alpha1"
CPP = "ClusterPropagationPolicy"
ONE = "PropagationPolicy.policy.one.alibabacloud.com/v1alpha1"
TREE = "ElasticQuotaTree.scheduling.sigs.k8s.io/v1beta1"
QUEUE = "Queue.scheduling.x-k8s.io/v1alpha1"
VOLCANO_QUEUE = "Queue.scheduling.volcano.sh/v1beta1"
CLASS = "PriorityClass.scheduling.k8s.io/v1"
PROFILE = "TenantProfile.fairway.io/v1alpha1"


def thing(kind: str, name: str, namespace: str = "team-a", **more: Any) -> Json:
    plain, _, version = kind.partition(".")
    meta = {"name": name, "uid": f"u-{namespace}-{name}", **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": plain, "metadata": {**meta, **more.pop("metadata", {})}, **more}


def job(name: str = "train", namespace: str = "team-a", **metadata: Any) -> HubObject:
    pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]}}
    return hub_object(JOB, thing(JOB, name, namespace, spec={"template": pod}, metadata=metadata))


def policy(name: str, *selectors: Json, namespace: str = "team-a", kind: str = PP, **metadata: Any) -> HubObject:
    spec = {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job", **one} for one in selectors or ({},)]}
    return hub_object(kind, thing(kind, name, namespace, spec=spec, metadata=metadata))


def tree(most: str = "8", name: str = "elasticquotatree") -> HubObject:
    root = {"name": "root", "min": {"cpu": most}, "max": {"cpu": most}, "children": []}
    return hub_object(TREE, thing(TREE, name, "kube-system", spec={"root": root}))
