"""Jobs in a simulated member cluster: placed, run and ended."""

from collections.abc import Callable

from fairway.lab.kubesim import NodeGroup, SimCluster
from fairway.lab.kubesim.api.store import Key
from tests.support.kubesim import (
    GPU_NODE,
    Json,
    pods,
    remove,
    simulated,
    submit,
    template,
    torch,
    true_conditions,
    until,
)


def job(api_version: str, kind: str, spec: Json, name: str = "j") -> Json:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": spec,
    }


def volcano(replicas: int, gpus: int, name: str = "j", **more: object) -> Json:
    tasks = [{"name": "w", "replicas": replicas, "template": template(gpus, run_for="20ms")}]
    return job("batch.volcano.sh/v1alpha1", "Job", {"minAvailable": replicas, "tasks": tasks, **more}, name)


def conditions(*wanted: str) -> Callable[[Json], bool]:
    return lambda obj: set(wanted) <= true_conditions(obj)


def status(path: str, want: object) -> Callable[[Json], bool]:
    def holds(obj: Json) -> bool:
        at: object = obj.get("status") or {}
        for step in path.split("."):
            at = at.get(step) if isinstance(at, dict) else None
        return at == want

    return holds


def once(**behaviour: str) -> Json:
    """A pod template that a Job takes."""
    made = template(0, **behaviour)
    return {**made, "spec": {**made["spec"], "restartPolicy": "Never"}}


RAY = {
    "headGroupSpec": {"template": template(run_for="5ms")},
    "workerGroupSpecs": [{"replicas": 2, "template": template()}],
}


def uids(cluster: SimCluster) -> dict[str, str]:
    return {one.key.name: one.obj["metadata"]["uid"] for one in cluster.api.store.shelf("pods")}


async def test_a_service_is_up_group_by_group_and_a_group_that_lost_a_pod_comes_back_whole() -> None:
    groups = {"size": 2, "workerTemplate": template()}
    spec = {"replicas": 2, "startupPolicy": "LeaderReady", "leaderWorkerTemplate": groups}
    async with simulated(nodes=2) as cluster:
        key = submit(cluster, job("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec))
        await until(cluster, key, conditions("Available"))
        assert list(pods(cluster)) == ["j-0", "j-0-1", "j-1", "j-1-1"]
        before = uids(cluster)
        cluster.control.evict_pod("team-a", "j-1-1")
        await until(cluster, key, status("readyReplicas", 1))
        await until(cluster, key, status("readyReplicas", 2))
        after = uids(cluster)
        assert {name for name in after if after[name] != before[name]} == {"j-1", "j-1-1"}


async def test_the_cluster_of_a_ray_job_carries_its_labels() -> None:
    manifest = job("ray.io/v1", "RayJob", {"rayClusterSpec": RAY})
    manifest["metadata"]["labels"] = {"fairway.io/job": "j1"}
    async with simulated(nodes=2) as cluster:
        await until(cluster, submit(cluster, manifest), status("jobDeploymentStatus", "Complete"))
        (child,) = cluster.api.store.shelf("rayclusters.ray.io")
        assert child.obj["metadata"]["labels"]["fairway.io/job"] == "j1"
        assert child.obj["metadata"]["ownerReferences"][0]["controller"]


async def test_pods_carry_the_labels_of_their_template_and_go_with_their_job() -> None:
    manifest = torch(run_for="never")
    for role in manifest["spec"]["pytorchReplicaSpecs"].values():
        role["template"]["metadata"]["labels"] = {"fairway.io/job": "j1", "fairway.io/attempt": "2"}
    async with simulated(nodes=1) as cluster:
        key = submit(cluster, manifest)
        await until(cluster, key, conditions("Running"))
        found = cluster.api.store.shelf("pods")
        assert [one.key.name for one in found] == ["a-master-0", "a-worker-0"]
        assert all(one.obj["metadata"]["labels"]["fairway.io/attempt"] == "2" for one in found)
        remove(cluster, key)
        assert pods(cluster) == {}


async def test_what_does_not_fit_waits_with_the_reason_and_starts_when_room_is_made() -> None:
    async with simulated(nodes=1) as cluster:
        key = submit(cluster, torch(workers=1, gpus=8, run_for="5ms"))
        waiting = await until(
            cluster, Key("pods", "team-a", "a-worker-0"), lambda pod: "conditions" in pod.get("status", {})
        )
        told = waiting["status"]["conditions"][0]
        assert (told["reason"], told["message"]) == (
            "Unschedulable",
            "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.",
        )
        cluster.control.add_nodes(NodeGroup(1, "more", GPU_NODE))
        await until(cluster, key, conditions("Succeeded"))


async def test_a_job_with_a_part_of_its_pods_says_running_but_never_ends() -> None:
    """The trap of the real PyTorchJob: its master runs, its worker waits, nothing is computed."""
    async with simulated(nodes=1) as cluster:
        key = submit(cluster, torch(workers=1, gpus=8, run_for="1ms"))
        found = await until(cluster, key, conditions("Running"))
        assert found["status"]["replicaStatuses"] == {"Master": {"active": 1}, "Worker": {}}
        submit(cluster, job("batch/v1", "Job", {"template": once(run_for="30ms")}, "later"))
        await until(cluster, Key("jobs.batch", "team-a", "later"), conditions("Complete"))
        assert pods(cluster)["a-master-0"] == "Running"


async def test_a_gang_is_bound_as_a_whole_or_not_at_all() -> None:
    async with simulated(nodes=2) as cluster:
        submit(cluster, volcano(1, 8, name="small"))
        key = submit(cluster, volcano(2, 8, name="gang"))
        pending = await until(cluster, key, status("pending", 2))
        assert pending["status"]["state"]["phase"] == "Pending"
        waiting = await until(
            cluster, Key("pods", "team-a", "gang-w-0"), lambda pod: "conditions" in pod.get("status", {})
        )
        assert waiting["status"]["conditions"][0]["message"].startswith("1/2 pods of the gang fit")
        await until(cluster, key, status("state.phase", "Completed"))


async def test_a_suspended_job_has_no_pods_and_starts_from_scratch_when_resumed() -> None:
    manifest = torch(run_for="5ms")
    manifest["spec"]["runPolicy"] = {"suspend": True}
    async with simulated(nodes=1) as cluster:
        key = submit(cluster, manifest)
        found = await until(cluster, key, conditions("Created", "Suspended"))
        assert pods(cluster) == {}
        stored = cluster.api.store.get(key)
        kind = cluster.api.registry.of_kind("kubeflow.org/v1", "PyTorchJob")
        assert stored
        assert kind
        resumed = stored.copy()
        resumed["spec"]["runPolicy"]["suspend"] = False
        cluster.api.update(kind, stored, resumed)
        found = await until(cluster, key, conditions("Succeeded"))
        assert "Suspended" not in true_conditions(found)


async def test_a_pod_that_stops_slowly_is_there_until_it_has_stopped() -> None:
    async with simulated(nodes=1) as cluster:
        key = submit(cluster, torch(run_for="never", stop_after="20ms"))
        await until(cluster, key, conditions("Running"))
        remove(cluster, key, "Foreground")
        assert len(pods(cluster)) == 2
        assert cluster.api.store.get(key)
        await until(cluster, key, lambda obj: not obj)
        assert pods(cluster) == {}


async def test_a_manifest_its_operator_cannot_read_lies_there_and_stops_nobody() -> None:
    async with simulated(nodes=1) as cluster:
        broken = torch("broken")
        broken["spec"]["pytorchReplicaSpecs"] = ["not", "a", "map"]
        key = submit(cluster, broken)
        await until(cluster, key, lambda obj: "kubesimError" in obj.get("status", {}))
        await until(cluster, submit(cluster, torch(run_for="5ms")), conditions("Succeeded"))
