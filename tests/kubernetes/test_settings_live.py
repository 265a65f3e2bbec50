"""In the shared fleet, with real members: a policy that is changed by kubectl moves a job that waits under it."""

from typing import Any

from fleet import Json, RealFleet, condition, in_namespace, until

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


def test_a_job_that_no_cluster_may_take_goes_when_its_policy_lets_it(fleet: RealFleet, tenant: str) -> None:
    hub = fleet.hub
    hub.apply(policy(tenant, {"no": "such-label"}), job(tenant))
    until(lambda: fleet.explained("why", tenant, "moved")["reason"] == "NoClusterEver", "the job waits")
    assert fleet.where("Job", tenant, "moved") == []
    name = next(one for one in fleet.facts["clusters"]) if isinstance(fleet.facts.get("clusters"), dict) else "north"
    changed = policy(tenant, {})
    changed["spec"]["placement"] = {"clusterAffinity": {"clusterNames": [name]}}
    hub.apply(changed)
    until(lambda: fleet.where("Job", tenant, "moved") == [name], f"the job is in {name}")
    told = hub.get(in_namespace(POLICIES, tenant, "moved"))
    assert condition(told, "Ready") == "True"
