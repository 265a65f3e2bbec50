"""Each kind against its table: what a manifest asks for, and what a status of it means."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fairway.workloads.hub_status import StatusWord
from fairway.workloads.kinds import registry
from fairway.workloads.reading.fields import Field, Problems

CASES: list[dict[str, Any]] = [
    {**case, "file": file.stem}
    for file in sorted((Path(__file__).parent / "fixtures").glob("*.yaml"))
    for case in yaml.safe_load(file.read_text())
]
ODD = "a status of nonsense counts as nothing"
STATUSES = [(case, status) for case in CASES for status in case.get("statuses", [])]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['file']}: {case['case']}")
def test_a_manifest_asks_for(case: dict[str, Any]) -> None:
    want = case["want"]
    workload = registry.read_unchecked(case["manifest"])
    found = {pods.name: [pods.count, pods.requests] for pods in workload.pod_sets}
    assert found == want["pod_sets"]
    assert list(found) == list(want["pod_sets"])
    assert workload.gang_minimum == want["gang"]
    assert workload.priority_class == want["priority"]
    assert workload.name == case["manifest"]["metadata"]["name"]
    assert workload.namespace == want.get("namespace", case["manifest"]["metadata"].get("namespace"))
    if "node_selector" in want:
        selectors = [pods.node_selector for pods in workload.pod_sets]
        assert want["node_selector"] == {key: value for one in selectors for key, value in one.items()}


@pytest.mark.parametrize(("case", "given"), STATUSES, ids=lambda one: f"{one.get('file', '')}{one['case']}"[:90])
def test_a_status_means(case: dict[str, Any], given: dict[str, Any]) -> None:
    workload = registry.read_unchecked(case["manifest"])
    phase = registry.status(case["manifest"], workload, given["status"])
    assert phase.state == given["want"]
    if "text" in given:
        assert phase.text == given["text"]


def test_every_kind_has_a_fixture() -> None:
    shown = {f"{case['manifest']['kind']}.{case['manifest']['apiVersion']}" for case in CASES}
    assert set(registry.KINDS) - shown == {"MXJob.kubeflow.org/v1"}


def test_a_jobset_without_its_spec_is_not_running_while_a_role_is_missing() -> None:
    case = next(case for case in CASES if case["file"] == "jobset")
    workload = registry.read_unchecked(case["manifest"])
    early = {"replicatedJobsStatus": [{"name": "leader", "ready": 1, "active": 1}]}
    up = {
        "replicatedJobsStatus": [
            {"name": "leader", "ready": 1, "active": 1},
            {"name": "workers", "ready": 2, "active": 2},
        ]
    }
    bare = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
    assert registry.status(bare, workload, early).state == "pending"
    assert registry.status(bare, workload, up).state == "running"


def test_no_status_at_all_is_pending() -> None:
    for case in CASES:
        assert registry.status(case["manifest"], registry.read_unchecked(case["manifest"]), None).state == "pending"


# A hub's API server keeps no nonsense.
SHOWN = [
    (case, one["status"]) for case, one in STATUSES if one["want"] in ("pending", "running") and one["case"] != ODD
]


@pytest.mark.parametrize(("case", "shown"), SHOWN)
def test_what_the_hub_shows_where_no_member_speaks_is_read_as_it_is_meant(
    case: dict[str, Any], shown: dict[str, Any]
) -> None:
    ends = registry.KINDS[f"{case['manifest']['kind']}.{case['manifest']['apiVersion']}"].ends
    workload = registry.read_unchecked(case["manifest"])
    word = StatusWord("StartTimeout", "it did not start", "2026-01-01T00:00:00Z")
    waits, over = (registry.status(case["manifest"], workload, says(shown, word)) for says in (ends.waits, ends.fails))
    assert (waits.state, over.state) == ("pending", "failed")
    assert "it did not start" in over.text


LISTS = (
    *("tasks", "replicatedJobs", "leaderWorkerTemplate", "templates", "template", "driver", "rayClusterSpec"),
    *("headGroupSpec", "workerGroupSpecs", "pytorchReplicaSpecs"),
)


@pytest.mark.parametrize("odd", [None, "x", 7, [], [None], {}, {"x": {}}], ids=repr)
@pytest.mark.parametrize("key", registry.KINDS)
def test_the_pods_of_a_manifest_that_does_not_read_can_be_asked_for(key: str, odd: Any) -> None:
    """They are looked at before anybody knows whether it reads."""
    kind = registry.KINDS[key]
    for spec in (odd, *({name: odd} for name in LISTS)):
        found = list(kind.pod_templates(Field({"spec": spec}, Problems())))
        assert all(pod.metadata is not None for pod in found)
