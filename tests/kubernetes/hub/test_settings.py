"""Settings on a real hub, beyond tests/kubernetes/settings: what is misspelt, or known and without effect, is named."""

from typing import Any

import pytest
import yaml

from tests.kubernetes.hub.fleet import HubFleet
from tests.kubernetes.hub.objects import condition_of
from tests.kubernetes.support.fleet import until
from tests.kubernetes.support.own_hub import path_of

Json = dict[str, Any]
SELECTS = {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job"}]}


def tree(**node: Any) -> Json:
    root = {"name": "root", "children": [{"name": "leaf", "namespaces": ["nobody"], **node}]}
    meta = {"name": "tried", "namespace": "kube-system"}
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1beta1",
        "kind": "ElasticQuotaTree",
        "metadata": meta,
        "spec": {"root": root},
    }


def queue(**spec: Any) -> Json:
    meta = {"name": "tried", "namespace": "kube-queue"}
    return {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "Queue", "metadata": meta, "spec": spec}


def policy(group: str = "policy.karmada.io", **spec: Any) -> Json:
    meta = {"name": "tried", "namespace": "default"}
    head = {"apiVersion": f"{group}/v1alpha1", "kind": "PropagationPolicy", "metadata": meta}
    return {**head, "spec": {**SELECTS, **spec}}


def for_all(**spec: Any) -> Json:
    return {**policy(**spec), "kind": "ClusterPropagationPolicy", "metadata": {"name": "tried"}}


MISSPELT = {
    "a tree": (tree(maxx={"cpu": 4}), "maxx"),
    "a queue": (queue(queuePolicey="Block"), "queuePolicey"),
    "a policy": (policy(placment={"clusterAffinity": {}}), "placment"),
    "a policy of the other group": (
        policy("policy.one.alibabacloud.com", placment={"clusterAffinity": {}}),
        "placment",
    ),
    "a policy for all namespaces": (
        for_all(placement={"clusterAfinity": {"clusterNames": ["near"]}}),
        "clusterAfinity",
    ),
}


def said(kept: HubFleet, manifest: Json, status: str) -> str:
    path = f"{path_of(manifest)}/{manifest['metadata']['name']}"

    def look() -> str:
        ready = condition_of(kept.hub.get(path), "Ready")
        return str(ready["message"]) if ready.get("status") == status else ""

    return until(look, f"{path} is Ready={status}; it has {(kept.hub.get(path) or {}).get('status')}")


def removed(kept: HubFleet, manifest: Json) -> None:
    path = f"{path_of(manifest)}/{manifest['metadata']['name']}"
    kept.hub.delete(path)
    until(lambda: kept.hub.get(path) is None, f"{path} is gone")


@pytest.mark.parametrize("case", MISSPELT)
def test_a_field_that_nobody_knows_is_named_by_the_server_or_in_the_condition(kept: HubFleet, case: str) -> None:
    manifest, field = MISSPELT[case]
    answer = kept.hub.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(manifest), check=False)
    try:
        assert field in (answer if "created" not in answer else said(kept, manifest, "False"))
    finally:
        removed(kept, manifest)


WITHOUT_EFFECT = {
    "an attribute of the scheduler": (tree(attributes={"resourceflavors": "x"}), "resourceflavors"),
    "the class of a queue that has a priority": (
        queue(priority=1, priorityClassName="high"),
        "spec.priorityClassName",
    ),
}


@pytest.mark.parametrize("case", WITHOUT_EFFECT)
def test_a_known_field_without_effect_is_named_by_a_setting_that_is_in_force(kept: HubFleet, case: str) -> None:
    manifest, field = WITHOUT_EFFECT[case]
    kept.hub.apply(manifest)
    try:
        message = said(kept, manifest, "True")
        assert "without effect" in message and field in message, message
    finally:
        removed(kept, manifest)
