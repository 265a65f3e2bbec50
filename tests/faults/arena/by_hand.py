"""What people do under load: submit jobs that run for as long as a test needs them, and lay hands on a member."""

from fairway.lab.kubesim.api.metadata import Deletion
from fairway.lab.kubesim.api.store import StoredObject
from fairway.lab.kubesim.clusters import SimCluster
from fairway.lab.kubesim.pod_behaviour import RUN_FOR
from fairway.lab.traces.trace import GPU, TraceJob
from tests.faults.arena.load import TENANTS, Load
from tests.faults.arena.members import ATTEMPT, JOB, Attempt
from tests.faults.arena.scene import Scene

# Longer than any test.
_AN_HOUR_S = 3_600.0


async def long_jobs(scene: Scene, count: int) -> list[str]:
    """So many jobs of one GPU each, which run until they are told to end. Who lays hands on them finds them where the
    record says that they run."""
    assert isinstance(scene.load, Load)
    rows = (
        TraceJob(f"long-{number}", TENANTS[number % len(TENANTS)], 0.0, _AN_HOUR_S, 1, {"cpu": "1", GPU: "1"})
        for number in range(count)
    )
    jobs = [await scene.load.submit(row) for row in rows]
    await scene.until(lambda: {*jobs} <= {job for job, _ in scene.running}, "all of them run")
    return jobs


def where(scene: Scene, job: str) -> tuple[SimCluster, Attempt]:
    """In which cluster pods of the job run, and of which attempt."""
    for cluster in scene.arena.kube.clusters.values():
        for attempt in scene.arena.members.on(cluster.name):
            if attempt[0] == job:
                return cluster, attempt
    raise AssertionError(f"{job} runs nowhere")


def stored_of(cluster: SimCluster) -> dict[Attempt, StoredObject]:
    """The objects of attempts in this cluster."""
    found = {}
    for stored in cluster.api.store.shelf("pytorchjobs.kubeflow.org"):
        labels = stored.obj["metadata"]["labels"]
        found[labels[JOB], int(labels[ATTEMPT])] = stored
    return found


async def cancel(scene: Scene, job: str, tenant: str) -> None:
    assert isinstance(scene.load, Load)
    await scene.load.cancel(job, tenant)


def delete(cluster: SimCluster, stored: StoredObject) -> None:
    """As who deletes it with kubectl does."""
    cluster.api.delete(cluster.api.resource_of(stored), stored, Deletion())


def end(scene: Scene, jobs: list[str]) -> None:
    """Whatever of them runs now ends well."""
    for cluster in scene.arena.kube.clusters.values():
        for pod in cluster.api.store.shelf("pods"):
            if (pod.obj["metadata"].get("labels") or {}).get(JOB) in jobs:
                told = pod.copy()
                told["metadata"]["annotations"][RUN_FOR] = "0s"
                cluster.api.store.put(pod.key, told)
