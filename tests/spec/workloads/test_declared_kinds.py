"""A kind declared in YAML is read like one written in code."""

from typing import Any

import pytest

from fairway.workloads.kinds import registry
from fairway.workloads.kinds.generic import load_generic
from fairway.workloads.kinds.kind import Kind
from fairway.workloads.member_copy import member_copy
from tests.paths import ROOT
from tests.spec.workloads.builders import pod, refusal

EXAMPLES = ROOT / "deploy" / "examples"

GROUPS = """
apiVersion: serving.example.com/v1
kind: Ensemble
plural: ensembles
podSets:
- {name: leader, count: [spec.groups], template: [spec.leaderTemplate, spec.workerTemplate]}
- name: worker
  count: [spec.groups, {path: spec.size, default: 1, minus: 1}]
  template: [spec.workerTemplate]
gang: spec.size
status:
  running: [{condition: Available}]
"""
ELASTIC = """
apiVersion: elastic.example.com/v1
kind: ElasticJob
plural: elasticjobs
podSets:
- {name: worker, count: [spec.workers], template: [spec.workerTemplate]}
gang: spec.minWorkers
priority: [spec.priorityClassName]
suspend: spec.paused
drop: [spec.keepSeconds]
status:
  failed: [{condition: Failed}]
  succeeded: [{path: status.phase, values: [Done]}]
  running: [{path: status.up, atLeast: gang}]
"""
JOB: dict[str, Any] = {
    "apiVersion": "elastic.example.com/v1",
    "kind": "ElasticJob",
    "metadata": {"name": "e", "namespace": "team-data"},
    "spec": {
        "workers": 4,
        "minWorkers": 2,
        "paused": True,
        "keepSeconds": 5,
        "workerTemplate": pod(priorityClassName="low"),
    },
}


def kinds(text: str) -> dict[str, Kind]:
    kind = load_generic(text)
    return {kind.key: kind}


def test_a_leader_and_its_workers_are_counted_per_group() -> None:
    declared = kinds(GROUPS)
    spec = {"groups": 2, "size": 3, "workerTemplate": pod()}
    manifest = {**JOB, "apiVersion": "serving.example.com/v1", "kind": "Ensemble", "spec": spec}
    workload = registry.read(manifest, declared)
    assert [(one.name, one.count) for one in workload.pod_sets] == [("leader", 2), ("worker", 4)]
    assert workload.gang_minimum == 3
    up = {"conditions": [{"type": "Available", "status": "True"}]}
    assert registry.status(manifest, workload, up, declared).state == "running"
    assert registry.status(manifest, workload, {}, declared).state == "pending"


def test_the_declared_paths_are_read() -> None:
    workload = registry.read(JOB, kinds(ELASTIC))
    assert (workload.pods, workload.gang_minimum, workload.priority_class) == (4, 2, "low")


@pytest.mark.parametrize(
    ("status", "want"),
    [
        ({}, "pending"),
        ({"up": 1}, "pending"),
        ({"up": 2}, "running"),
        ({"up": 2, "phase": "Done"}, "succeeded"),
        ({"phase": "Done", "conditions": [{"type": "Failed", "status": "True"}]}, "failed"),
    ],
)
def test_the_declared_checks_hold(status: dict[str, Any], want: str) -> None:
    declared = kinds(ELASTIC)
    assert registry.status(JOB, registry.read(JOB, declared), status, declared).state == want


def test_a_member_copy_of_a_declared_kind() -> None:
    spec = member_copy(JOB, "j", 1, kinds(ELASTIC))["spec"]
    assert spec["paused"] is False
    assert "keepSeconds" not in spec
    assert spec["workerTemplate"]["metadata"]["labels"]["fairway.io/job"] == "j"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "0 documents"),
        ("a: 1", "unknown field `a`"),
        ("apiVersion: a/v1", "`kind`"),
        (ELASTIC.replace("plural", "plurale"), "plurale"),
        (ELASTIC.replace("atLeast: gang", "atLeast: most"), "most"),
        (ELASTIC.replace("template: [spec.workerTemplate]", "template: []"), "without the path"),
    ],
)
def test_a_bad_declaration_is_refused(text: str, says: str) -> None:
    assert says in " ".join(refusal(lambda: load_generic(text)).values())
