"""The simulated operators: from a job and its pods to the pods that are missing and the status, kind by kind."""

from typing import Any

import pytest

from fairway.lab.kubesim.operators import OPERATORS
from fairway.lab.kubesim.operators.base import OperatorView, Reconciled

Json = dict[str, Any]
NOW = "2025-01-01T00:00:00Z"
TEMPLATE: Json = {"spec": {"containers": [{"name": "c"}]}}


def job(storage: str, spec: Json, status: Json | None = None, version: str = "v1") -> tuple[str, Json]:
    metadata = {"name": "j", "namespace": "n", "uid": "0123abcd-0000-4000-8000-000000000000"}
    return storage, {"apiVersion": version, "kind": "x", "metadata": metadata, "spec": spec, "status": status or {}}


def reconcile(made: tuple[str, Json], **phases: str) -> Reconciled:
    """The outcome once the pods that the operator first asks for are in these phases, by the end of their names."""
    storage, obj = made
    first = OPERATORS[storage](OperatorView(obj, (), NOW))
    children = []
    for child in first.create:
        child["metadata"]["creationTimestamp"] = NOW
        for ending, phase in phases.items():
            if ending.replace("_", "-") in child["metadata"]["name"]:
                child["status"] = ended(phase)
                children.append(child)
    return OPERATORS[storage](OperatorView({**obj, "status": first.status or {}}, tuple(children), NOW))


def ended(phase: str) -> Json:
    """`Failed:137` is a phase with an exit code."""
    name, _, code = phase.partition(":")
    terminated = {"exitCode": int(code or (1 if name == "Failed" else 0)), "reason": "Error"}
    return {"phase": name, "containerStatuses": [{"name": "c", "state": {"terminated": terminated}}]}


def told(outcome: Reconciled) -> set[str]:
    status = outcome.status or {}
    return {one["type"] for one in status.get("conditions", ()) if one["status"] == "True"}


def batch(**spec: Any) -> tuple[str, Json]:
    return job("jobs.batch", {"template": TEMPLATE, **spec})


@pytest.mark.parametrize(
    ("given", "phases", "conditions", "made"),
    [
        pytest.param(batch(parallelism=2, completions=3), {}, set(), 2, id="parallelism bounds what runs"),
        pytest.param(
            batch(parallelism=2, completions=3),
            {"j_0": "Succeeded", "j_1": "Running"},
            set(),
            1,
            id="the next one comes when one is done",
        ),
        pytest.param(batch(), {"j_0": "Succeeded"}, {"SuccessCriteriaMet", "Complete"}, 0, id="complete"),
        pytest.param(
            batch(backoffLimit=0),
            {"j_0": "Failed"},
            {"FailureTarget", "Failed"},
            0,
            id="failed at the first with backoffLimit 0",
        ),
        pytest.param(batch(backoffLimit=1), {"j_0": "Failed"}, set(), 1, id="replaced within the backoffLimit"),
        pytest.param(batch(suspend=True), {}, {"Suspended"}, 0, id="suspended"),
        pytest.param(batch(managedBy="fairway.io/x"), {}, set(), 0, id="managed by somebody else"),
    ],
)
def test_batch_job(given: tuple[str, Json], phases: dict[str, str], conditions: set[str], made: int) -> None:
    outcome = reconcile(given, **phases)
    assert (told(outcome), len(outcome.create)) == (conditions, made)


def volcano(**spec: Any) -> tuple[str, Json]:
    return job("jobs.batch.volcano.sh", {"tasks": [{"name": "t", "replicas": 2, "template": TEMPLATE}], **spec})


RESTART = [{"event": "PodFailed", "action": "RestartJob"}]


@pytest.mark.parametrize(
    ("given", "phases", "want"),
    [
        pytest.param(volcano(), {"t_0": "Running", "t_1": "Pending"}, "Pending", id="less than the gang runs"),
        pytest.param(volcano(), {"t": "Running"}, "Running", id="the gang runs"),
        pytest.param(volcano(minAvailable=1), {"t_0": "Running", "t_1": "Pending"}, "Running", id="its minimum runs"),
        pytest.param(volcano(), {"t": "Succeeded"}, "Completed", id="all have succeeded"),
        pytest.param(volcano(), {"t_0": "Failed", "t_1": "Running"}, "Pending", id="a failure without a policy waits"),
        pytest.param(volcano(), {"t_0": "Failed", "t_1": "Succeeded"}, "Failed", id="and fails at the end"),
        pytest.param(
            volcano(policies=[{"event": "PodFailed", "action": "AbortJob"}]),
            {"t_0": "Failed", "t_1": "Running"},
            "Aborted",
            id="a policy aborts",
        ),
        pytest.param(volcano(policies=RESTART), {"t_0": "Failed", "t_1": "Running"}, "Pending", id="a policy restarts"),
        pytest.param(
            volcano(policies=[{"event": "TaskCompleted", "action": "CompleteJob"}]),
            {"t": "Succeeded"},
            "Completed",
            id="a completed task completes the job",
        ),
    ],
)
def test_volcano_phase(given: tuple[str, Json], phases: dict[str, str], want: str) -> None:
    status = reconcile(given, **phases).status
    assert status
    assert status["state"]["phase"] == want


def test_a_volcano_job_has_no_pods_before_its_queue_is_there() -> None:
    assert (len(reconcile(volcano(queue="x")).create), len(reconcile(volcano(queue="default")).create)) == (0, 2)


def spark(**spec: Any) -> tuple[str, Json]:
    return job("sparkapplications.sparkoperator.k8s.io", {"driver": {}, "executor": {"instances": 2}, **spec})


@pytest.mark.parametrize(
    ("given", "phases", "want"),
    [
        pytest.param(spark(), {"driver": "Pending"}, ("SUBMITTED", 0), id="the driver waits"),
        pytest.param(spark(), {"driver": "Running"}, ("RUNNING", 2), id="the driver runs and asks for executors"),
        pytest.param(spark(), {"driver": "Succeeded"}, ("COMPLETED", 0), id="the driver decides success"),
        pytest.param(spark(), {"driver": "Failed"}, ("FAILED", 0), id="and failure"),
        pytest.param(
            spark(restartPolicy={"type": "OnFailure", "onFailureRetries": 1}),
            {"driver": "Failed"},
            ("PENDING_RERUN", 0),
            id="which may be tried again",
        ),
        pytest.param(
            spark(dynamicAllocation={"enabled": True, "minExecutors": 5}),
            {"driver": "Running"},
            ("RUNNING", 5),
            id="dynamic allocation starts with its minimum",
        ),
    ],
)
def test_spark_state(given: tuple[str, Json], phases: dict[str, str], want: tuple[str, int]) -> None:
    outcome = reconcile(given, **phases)
    assert outcome.status
    assert (outcome.status["applicationState"]["state"], len(outcome.create)) == want


def test_spark_memory_has_its_overhead() -> None:
    _, made = spark(
        type="Python", driver={"memory": "2g", "cores": 2, "gpu": {"name": "nvidia.com/gpu", "quantity": 1}}
    )
    driver = OPERATORS["sparkapplications.sparkoperator.k8s.io"](OperatorView(made, (), NOW)).create[0]
    requests = driver["spec"]["containers"][0]["resources"]["requests"]
    assert requests == {"cpu": "2", "memory": "2867Mi", "nvidia.com/gpu": "1"}
