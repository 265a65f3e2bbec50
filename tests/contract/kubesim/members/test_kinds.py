"""Every kind that Fairway knows in a simulated member cluster: run to its end, or, where it has none, up."""

import asyncio
from collections.abc import Callable

import pytest

from fairway.workloads.kinds.registry import KINDS
from tests.contract.kubesim.members.test_members import RAY, conditions, job, once, status, volcano
from tests.support.kubesim import Json, pods, remove, simulated, single_pod, submit, template, torch, until

Holds = Callable[[Json], bool]


def kubeflow(kind: str, field: str, *roles: str, version: str = "v1", **spec: object) -> Json:
    """A pod of each role."""
    made = {role: {"replicas": 1, "template": template(run_for="5ms")} for role in roles}
    return job(f"kubeflow.org/{version}", kind, {field: made, **spec})


def workers(kind: str, field: str) -> Json:
    """Two, and no other role."""
    return job("kubeflow.org/v1", kind, {field: {"Worker": {"replicas": 2, "template": template(run_for="5ms")}}})


def workflow(*names: str) -> Json:
    steps = [[{"name": name, "template": "one"}] for name in names]
    one = {"name": "one", "container": {"image": "x"}, "metadata": template(run_for="5ms")["metadata"]}
    return job(
        "argoproj.io/v1alpha1", "Workflow", {"entrypoint": "all", "templates": [{"name": "all", "steps": steps}, one]}
    )


BATCH = {"parallelism": 2, "completions": 3, "template": once(run_for="5ms")}
REPLICATED = [{"name": "w", "replicas": 2, "template": {"spec": {"template": template(run_for="5ms")}}}]
HTTP = {"submissionMode": "HTTPMode", "shutdownAfterJobFinishes": True}
SPARK = {"driver": {"annotations": {"fairway.test/run-for": "5ms"}}, "executor": {"instances": 2}}
STEP = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
NODE = {"name": "node", "template": {"metadata": {"labels": STEP}, "spec": {"template": template(run_for="5ms")}}}
RUNTIME = {"mlPolicy": {"numNodes": 2}, "template": {"spec": {"replicatedJobs": [NODE]}}}
MPI = ("MPIJob", "mpiReplicaSpecs", "Launcher", "Worker")
CLEAN = {"cleanPodPolicy": "Running"}

# What the test's id says beside the kind → the objects, of which the last is the job; its end; pods that ran to theirs.
ENDS: dict[str, tuple[tuple[Json, ...], Holds, int]] = {
    "PyTorchJob": ((torch(workers=2, run_for="5ms"),), conditions("Succeeded"), 3),
    "TFJob, whose parameter server is deleted at the end": (
        (kubeflow("TFJob", "tfReplicaSpecs", "PS", "Worker"),),
        conditions("Succeeded"),
        1,
    ),
    "XGBoostJob": ((kubeflow("XGBoostJob", "xgbReplicaSpecs", "Master", "Worker"),), conditions("Succeeded"), 2),
    "PaddleJob": ((kubeflow("PaddleJob", "paddleReplicaSpecs", "Master", "Worker"),), conditions("Succeeded"), 2),
    "PaddleJob of workers alone": ((workers("PaddleJob", "paddleReplicaSpecs"),), conditions("Succeeded"), 2),
    "MXJob": ((kubeflow("MXJob", "mxReplicaSpecs", "Scheduler", "Server", "Worker"),), conditions("Succeeded"), 3),
    "JAXJob": ((workers("JAXJob", "jaxReplicaSpecs"),), conditions("Succeeded"), 2),
    "MPIJob of v1, whose workers are deleted at the end": (
        (kubeflow(*MPI, runPolicy=CLEAN),),
        conditions("Succeeded"),
        1,
    ),
    "MPIJob, whose workers are deleted at the end": (
        (kubeflow(*MPI, version="v2beta1", runPolicy=CLEAN),),
        conditions("Succeeded"),
        1,
    ),
    "Job": ((job("batch/v1", "Job", BATCH),), conditions("Complete"), 3),
    "Pod": ((single_pod(run_for="5ms"),), status("phase", "Succeeded"), 1),
    "Volcano Job": ((volcano(2, 8),), status("state.phase", "Completed"), 2),
    "Workflow": ((workflow("a", "b"),), status("phase", "Succeeded"), 2),
    "JobSet": (
        (job("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": REPLICATED}),),
        status("terminalState", "Completed"),
        2,
    ),
    "TrainJob": (
        (
            job("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", RUNTIME),
            job(
                "trainer.kubeflow.org/v1alpha1",
                "TrainJob",
                {"runtimeRef": {"kind": "TrainingRuntime", "name": "j"}},
            ),
        ),
        conditions("Complete"),
        2,
    ),
    "AppWrapper": (
        (
            job(
                "workload.codeflare.dev/v1beta2",
                "AppWrapper",
                {"components": [{"template": torch("a", run_for="5ms")}]},
            ),
        ),
        status("phase", "Succeeded"),
        2,
    ),
    "RayJob, whose cluster is deleted at the end": (
        (job("ray.io/v1", "RayJob", {"rayClusterSpec": RAY, "shutdownAfterJobFinishes": True}),),
        status("jobDeploymentStatus", "Complete"),
        1,
    ),
    "RayJob without a submitter": (
        (job("ray.io/v1", "RayJob", {"rayClusterSpec": RAY, **HTTP}),),
        status("jobStatus", "SUCCEEDED"),
        0,
    ),
    "SparkApplication without its executors": (
        (job("sparkoperator.k8s.io/v1beta2", "SparkApplication", SPARK),),
        status("applicationState.state", "COMPLETED"),
        1,
    ),
}
UP_AND_RUNNING = {"headGroupSpec": {"template": template()}, "workerGroupSpecs": [{"template": template()}]}
# Kinds that end by deletion alone.
SERVICES: dict[str, tuple[Json, Holds, int]] = {
    "RayCluster": (job("ray.io/v1", "RayCluster", UP_AND_RUNNING), status("state", "ready"), 2),
    "LeaderWorkerSet": (
        job(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template()}},
        ),
        conditions("Available"),
        4,
    ),
}


def test_no_kind_that_fairway_knows_is_left_out() -> None:
    here = [*(objects[-1] for objects, _, _ in ENDS.values()), *(what for what, _, _ in SERVICES.values())]
    assert {f"{one['kind']}.{one['apiVersion']}" for one in here} == KINDS.keys()


@pytest.mark.parametrize(("objects", "ends", "ran"), ENDS.values(), ids=ENDS)
async def test_every_kind_runs_to_its_end(objects: tuple[Json, ...], ends: Holds, ran: int) -> None:
    async with simulated(nodes=2) as cluster:
        key = [submit(cluster, one) for one in objects][-1]
        await until(cluster, key, ends)
        await asyncio.sleep(0)
        assert list(pods(cluster).values()) == ["Succeeded"] * ran


@pytest.mark.parametrize(("what", "up", "count"), SERVICES.values(), ids=SERVICES)
async def test_every_service_is_up_and_goes_with_all_its_pods(what: Json, up: Holds, count: int) -> None:
    async with simulated(nodes=2) as cluster:
        key = submit(cluster, what)
        await until(cluster, key, up)
        assert list(pods(cluster).values()) == ["Running"] * count
        remove(cluster, key)
        assert pods(cluster) == {}
