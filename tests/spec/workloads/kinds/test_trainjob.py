"""A TrainJob and its runtime are the JobSet that Kubeflow's trainer makes of the two."""

from copy import deepcopy
from typing import Any

import pytest

from fairway.workloads.kinds import registry
from fairway.workloads.kinds.trainjob import job_set, phase
from fairway.workloads.reading.fields import Field, Problems
from tests.spec.workloads.builders import refusal

Json = dict[str, Any]


def step(name: str, ancestor: str = "", cpu: int = 1, container: str = "node", **spec: Any) -> Json:
    labels = {"metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": ancestor}}} if ancestor else {}
    pod = {"containers": [{"name": container, "image": "x", "resources": {"requests": {"cpu": str(cpu)}}}]}
    return {"name": name, "template": {**labels, "spec": {"template": {"spec": pod}, **spec}}}


def runtime(*jobs: Json, **policy: Any) -> Json:
    more = {"mlPolicy": policy} if policy else {}
    return {"spec": {**more, "template": {"spec": {"replicatedJobs": list(jobs)}}}}


TORCH = runtime(
    step("dataset-initializer", "dataset-initializer", container="dataset-initializer"),
    step("node", "trainer", cpu=4),
    numNodes=2,
    torch={"numProcPerNode": "auto"},
)


def train(**spec: Any) -> Json:
    return {"metadata": {"name": "fine-tune", "namespace": "team"}, "spec": {"runtimeRef": {"name": "r"}, **spec}}


def made(job: Json, given: Json) -> Json:
    problems = Problems()
    found = job_set(Field(job, problems), Field(given, problems))
    problems.stop()
    return found


def pods(job: Json, given: Json) -> dict[str, tuple[int, int]]:
    """How many of each Job, and what CPU each asks for."""
    workload = registry.read_unchecked(made(job, given))
    return {one.name: (one.count, one.requests.get("cpu", 0)) for one in workload.pod_sets}


def mpi(launcher_too: bool) -> Json:
    return runtime(step("launcher", "trainer"), step("node"), numNodes=1, mpi={"runLauncherAsNode": launcher_too})


GPU = {"resourcesPerNode": {"limits": {"cpu": "8", "nvidia.com/gpu": "1"}}}
CASES: dict[str, tuple[Json, Json, dict[str, tuple[int, int]]]] = {
    "as its runtime says": (train(), TORCH, {"dataset-initializer": (1, 1000), "node": (2, 4000)}),
    "with nodes and resources of its own": (
        train(trainer={"numNodes": 3, **GPU}),
        TORCH,
        {"dataset-initializer": (1, 1000), "node": (3, 8000)},
    ),
    "of a runtime without a policy": (train(), runtime(step("node", "trainer", parallelism=4)), {"node": (4, 1000)}),
    "MPI with a launcher that is no node": (
        train(trainer={"numNodes": 3}),
        mpi(False),
        {"launcher": (1, 1000), "node": (3, 1000)},
    ),
    "MPI with a launcher that is one": (
        train(trainer={"numNodes": 3}),
        mpi(True),
        {"launcher": (1, 1000), "node": (2, 1000)},
    ),
}


@pytest.mark.parametrize(("job", "given", "want"), CASES.values(), ids=list(CASES))
def test_it_has_the_pods(job: Json, given: Json, want: dict[str, tuple[int, int]]) -> None:
    before = deepcopy(given)
    assert pods(job, given) == want
    assert given == before
    assert registry.read_unchecked(made(job, given)).name == "fine-tune"


def test_overrides_reach_the_pods_of_the_jobs_that_they_name() -> None:
    given = deepcopy(TORCH)
    node = given["spec"]["template"]["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]
    node |= {"nodeSelector": {"zone": "a"}, "volumes": [{"name": "data", "emptyDir": {}}]}
    override = {
        "targetJobs": [{"name": "node"}],
        "serviceAccountName": "train",
        "nodeSelector": {"gpu": "a100"},
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "volumes": [{"name": "data", "hostPath": {"path": "/"}}],
        "containers": [{"name": "node", "env": [{"name": "A", "value": "1"}]}, {"name": "none"}],
    }
    initializer, node = (
        one["template"]["spec"]["template"]["spec"]
        for one in made(train(podSpecOverrides=[override]), given)["spec"]["replicatedJobs"]
    )
    assert initializer.keys() == {"containers"}
    assert node["nodeSelector"] == {"zone": "a", "gpu": "a100"}
    assert (node["serviceAccountName"], node["tolerations"]) == ("train", override["tolerations"])
    assert node["volumes"] == override["volumes"]
    assert [(one["name"], one.get("env")) for one in node["containers"]] == [("node", [{"name": "A", "value": "1"}])]


def test_what_it_asks_for_is_refused_as_in_a_job_set() -> None:
    override = {"targetJobs": [{"name": "node"}], "volumes": [{"name": "data", "hostPath": {"path": "/"}}]}
    found = refusal(lambda: registry.read(made(train(podSpecOverrides=[override]), TORCH)))
    assert any(field.endswith("volumes[0].hostPath") for field in found)


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        pytest.param({"trainer": {"numNodes": -1}}, "spec.trainer.numNodes", id="less than no nodes"),
        pytest.param({"trainer": {"numNodes": "two"}}, "spec.trainer.numNodes", id="a word for a number"),
        pytest.param({"trainer": 7}, "spec.trainer", id="a trainer that is none"),
        pytest.param({"podSpecOverrides": {}}, "spec.podSpecOverrides", id="overrides that are no list"),
    ],
)
def test_a_trainjob_that_does_not_read_is_refused_by_its_field(spec: Json, field: str) -> None:
    assert field in refusal(lambda: made(train(**spec), TORCH))


COUNT = {"ready": 0, "succeeded": 0, "active": 0, "failed": 0, "suspended": 0}
STATUSES: dict[str, tuple[Json, str]] = {
    "new": ({}, "pending"),
    "its data comes first": ({"jobsStatus": [{**COUNT, "name": "dataset-initializer", "ready": 1}]}, "pending"),
    "its nodes run": (
        {
            "jobsStatus": [
                {**COUNT, "name": "dataset-initializer", "succeeded": 1},
                {**COUNT, "name": "node", "ready": 1, "active": 1},
            ]
        },
        "running",
    ),
    "suspended": ({"conditions": [{"type": "Suspended", "status": "True"}]}, "pending"),
    "complete": ({"conditions": [{"type": "Complete", "status": "True"}]}, "succeeded"),
    "failed": ({"conditions": [{"type": "Failed", "status": "True"}]}, "failed"),
}


@pytest.mark.parametrize(("status", "want"), STATUSES.values(), ids=list(STATUSES))
def test_a_status_means(status: Json, want: str) -> None:
    workload = registry.read_unchecked(made(train(), TORCH))
    assert phase(workload, Field({"status": status}, Problems())).state == want
