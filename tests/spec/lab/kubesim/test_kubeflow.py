"""The simulated jobs of kubeflow.org: who decides their end, and what becomes of pods that failed or are left."""

from typing import Any

import pytest

from tests.spec.lab.kubesim.test_operators import TEMPLATE, Json, job, reconcile, told


def torch(master: bool = True, restart: str = "Never", **policy: Any) -> tuple[str, Json]:
    roles = {"Worker": {"replicas": 2, "restartPolicy": restart, "template": TEMPLATE}}
    if master:
        roles = {"Master": {"restartPolicy": "Never", "template": TEMPLATE}, **roles}
    return job("pytorchjobs.kubeflow.org", {"pytorchReplicaSpecs": roles, "runPolicy": policy})


def mpi(version: str) -> tuple[str, Json]:
    roles = {"Launcher": {"template": TEMPLATE}, "Worker": {"replicas": 1, "template": TEMPLATE}}
    return job("mpijobs.kubeflow.org", {"mpiReplicaSpecs": roles}, version=f"kubeflow.org/{version}")


def roles(plural: str, field: str, *names: str, **policy: Any) -> tuple[str, Json]:
    """Two pods of each role."""
    made = {name: {"replicas": 2, "template": TEMPLATE, **policy} for name in names}
    return job(f"{plural}.kubeflow.org", {field: made})


def xgboost(**policy: Any) -> tuple[str, Json]:
    return roles("xgboostjobs", "xgbReplicaSpecs", "Master", "Worker", **policy)


def paddle(*names: str) -> tuple[str, Json]:
    return roles("paddlejobs", "paddleReplicaSpecs", *names)


MX = roles("mxjobs", "mxReplicaSpecs", "Scheduler", "Server", "Worker")
JAX = roles("jaxjobs", "jaxReplicaSpecs", "Worker")


@pytest.mark.parametrize(
    ("given", "phases", "want"),
    [
        pytest.param(xgboost(), {"master": "Succeeded"}, {"Created", "Succeeded"}, id="XGBoost: its master decides"),
        pytest.param(xgboost(), {"worker": "Succeeded"}, {"Created"}, id="XGBoost: its workers do not"),
        pytest.param(
            xgboost(restartPolicy="OnFailure"),
            {"worker_1": "Failed"},
            {"Created", "Failed"},
            id="XGBoost: no pod that failed is made anew, whatever its policy",
        ),
        pytest.param(
            paddle("Master", "Worker"), {"worker_1": "Failed"}, {"Created", "Restarting"}, id="Paddle: it is made anew"
        ),
        pytest.param(paddle("Worker"), {"worker_0": "Succeeded"}, {"Created"}, id="Paddle: one of two workers"),
        pytest.param(paddle("Worker"), {"worker": "Succeeded"}, {"Created", "Succeeded"}, id="Paddle: both workers"),
        pytest.param(MX, {"server": "Running", "worker": "Running"}, {"Created"}, id="MX: its scheduler decides"),
        pytest.param(MX, {"scheduler": "Succeeded"}, {"Created", "Succeeded"}, id="MX: its scheduler has ended"),
        pytest.param(JAX, {"worker_0": "Running"}, {"Created", "Running"}, id="JAX: one worker is running"),
        pytest.param(JAX, {"worker_0": "Succeeded"}, {"Created"}, id="JAX: one of two workers"),
        pytest.param(JAX, {"worker": "Succeeded"}, {"Created", "Succeeded"}, id="JAX: both workers"),
        pytest.param(torch(), {}, {"Created"}, id="no pod yet: created"),
        pytest.param(torch(), {"master": "Running"}, {"Created", "Running"}, id="the master alone is running"),
        pytest.param(torch(), {"worker": "Running"}, {"Created"}, id="workers without their master are not"),
        pytest.param(torch(), {"master": "Succeeded"}, {"Created", "Succeeded"}, id="the master decides success"),
        pytest.param(torch(), {"worker_1": "Failed"}, {"Created", "Failed"}, id="one failed worker fails the job"),
        pytest.param(
            torch(restart="ExitCode"),
            {"worker_0": "Failed:137"},
            {"Created", "Restarting"},
            id="a retryable exit code restarts the worker",
        ),
        pytest.param(
            torch(restart="ExitCode"),
            {"worker_0": "Failed:1"},
            {"Created", "Failed"},
            id="a permanent exit code does not",
        ),
        pytest.param(
            torch(master=False), {"worker_0": "Succeeded"}, {"Created"}, id="without master one worker is not enough"
        ),
        pytest.param(
            torch(master=False), {"worker": "Succeeded"}, {"Created", "Succeeded"}, id="without master all workers are"
        ),
        pytest.param(torch(suspend=True), {}, {"Created", "Suspended"}, id="suspended"),
        pytest.param(mpi("v1"), {"launcher": "Running"}, {"Created", "Running"}, id="MPIJob v1 runs with its launcher"),
        pytest.param(mpi("v2beta1"), {"launcher": "Running"}, {"Created"}, id="MPIJob v2beta1 wants its workers too"),
    ],
)
def test_kubeflow_conditions(given: tuple[str, Json], phases: dict[str, str], want: set[str]) -> None:
    assert told(reconcile(given, **phases)) == want


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        pytest.param("None", ["j-master-0", "j-worker-0", "j-worker-1"], id="None keeps all"),
        pytest.param("Running", ["j-master-0", "j-worker-1"], id="Running deletes what still runs"),
        pytest.param("All", [], id="All keeps none"),
    ],
)
def test_clean_pod_policy(policy: str, left: list[str]) -> None:
    given = torch(cleanPodPolicy=policy)
    outcome = reconcile(given, master="Succeeded", worker_0="Running", worker_1="Succeeded")
    gone = {one["metadata"]["name"] for one in outcome.delete}
    assert [name for name in ("j-master-0", "j-worker-0", "j-worker-1") if name not in gone] == left
