"""Queues of Volcano, with Volcano itself in the member: those of the hub say whose jobs go first, and in the member
nothing of them holds back what was placed."""

from tests.kubernetes.support.fleet import KINDS, Json, RealFleet, in_namespace, namespace, until
from tests.kubernetes.support.pool import Pool, pool

QUEUES = "scheduling.volcano.sh/v1beta1/queues"
MEMBER = "south"


def queue(name: str, tenant: str, priority: int) -> Json:
    """With less capability than a job of it asks for."""
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name, "annotations": {"fairway.io/allow-namespaces": tenant}},
        "spec": {"priority": priority, "weight": 4, "capability": {"cpu": "1"}},
    }


def job(own: Pool, tenant: str, name: str) -> Json:
    """One pod that takes a whole node, in the queue of its name."""
    amounts = {"cpu": "2", "memory": "4Gi", "nvidia.com/gpu": "4"}
    container = {"name": "c", "image": "x", "resources": {"limits": amounts, "requests": amounts}}
    pod = {**own.pod_rules, "restartPolicy": "Never", "containers": [container]}
    template = {"metadata": {"annotations": {"fairway.test/run-for": "1h"}}, "spec": pod}
    spec = {"schedulerName": "volcano", "queue": f"{tenant}-{name}"}
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": tenant},
        "spec": {**spec, "tasks": [{"name": "w", "replicas": 1, "template": template}]},
    }


def policy(tenant: str) -> Json:
    selector = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}
    placement = {"clusterAffinity": {"clusterNames": [MEMBER]}}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": "all", "namespace": tenant},
        "spec": {"resourceSelectors": [selector], "placement": placement},
    }


def test_the_queue_of_the_higher_priority_goes_first_and_is_there_in_the_member(fleet: RealFleet, tenant: str) -> None:
    names = {"low": 1, "high": 10}
    hub = fleet.hub
    member = fleet.members[MEMBER]
    try:
        hub.apply(policy(tenant), *(queue(f"{tenant}-{name}", tenant, rank) for name, rank in names.items()))
        for name in names:
            until(lambda name=name: _told(fleet, f"{tenant}-{name}"), f"its owner is told of queue {name}")
        with pool(member, tenant, count=1) as own:
            member.create("v1/namespaces", namespace(tenant))
            own.fill(tenant, own.nodes[0], gpus=4)
            for name in names:
                hub.apply(job(own, tenant, name))
                until(lambda name=name: _waits(fleet, tenant, name), f"{name} waits for room")

            own.free(tenant, own.nodes[0])
            for name in reversed(names):
                until(lambda name=name: _runs(fleet, tenant, name), f"{name} runs")
                assert [one for one in names if fleet.where("VolcanoJob", tenant, one)] == [name]
                hub.delete(f"{in_namespace(KINDS['VolcanoJob'], tenant)}/{name}")

        for name in names:
            made = member.get(f"{QUEUES}/{tenant}-{name}") or {}
            assert (made["spec"], made["status"]["state"]) == ({"weight": 1, "reclaimable": False}, "Open")
    finally:
        for name in names:
            hub.delete(f"{QUEUES}/{tenant}-{name}")
            member.delete(f"{QUEUES}/{tenant}-{name}")


def _told(fleet: RealFleet, name: str) -> bool:
    """By an Event, that capability and weight have no effect."""
    chosen = {"fieldSelector": f"involvedObject.name={name},reason=WithoutEffect"}
    events = fleet.hub.items("v1/namespaces/default/events", **chosen)
    return any("spec.weight" in one["message"] and "spec.capability" in one["message"] for one in events)


def _waits(fleet: RealFleet, tenant: str, name: str) -> bool:
    """The scheduler had no room for it there. When others have freed room since, wherever, it is about to be tried."""
    seen = fleet.explained("why", tenant, name) or {}
    told = {one["cluster"]: one["code"] for one in seen.get("clusters", ())}
    return seen.get("state") == "queued" and told.get(MEMBER) == "NotEnough"


def _runs(fleet: RealFleet, tenant: str, name: str) -> bool:
    found = fleet.hub.get(f"{in_namespace(KINDS['VolcanoJob'], tenant)}/{name}") or {}
    return bool(((found.get("status") or {}).get("state") or {}).get("phase") == "Running")
