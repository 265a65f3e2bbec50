"""Gangs in real members: room that suffices by sum and not by node, and two gangs that want the same room.

Each test has nodes of its own in a member, so that it can count on every GPU of them.
"""

import time
from collections.abc import Callable

import pytest
from msgspec import Struct

from tests.kubernetes.support.fleet import KINDS, Json, RealFleet, in_namespace, namespace, until
from tests.kubernetes.support.pool import Pool, pool

JOB_LABEL = "fairway.io/job"


class Case(Struct, frozen=True):
    """Who runs a gang there. `succeeded`: what its status on the hub says at a good end."""

    kind: str
    cluster: str
    make: Callable[[str, str, Json, str], Json]
    succeeded: Callable[[Json], bool]


def _template(rules: Json, container: str, run_for: str) -> Json:
    """A pod that takes all 4 GPUs of a node."""
    limits = {"cpu": "2", "memory": "4Gi", "nvidia.com/gpu": "4"}
    containers = [{"name": container, "image": "x", "resources": {"limits": limits, "requests": limits}}]
    return {"metadata": {"annotations": {"fairway.test/run-for": run_for}}, "spec": {**rules, "containers": containers}}


def _pytorch(tenant: str, name: str, rules: Json, run_for: str) -> Json:
    roles = {
        role: {"replicas": 1, "restartPolicy": "Never", "template": _template(rules, "pytorch", run_for)}
        for role in ("Master", "Worker")
    }
    spec = {"runPolicy": {"cleanPodPolicy": "None"}, "pytorchReplicaSpecs": roles}
    metadata = {"name": name, "namespace": tenant}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": metadata, "spec": spec}


def _volcano(tenant: str, name: str, rules: Json, run_for: str) -> Json:
    template = _template(rules, "c", run_for)
    template["spec"]["restartPolicy"] = "Never"
    spec = {
        "minAvailable": 2,
        "schedulerName": "volcano",
        "tasks": [{"name": "w", "replicas": 2, "template": template}],
    }
    metadata = {"name": name, "namespace": tenant}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": metadata, "spec": spec}


def _policy(job: Json, cluster: str) -> Json:
    """`suspension` gives the job to Fairway; it waits until there is room."""
    name = job["metadata"]["name"]
    tenant = job["metadata"]["namespace"]
    selector = {"apiVersion": job["apiVersion"], "kind": job["kind"], "name": name}
    gang = {"replicaSchedulingType": "Divided", "customSchedulingType": "Gang"}
    placement = {"clusterAffinity": {"clusterNames": [cluster]}, "replicaScheduling": gang}
    spec = {"resourceSelectors": [selector], "suspension": {"scheduling": True}, "placement": placement}
    metadata = {"name": name, "namespace": tenant}
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": metadata, "spec": spec}


def _condition(status: Json) -> bool:
    return any(one["type"] == "Succeeded" and one["status"] == "True" for one in status.get("conditions") or ())


def _completed(status: Json) -> bool:
    return bool((status.get("state") or {}).get("phase") == "Completed")


CASES = (
    Case("VolcanoJob", "south", _volcano, _completed),
    Case("PyTorchJob", "south", _pytorch, _condition),
    Case("PyTorchJob", "north", _pytorch, _condition),
    Case("PyTorchJob", "west", _pytorch, _condition),
)
every_scheduler = pytest.mark.parametrize("case", CASES, ids=[f"{one.kind} in {one.cluster}" for one in CASES])


@every_scheduler
def test_a_gang_that_fits_by_sum_and_not_by_node_waits_with_the_true_numbers_until_a_node_is_freed(
    fleet: RealFleet, tenant: str, case: Case
) -> None:
    member = fleet.members[case.cluster]
    with pool(member, tenant, count=3) as own:
        member.create("v1/namespaces", namespace(tenant))
        for node in own.nodes[1:]:
            own.fill(tenant, node, gpus=2)

        _apply(fleet, case, case.make(tenant, "gang", own.pod_rules, "3s"))

        numbers = until(lambda: _in_pieces(fleet, tenant, case.cluster), "the gang waits, as its room is in pieces")
        assert numbers["by_sum"] == numbers["needed"] == 2, "4 + 2 + 2 GPUs are free, as many as both pods ask for"
        assert (numbers["by_node"], numbers["nodes"]) == (1, 3), "one of the three nodes takes one of them"
        assert not fleet.where(case.kind, tenant, "gang"), "nothing of it is in a member meanwhile"

        own.free(tenant, own.nodes[1])
        pods = until(lambda: _running(own, tenant, 2), "both pods run")
        assert {one["spec"]["nodeName"] for one in pods} == set(own.nodes[:2]), "one on each free node"
        until(lambda: case.succeeded(_status(fleet, case, tenant, "gang")), "the gang ends well, and the hub shows it")
        fleet.hub.delete(f"{_path(case, tenant)}/gang")
        until(lambda: not fleet.where(case.kind, tenant, "gang"), "it is gone")
        own.free(tenant, own.nodes[2])


@every_scheduler
def test_of_two_gangs_that_each_fit_alone_one_runs_whole_and_the_other_waits_whole(
    fleet: RealFleet, tenant: str, case: Case
) -> None:
    member = fleet.members[case.cluster]
    names = ("first", "second")
    with pool(member, tenant, count=2) as own:
        for name in names:
            _apply(fleet, case, case.make(tenant, name, own.pod_rules, "4s"))

        most: dict[str, int] = dict.fromkeys(names, 0)
        end = time.monotonic() + 90
        while not all(case.succeeded(_status(fleet, case, tenant, name)) for name in names):
            assert time.monotonic() < end, f"not both have ended: {[_status(fleet, case, tenant, n) for n in names]}"
            alive = _alive(member.pods(tenant))
            assert len(alive) < 2, f"pods of both gangs at once: {alive}"
            for job, count in alive.items():
                name = next(one for one in names if job.startswith(one))
                most[name] = max(most[name], count)
            time.sleep(0.05)

        assert most == {"first": 2, "second": 2}, "each had both of its pods at once"
        for name in names:
            fleet.hub.delete(f"{_path(case, tenant)}/{name}")
        until(lambda: not member.pods(tenant), "the nodes are empty")


def _apply(fleet: RealFleet, case: Case, job: Json) -> None:
    fleet.hub.apply(job, _policy(job, case.cluster))


def _in_pieces(fleet: RealFleet, tenant: str, cluster: str) -> Json:
    """The numbers that `why` gives for this cluster, once it says that its room is in pieces."""
    said = fleet.explained("why", tenant, "gang") or {}
    found = (one for one in said.get("clusters") or () if (one["cluster"], one["code"]) == (cluster, "Fragmented"))
    return next((one["numbers"] for one in found), {})


def _running(own: Pool, tenant: str, count: int) -> list[Json]:
    pods = [one for one in own.api.pods(tenant, JOB_LABEL) if one["status"].get("phase") == "Running"]
    return pods if len(pods) == count else []


def _alive(pods: list[Json]) -> dict[str, int]:
    """How many pods of each job have not ended."""
    found: dict[str, int] = {}
    for one in pods:
        if one["status"].get("phase") in ("Pending", "Running"):
            job = one["metadata"]["labels"][JOB_LABEL]
            found[job] = found.get(job, 0) + 1
    return found


def _status(fleet: RealFleet, case: Case, tenant: str, name: str) -> Json:
    found: Json = (fleet.hub.get(f"{_path(case, tenant)}/{name}") or {}).get("status") or {}
    return found


def _path(case: Case, tenant: str) -> str:
    return in_namespace(KINDS[case.kind], tenant)
