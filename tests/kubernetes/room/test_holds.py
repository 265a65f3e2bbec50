"""Room held in the members of the shared fleet, as users and operators see it: from kubectl on the hub to the pods."""

from typing import Any

import pytest

from tests.kubernetes.support.fleet import Api, RealFleet, until

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
RESERVATIONS = "scheduling.koordinator.sh/v1alpha1/reservations"


def policy(tenant: str, cluster: str, **annotations: str) -> Json:
    ours = {f"fairway.io/{name}": text for name, text in annotations.items()}
    selectors = [{"apiVersion": "batch/v1", "kind": "Job"}, {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"}]
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": "here", "namespace": tenant, "annotations": ours},
        "spec": {"resourceSelectors": selectors, "placement": {"clusterAffinity": {"clusterNames": [cluster]}}},
    }


def template(gpus: int, runs: str = "600s") -> Json:
    container = {"name": "pytorch", "image": "x", "resources": {"limits": {GPU: str(gpus), "cpu": "1"}}}
    spec = {"containers": [container], "restartPolicy": "Never", "terminationGracePeriodSeconds": 0}
    return {"metadata": {"annotations": {"fairway.test/run-for": runs}}, "spec": spec}


def job(tenant: str, name: str, pods: int, gpus: int = 1, **more: Any) -> Json:
    spec = {"parallelism": pods, "completions": pods, "template": template(gpus, **more)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": tenant}, "spec": spec}


def pytorch(tenant: str, name: str, workers: int, gpus: int = 1) -> Json:
    roles = {"Master": 1, "Worker": workers}
    specs = {role: {"replicas": count, "template": template(gpus)} for role, count in roles.items()}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name, "namespace": tenant},
        "spec": {"pytorchReplicaSpecs": specs},
    }


def running(member: Api, tenant: str, pods: int) -> list[Json]:
    """The pods of the tenant, once so many are running."""

    def look() -> list[Json]:
        found = [one for one in member.pods(tenant) if one["status"].get("phase") == "Running"]
        return found if len(found) == pods else []

    return until(look, f"{pods} pods run in {member.name}")


def said(fleet: RealFleet, tenant: str, name: str, kind: str) -> list[Json]:
    """What the record has of a job, of one kind of message."""
    story = fleet.explained("story", tenant, name) or {"record": []}
    return [one for one in story["record"] if one["type"] == kind]


def holders(member: Api, tenant: str) -> list[str]:
    """What holds room in the member for jobs of the tenant; their pods' names begin with its jobs' names."""
    reservations = [one for one in member.items(RESERVATIONS) if tenant in str(one["spec"].get("owners"))]
    placeholders = member.pods("fairway-system", selector="fairway.io/placeholder")
    return [one["metadata"]["name"] for one in (*reservations, *placeholders) if _of(one, tenant)]


def _of(manifest: Json, tenant: str) -> bool:
    """Jobs here are named like their tenant."""
    return manifest["metadata"]["labels"]["fairway.io/job"].startswith(tenant[:40])


def empty(fleet: RealFleet, cluster: str, tenant: str) -> None:
    """Neither pods nor anything that holds room for them."""
    member = fleet.members[cluster]
    until(lambda: not member.pods(tenant) and not holders(member, tenant), f"nothing of {tenant} is left in {cluster}")


CASES = [
    pytest.param("north", {}, "placeholders", id="kube-scheduler: placeholders"),
    pytest.param("west", {}, "reservations", id="koord-scheduler: Reservations"),
    pytest.param("south", {}, "", id="Volcano may schedule them: the ledger"),
    pytest.param("north", {"reserve": "ledger"}, "", id="the policy wants the ledger alone"),
    pytest.param("west", {"reserve": "placeholders"}, "", id="the policy cannot have what the cluster has not"),
]


@pytest.mark.parametrize(("cluster", "annotations", "way"), CASES)
def test_room_is_held_as_cluster_and_policy_say_and_the_whole_gang_runs(
    fleet: RealFleet, tenant: str, cluster: str, annotations: dict[str, str], way: str
) -> None:
    fleet.hub.apply(policy(tenant, cluster, **annotations), pytorch(tenant, tenant[:30], workers=2))
    pods = running(fleet.members[cluster], tenant, 3)
    assert {one["metadata"]["labels"].get("fairway.io/hold", "") for one in pods} == {way}
    # A member that is busy may not hold the room in time: then there is another attempt.
    assert {one.get("hold", "") for one in said(fleet, tenant, tenant[:30], "reserved")} == {way}
    if way == "placeholders":  # koord-scheduler only prefers what is reserved for a pod
        (reserved,) = said(fleet, tenant, tenant[:30], "reserved")
        planned = sorted(slot["node"] for slot in reserved["slots"] for _ in range(slot["count"]))
        assert sorted(one["spec"]["nodeName"] for one in pods) == planned
    until(lambda: not holders(fleet.members[cluster], tenant), "what held room is gone")


@pytest.mark.parametrize("cluster", ["north", "west"])
def test_a_deleted_job_leaves_neither_pods_nor_room(fleet: RealFleet, tenant: str, cluster: str) -> None:
    fleet.hub.apply(policy(tenant, cluster), job(tenant, tenant[:30], pods=3))
    until(lambda: fleet.where("Job", tenant, tenant[:30]), "the job is in its member")
    fleet.hub.kubectl("delete", "job", tenant[:30], "-n", tenant)
    empty(fleet, cluster, tenant)


@pytest.mark.parametrize("cluster", ["north", "west"])
def test_a_failed_attempt_gives_its_room_back(fleet: RealFleet, tenant: str, cluster: str) -> None:
    failing = job(tenant, tenant[:30], pods=2, runs="1s")
    failing["spec"]["backoffLimit"] = 0
    failing["spec"]["template"]["metadata"]["annotations"]["fairway.test/exit-code"] = "3"
    fleet.hub.apply(policy(tenant, cluster, **{"max-attempts": "1"}), failing)
    until(lambda: said(fleet, tenant, tenant[:30], "failed"), "the job has failed")
    until(lambda: not holders(fleet.members[cluster], tenant), "what held room is gone")


def test_room_that_the_member_does_not_give_sends_the_job_elsewhere(fleet: RealFleet, tenant: str) -> None:
    """A webhook there refuses whatever would hold room; nothing of it shows in the agent's numbers."""
    fleet.members["north"].create(VALIDATING, refusal(tenant))
    fleet.members["north"].create(BINDING, {"metadata": {"name": tenant}, "spec": bound(tenant)})
    try:
        until(lambda: refused(fleet.members["north"], tenant), "the member refuses placeholders")
        both = policy(tenant, "north")
        both["spec"]["placement"] = {
            "clusterAffinities": [
                {"affinityName": "first", "clusterNames": ["north"]},
                {"affinityName": "then", "clusterNames": ["west"]},
            ]
        }
        fleet.hub.apply(both, job(tenant, tenant[:30], pods=2))
        running(fleet.members["west"], tenant, 2)
        (lost, *_) = said(fleet, tenant, tenant[:30], "lost")
        assert (lost["cluster"], lost["why"]["code"]) == ("north", "RoomTaken")
        assert "no room for tests" in lost["why"]["text"]
    finally:
        fleet.members["north"].delete(f"{BINDING}/{tenant}")
        fleet.members["north"].delete(f"{VALIDATING}/{tenant}")


VALIDATING = "admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDING = "admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"


def refusal(tenant: str) -> Json:
    """Of placeholders of this tenant's jobs only: the fleet is shared."""
    mine = f"!object.metadata.name.startsWith('{tenant[:30]}')"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    return {
        "metadata": {"name": tenant},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [rule],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "fairway-system"}},
            },
            "validations": [{"expression": mine, "message": "no room for tests"}],
        },
    }


def bound(tenant: str) -> Json:
    return {"policyName": tenant, "validationActions": ["Deny"]}


def refused(member: Api, tenant: str) -> bool:
    """Asked of the server without making anything, for a pod that the namespace's level of Pod Security allows."""
    harmless = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    pod = {
        "metadata": {"name": f"{tenant[:30]}-dry"},
        "spec": {
            "containers": [{"name": "c", "image": "x", "securityContext": harmless}],
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        },
    }
    answer = member.http.post("/api/v1/namespaces/fairway-system/pods", params={"dryRun": "All"}, json=pod)
    return "no room for tests" in answer.text
