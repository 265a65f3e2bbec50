"""The simulated Argo and JobSet operators: which pods and jobs come when."""

from typing import Any

import pytest

from fairway.lab.kubesim.operators.argo import plan
from fairway.lab.kubesim.operators.base import OperatorView
from fairway.lab.kubesim.operators.jobset import reconcile

Json = dict[str, Any]
NOW = "2025-01-01T00:00:00Z"
TEMPLATE: Json = {"spec": {"containers": [{"name": "c"}]}}
METADATA = {"name": "j", "namespace": "n", "uid": "0123abcd-0000-4000-8000-000000000000"}


def task(name: str, **more: Any) -> Json:
    return {"name": name, "template": "t", **more}


DIAMOND = [
    task("a"),
    task("b", dependencies=["a"]),
    task("c", depends="a.Succeeded"),
    task("d", depends="b && c"),
]


@pytest.mark.parametrize(
    ("main", "want"),
    [
        pytest.param({"container": {}}, {"w": ()}, id="one container is named as the workflow"),
        pytest.param(
            {"steps": [[task("a"), task("b")], [task("c")]]},
            {"w[0].a": (), "w[0].b": (), "w[1].c": ("w[0].a", "w[0].b")},
            id="a step waits for the whole group before",
        ),
        pytest.param(
            {"dag": {"tasks": DIAMOND}},
            {"w.a": (), "w.b": ("w.a",), "w.c": ("w.a",), "w.d": ("w.b", "w.c")},
            id="a DAG",
        ),
        pytest.param(
            {"steps": [[task("a", withItems=[7, 8])]]},
            {"w[0].a(0:7)": (), "w[0].a(1:8)": ()},
            id="one pod per item",
        ),
    ],
)
def test_a_workflow_is_a_graph_of_pods(main: Json, want: dict[str, tuple[str, ...]]) -> None:
    templates = [{"name": "main", **main}, {"name": "t", "container": {}}]
    steps = plan({"entrypoint": "main", "templates": templates}, "w")
    assert {step.name: step.after for step in steps} == want


def test_a_workflow_whose_tasks_wait_for_each_other_is_refused() -> None:
    tasks = [
        {"name": "a", "template": "t", "dependencies": ["b"]},
        {"name": "b", "template": "t", "dependencies": ["a"]},
    ]
    templates = [{"name": "main", "dag": {"tasks": tasks}}, {"name": "t", "container": {}}]
    with pytest.raises(ValueError, match="wait for each other"):
        list(plan({"entrypoint": "main", "templates": templates}, "w"))


def test_a_jobset_starts_again_from_scratch_until_it_may_not() -> None:
    sets = [{"name": "r", "template": {"spec": {"template": TEMPLATE}}}]
    spec = {"replicatedJobs": sets, "failurePolicy": {"maxRestarts": 1}}
    made: Json = {"metadata": METADATA, "spec": spec, "status": {}}
    child = reconcile(OperatorView(made, (), NOW)).create[0]
    failed = {**child, "status": {"conditions": [{"type": "Failed", "status": "True"}]}}
    again = reconcile(OperatorView(made, (failed,), NOW))
    assert again.status
    assert (again.status["restarts"], [one["metadata"]["name"] for one in again.delete]) == (1, ["j-r-0"])
    second = {**failed, "metadata": {**child["metadata"], "labels": {**child["metadata"]["labels"]}}}
    second["metadata"]["labels"]["jobset.sigs.k8s.io/restart-attempt"] = "1"
    last = reconcile(OperatorView({**made, "status": {"restarts": 1}}, (second,), NOW))
    assert last.status
    assert last.status["terminalState"] == "Failed"
