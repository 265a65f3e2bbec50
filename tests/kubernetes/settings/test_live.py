"""In the shared fleet, with real members: a policy that is changed by kubectl moves a job that waits under it."""

from typing import Any

from tests.kubernetes.support.fleet import Json, RealFleet, in_namespace, until

POLICIES = "policy.karmada.io/v1alpha1/propagationpolicies"


def policy(tenant: str, labels: dict[str, str]) -> Json:
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": "moved", "namespace": tenant},
        "spec": {
            "resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job", "name": "moved"}],
            "placement": {"clusterAffinity": {"labelSelector": {"matchLabels": labels}}},
        },
    }


def job(tenant: str) -> Json:
    pod: dict[str, Any] = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x", "command": ["x"]}]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "moved", "namespace": tenant},
        "spec": {"template": {"spec": pod}},
    }


def reasons(fleet: RealFleet, tenant: str) -> set[str]:
    found = fleet.hub.items(in_namespace("v1/events", tenant))
    return {one["reason"] for one in found if one["involvedObject"]["name"] == "moved"}


def test_a_job_that_no_cluster_may_take_goes_when_its_policy_lets_it(fleet: RealFleet, tenant: str) -> None:
    hub = fleet.hub
    hub.apply(policy(tenant, {"no": "such-label"}), job(tenant))
    until(lambda: "NoClusterEver" in reasons(fleet, tenant), "the job is told that no cluster may take it")
    assert fleet.where("Job", tenant, "moved") == []
    changed = policy(tenant, {})
    changed["spec"]["placement"] = {"clusterAffinity": {"clusterNames": ["north"]}}
    hub.apply(changed)
    until(lambda: fleet.where("Job", tenant, "moved") == ["north"], "the job is in north")
