"""A TrainJob asks for the pods of the JobSet that Kubeflow's trainer makes of it and its runtime."""

from typing import Any

import pytest

from fairway.wire.reasons import Refused
from fairway.workloads.kinds import registry
from fairway.workloads.trainjob.written_out import written_out
from tests.cases.training_runtimes import WIDE, Json, finds, job, runtime, torch, train_job
from tests.spec.workloads.builders import refusal


def whole(given: Json, **spec: Any) -> Json:
    made = written_out(train_job(**spec), finds(given))
    if made.wrong:
        raise Refused(*made.wrong)
    return made.manifest


def pods(given: Json, **spec: Any) -> dict[str, tuple[int, int]]:
    """How many of each Job, and what CPU each asks for."""
    return {one.name: (one.count, one.requests.get("cpu", 0)) for one in registry.read(whole(given, **spec)).pod_sets}


def mpi(launcher_too: bool) -> Json:
    policy = {"runLauncherAsNode": launcher_too}
    return runtime(WIDE, job("launcher", "trainer"), job("node"), numNodes=1, mpi=policy)


GPU = {"resourcesPerNode": {"limits": {"cpu": "8", "nvidia.com/gpu": "1"}}}
FIRST = {"dataset-initializer": (1, 1000)}
CASES: dict[str, tuple[Json, Json, dict[str, tuple[int, int]]]] = {
    "as its runtime says": ({}, torch(), {**FIRST, "node": (2, 4000)}),
    "with nodes and resources of its own": ({"numNodes": 3, **GPU}, torch(), {**FIRST, "node": (3, 8000)}),
    "of a runtime without a policy": ({}, runtime(WIDE, job("node", "trainer", parallelism=4)), {"node": (4, 1000)}),
    "with nodes of its own, of a runtime without a policy": (
        {"numNodes": 2},
        runtime(WIDE, job("node", "trainer", parallelism=4)),
        {"node": (2, 1000)},
    ),
    "of a policy without nodes": (
        {},
        runtime(WIDE, job("node", "trainer", parallelism=4), torch={}),
        {"node": (1, 1000)},
    ),
    "whose Job asks for no pods": ({}, runtime(WIDE, job("node", "trainer", parallelism=0)), {"node": (1, 1000)}),
    "of two training Jobs, the first of which gets its nodes": (
        {"numNodes": 3, **GPU},
        runtime(WIDE, job("a", "trainer"), job("b", "trainer"), numNodes=2),
        {"a": (3, 8000), "b": (2, 8000)},
    ),
    "with other Jobs beside": (
        {"numNodes": 2},
        runtime(WIDE, {**job("cache", parallelism=2), "replicas": 3}, job("node", "trainer")),
        {"cache": (6, 1000), "node": (2, 1000)},
    ),
    "of a step of the trainer's, which is one Job whatever the runtime says": (
        {},
        runtime(WIDE, {**job("node", "trainer"), "replicas": 3}, numNodes=2),
        {"node": (2, 1000)},
    ),
    "MPI with a launcher that is no node": (
        {"numNodes": 3, **GPU},
        mpi(False),
        {"launcher": (1, 8000), "node": (3, 1000)},
    ),
    "MPI with a launcher that is one": (
        {"numNodes": 3, **GPU},
        mpi(True),
        {"launcher": (1, 8000), "node": (2, 8000)},
    ),
    "MPI with one node, which is not the launcher": (
        {"numNodes": 1},
        mpi(True),
        {"launcher": (1, 1000), "node": (1, 1000)},
    ),
}


@pytest.mark.parametrize(("trainer", "given", "want"), CASES.values(), ids=list(CASES))
def test_it_asks_for(trainer: Json, given: Json, want: dict[str, tuple[int, int]]) -> None:
    assert pods(given, trainer=trainer) == want


RUNTIME = "spec.runtime"
WRONG: dict[str, tuple[Json, Json, str, str]] = {
    "less than no nodes": ({"trainer": {"numNodes": -1}}, torch(), "spec.trainer.numNodes", "is -1"),
    "a word for a number": ({"trainer": {"numNodes": "two"}}, torch(), "spec.trainer.numNodes", "not a whole number"),
    "a trainer that is none": ({"trainer": 7}, torch(), "spec.trainer", "not a mapping"),
    "a quantity that is none": (
        {"trainer": {"resourcesPerNode": {"limits": {"cpu": "much"}}}},
        torch(),
        "spec.trainer.resourcesPerNode.limits.cpu",
        "much",
    ),
    "devices by claims": (
        {"trainer": {"resourcesPerNode": {"claims": [{"name": "gpu"}]}}},
        torch(),
        "spec.trainer.resourcesPerNode.claims",
        "is no field",
    ),
    "what a later trainer may know": ({"runtimePatches": []}, torch(), "spec.runtimePatches", "is no field"),
    "overrides as trainer 2.0 had them": ({"podSpecOverrides": []}, torch(), "spec.podSpecOverrides", "is no field"),
    "a policy that is not known": (
        {},
        runtime(WIDE, job("node", "trainer"), jax={}),
        f"{RUNTIME}.mlPolicy.jax",
        "is no",
    ),
    "nodes that come and go": (
        {},
        runtime(WIDE, job("node", "trainer"), torch={"elasticPolicy": {"maxNodes": 9}}),
        f"{RUNTIME}.mlPolicy.torch.elasticPolicy",
        "is no field",
    ),
    "two policies at once": (
        {},
        runtime(WIDE, job("node", "trainer"), torch={}, mpi={}),
        f"{RUNTIME}.mlPolicy.mpi",
        "stands beside torch",
    ),
    "a runtime without jobs": ({}, runtime(WIDE), f"{RUNTIME}.template.spec.replicatedJobs", "is empty"),
    "more pods than any": (
        {"trainer": {"numNodes": 100_000}},
        runtime(WIDE, {**job("a", parallelism=2000), "replicas": 2000}),
        f"{RUNTIME}.template.spec.replicatedJobs[0].replicas",
        "makes 4000000 pods",
    ),
    "names that no pod can have": (
        {},
        runtime(WIDE, job("n" * 50, "trainer")),
        "metadata.name",
        "makes pods with names",
    ),
    "a label of ours in its runtime": (
        {},
        runtime(
            WIDE, {"name": "n", "template": {"metadata": {"labels": {"fairway.io/job": "x"}}, **job("n")["template"]}}
        ),
        f"{RUNTIME}.template.spec.replicatedJobs[0].template.metadata.labels['fairway.io/job']",
        "only Fairway",
    ),
}


@pytest.mark.parametrize(("spec", "given", "field", "says"), WRONG.values(), ids=list(WRONG))
def test_it_is_refused_by_its_field(spec: Json, given: Json, field: str, says: str) -> None:
    found = refusal(lambda: registry.read(whole(given, **spec)))
    assert says in found[field]


def test_without_its_runtime_it_is_refused_with_what_to_do() -> None:
    assert "is not here" in refusal(lambda: registry.read(train_job()))["spec.runtimeRef"]


def test_with_a_runtime_in_it_and_one_that_it_names_it_is_refused() -> None:
    both = whole(torch())
    both["spec"]["runtimeRef"] = {"name": "wide"}
    assert written_out(both, finds(torch())).manifest is both
    assert "is no field" in refusal(lambda: registry.read(both))["spec.runtimeRef"]


TOKEN = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "default-token-bcdfg"}}}
SECRETS: dict[str, tuple[Json, str]] = {
    "in a variable": ({"trainer": {"env": [TOKEN]}}, "spec.trainer.env[0].valueFrom.secretKeyRef.name"),
    "for its data": (
        {"initializer": {"dataset": {"secretRef": {"name": "a-token-bcdfg"}}}},
        "spec.initializer.dataset.secretRef.name",
    ),
    "for its model": (
        {"initializer": {"model": {"env": [TOKEN]}}},
        "spec.initializer.model.env[0].valueFrom.secretKeyRef.name",
    ),
}


@pytest.mark.parametrize(("spec", "field"), SECRETS.values(), ids=list(SECRETS))
def test_it_names_no_token_of_an_account_in_what_the_trainer_puts_into_containers(spec: Json, field: str) -> None:
    assert "token of a service account" in refusal(lambda: registry.read(whole(torch(), **spec)))[field]
