"""The small parts of kubesim: durations, selectors, merges, and which node a pod fits."""

from typing import Any

import pytest

from fairway.lab.kubesim.api import field_managers, selectors
from fairway.lab.kubesim.api.json_patch import json_patch, merge
from fairway.lab.kubesim.api.strategic_merge import apply, strategic_merge
from fairway.lab.kubesim.fit import obstacle, pod_requests, space_of, want_of
from fairway.lab.kubesim.nodes import NodeGroup, marked
from fairway.lab.kubesim.pod_behaviour import milliseconds

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("text", "want"),
    [("300ms", 300), ("1.5s", 1500), ("1m30s", 90_000), ("2h", 7_200_000), ("0s", 0), ("never", None)],
)
def test_durations(text: str, want: int | None) -> None:
    assert milliseconds(text) == want


@pytest.mark.parametrize("text", ["", "5", "5 s", "s", "1d", "-1s"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        milliseconds(text)


@pytest.mark.parametrize(
    ("selector", "want"),
    [
        ("a=1", True),
        ("a==1", True),
        ("a!=1", False),
        ("b!=1", True),
        ("a", True),
        ("!a", False),
        ("!b", True),
        ("a in (1,2)", True),
        ("a notin (1, 2)", False),
        ("b notin (1)", True),
        ("a=1,b", False),
        ("", True),
    ],
)
def test_label_selectors(selector: str, want: bool) -> None:
    assert selectors.labels(selector)({"metadata": {"labels": {"a": "1"}}}) is want


@pytest.mark.parametrize(
    ("selector", "want"),
    [
        ("spec.nodeName=", True),
        ("spec.nodeName!=n", True),
        ("status.phase=Pending,metadata.name=p", True),
        ("status.phase!=Pending", False),
    ],
)
def test_field_selectors(selector: str, want: bool) -> None:
    pod = {"metadata": {"name": "p"}, "spec": {}, "status": {"phase": "Pending"}}
    assert selectors.fields("pods", selector)(pod) is want


def test_merge_patch_removes_by_null_and_replaces_lists() -> None:
    target = {"a": {"b": 1, "c": 2}, "l": [1, 2]}
    assert merge(target, {"a": {"b": None, "d": {"e": None}}, "l": [3]}) == {"a": {"c": 2, "d": {}}, "l": [3]}


@pytest.mark.parametrize(
    ("operations", "want"),
    [
        pytest.param([{"op": "add", "path": "/l/1", "value": 9}], {"l": [1, 9, 2]}, id="insert into a list"),
        pytest.param([{"op": "add", "path": "/l/-", "value": 9}], {"l": [1, 2, 9]}, id="append to a list"),
        pytest.param([{"op": "replace", "path": "/l/0", "value": 9}], {"l": [9, 2]}, id="replace in a list"),
        pytest.param([{"op": "remove", "path": "/l/0"}], {"l": [2]}, id="remove from a list"),
        pytest.param([{"op": "add", "path": "/a~1b", "value": 1}], {"l": [1, 2], "a/b": 1}, id="an escaped slash"),
        pytest.param([{"op": "copy", "from": "/l/0", "path": "/c"}], {"l": [1, 2], "c": 1}, id="copy"),
        pytest.param([{"op": "replace", "path": "", "value": {"x": 1}}], {"x": 1}, id="the whole document"),
    ],
)
def test_json_patch(operations: list[Json], want: Json) -> None:
    assert json_patch({"l": [1, 2]}, operations) == want


@pytest.mark.parametrize(
    "operation",
    [{"op": "test", "path": "/l", "value": 0}, {"op": "remove", "path": "/none"}, {"op": "dance", "path": "/l"}],
)
def test_a_json_patch_that_cannot_be_done_is_refused(operation: Json) -> None:
    with pytest.raises(Exception, match="cannot be done"):
        json_patch({"l": [1]}, [operation])


def test_strategic_merge_knows_containers_by_name() -> None:
    target = {"containers": [{"name": "a", "image": "1"}, {"name": "b"}], "tolerations": [1]}
    patch = {
        "$setElementOrder/containers": [{"name": "a"}],
        "containers": [{"name": "a", "image": "2"}, {"name": "b", "$patch": "delete"}],
        "tolerations": [2],
    }
    assert strategic_merge(target, patch) == {"containers": [{"name": "a", "image": "2"}], "tolerations": [2]}


@pytest.mark.parametrize(
    ("keyed", "want"),
    [
        pytest.param(True, [{"name": "theirs"}, {"name": "mine", "x": 2}], id="lists of built-in kinds are maps"),
        pytest.param(False, [{"name": "mine", "x": 2}], id="lists of custom resources are replaced"),
    ],
)
def test_apply_merges_lists_by_kind(keyed: bool, want: list[Json]) -> None:
    live = {"containers": [{"name": "theirs"}, {"name": "old"}, {"name": "mine", "x": 1}]}
    before = {"containers": [{"name": "old"}, {"name": "mine", "x": 1}]}
    assert apply(live, before, {"containers": [{"name": "mine", "x": 2}]}, keyed)["containers"] == want


def pod(**spec: Any) -> Json:
    container = {"name": "c", "resources": {"requests": {"cpu": "2"}, "limits": {"nvidia.com/gpu": "4"}}}
    return {"metadata": {}, "spec": {"containers": [container], **spec}}


def affinity(*expressions: Json) -> Json:
    terms = [{"matchExpressions": list(expressions)}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"nodeAffinity": required}


TAINT = {"key": "gpu", "value": "a100", "effect": "NoSchedule"}
NODE = NodeGroup(1, "n", {"cpu": "4", "nvidia.com/gpu": "4"}, {"zone": "b", "size": "7"}, (TAINT,)).node("n-0")
TOLERANT = [{"key": "gpu", "operator": "Exists"}]


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param(pod(tolerations=TOLERANT), "", id="it fits"),
        pytest.param(pod(), "node(s) had untolerated taint {gpu: a100}", id="a taint"),
        pytest.param(
            pod(tolerations=[{"key": "gpu", "value": "t4"}]),
            "node(s) had untolerated taint {gpu: a100}",
            id="another value tolerated",
        ),
        pytest.param(pod(tolerations=[{"operator": "Exists"}]), "", id="everything tolerated"),
        pytest.param(
            pod(tolerations=TOLERANT, nodeSelector={"zone": "a"}),
            "node(s) didn't match Pod's node affinity/selector",
            id="another zone",
        ),
        pytest.param(
            pod(tolerations=TOLERANT, affinity=affinity({"key": "size", "operator": "Gt", "values": ["6"]})),
            "",
            id="an affinity that holds",
        ),
        pytest.param(
            pod(tolerations=TOLERANT, affinity=affinity({"key": "zone", "operator": "NotIn", "values": ["b"]})),
            "node(s) didn't match Pod's node affinity/selector",
            id="an affinity that does not",
        ),
        pytest.param(pod(tolerations=TOLERANT, overhead={"cpu": "2500m"}), "Insufficient cpu", id="overhead counts"),
    ],
)
def test_which_node_a_pod_may_be_on(given: Json, want: str) -> None:
    assert obstacle(want_of(given), space_of(NODE)) == want


def test_a_lost_node_takes_nobody_and_a_returned_one_does() -> None:
    lost = marked(NODE, ready=False)
    want = want_of(pod(tolerations=TOLERANT))
    assert obstacle(want, space_of(lost)) == "node(s) were unschedulable"
    assert obstacle(want, space_of(marked(lost, ready=True))) == ""


def test_a_pod_needs_the_larger_of_its_init_and_its_running_containers() -> None:
    def container(cpu: str, **more: str) -> Json:
        return {"resources": {"requests": {"cpu": cpu}}, **more}

    spec = {
        "initContainers": [container("500m", restartPolicy="Always"), container("4")],
        "containers": [container("1"), container("2")],
    }
    assert pod_requests(spec) == {"cpu": 4500, "pods": 1}


SPEC: Json = {"replicas": 2, "template": {"image": "x", "args": ["a"]}, "note": "n"}


@pytest.mark.parametrize(
    ("change", "ours", "theirs"),
    [
        pytest.param({"replicas": 3}, {"f:template", "f:note"}, {"f:replicas": {}}, id="another value is theirs"),
        pytest.param({"more": 1}, {"f:replicas", "f:template", "f:note"}, {"f:more": {}}, id="a new field is theirs"),
        pytest.param({"note": None}, {"f:replicas", "f:template"}, {}, id="a field that is taken away is nobody's"),
        pytest.param(
            {"template": {"args": ["b"]}},
            {"f:replicas", "f:template", "f:note"},
            {"f:template": {"f:args": {}}},
            id="a list changes hands as a whole, and nothing beside it",
        ),
    ],
)
def test_whoever_changes_a_field_owns_it(change: Json, ours: set[str], theirs: Json) -> None:
    made = field_managers.signed("us", {"apiVersion": "v1", "metadata": {}, "spec": SPEC}, 0)
    edited = merge({**made, "spec": {**SPEC, "template": dict(SPEC["template"])}}, {"spec": change})
    us, them = field_managers.rewritten("them", made, edited, 0)["metadata"]["managedFields"]
    assert (us["manager"], set(us["fieldsV1"]["f:spec"])) == ("us", ours)
    assert (them["manager"], them["fieldsV1"]) == ("them", {"f:spec": theirs})
    assert "f:args" not in us["fieldsV1"]["f:spec"].get("f:template", {}) or "template" not in change
