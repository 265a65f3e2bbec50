"""What an agent makes of the nodes and pods it is told of."""

from typing import Any

import pytest

from fairway.agent.observe import node_of, use_of
from fairway.agent.report import Seen, parts
from fairway.wire.capacity import Node, Pods, Taint

Json = dict[str, Any]
OURS = {"fairway.io/job": "j1", "fairway.io/attempt": "2", "fairway.io/pod-set": "worker"}
READY = {"type": "Ready", "status": "True"}


def node(name: str = "n1", *, ready: Json = READY, **spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"gpu": "A100"}, "uid": "u", "annotations": {"a": "b"}},
        "spec": spec,
        "status": {
            "allocatable": {"cpu": "3920m", "memory": "8Gi", "nvidia.com/gpu": "8", "pods": "110"},
            "conditions": [{"type": "DiskPressure", "status": "False"}, ready],
            "nodeInfo": {"kubeletVersion": "v1.34.4"},
        },
    }


def pod(
    name: str = "p", on: str | None = "n1", labels: Json | None = None, phase: str = "Running", **spec: Any
) -> Json:
    spec.setdefault("containers", [{"name": "main", "resources": {"requests": {"cpu": "1"}}}])
    return {
        "metadata": {"name": name, "namespace": "team", "labels": labels or {}},
        "spec": {"nodeName": on, **spec} if on else spec,
        "status": {"phase": phase},
    }


def container(requests: Json | None = None, limits: Json | None = None, **more: Any) -> Json:
    return {"name": "c", "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


def test_a_node_is_its_allocatable_labels_and_taints() -> None:
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}
    assert node_of(node(taints=[taint])) == (
        Node(
            name="n1",
            allocatable={"cpu": 3920, "memory": 8 * 2**30, "nvidia.com/gpu": 8, "pods": 110},
            labels={"gpu": "A100"},
            taints=(Taint("gpu", "NoSchedule", "yes"),),
        ),
        "v1.34.4",
        True,
    )


def test_a_node_that_does_not_say_how_many_pods_it_takes_takes_none() -> None:
    given = node()
    del given["status"]["allocatable"]["pods"]
    assert node_of(given)[0].allocatable == {"cpu": 3920, "memory": 8 * 2**30, "nvidia.com/gpu": 8, "pods": 0}


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param(node(), True, id="a ready node takes pods"),
        pytest.param(node(unschedulable=True), False, id="a cordoned node takes none"),
        pytest.param(node(ready={"type": "Ready", "status": "Unknown"}), False, id="a silent node takes none"),
        pytest.param(node(ready={"type": "Other", "status": "True"}), False, id="a node that says nothing takes none"),
        pytest.param(
            node() | {"metadata": {"name": "n1", "deletionTimestamp": "now"}},
            False,
            id="a node that is being removed takes none",
        ),
    ],
)
def test_whether_a_node_takes_pods(given: Json, want: bool) -> None:
    assert node_of(given)[0].schedulable is want


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param(
            {"containers": [container({"cpu": "1"}), container({"cpu": "500m"})]}, {"cpu": 1500}, id="containers add up"
        ),
        pytest.param(
            {"containers": [container(limits={"cpu": "2", "nvidia.com/gpu": "1"})]},
            {"cpu": 2000, "nvidia.com/gpu": 1},
            id="what is not requested is what is limited",
        ),
        pytest.param(
            {"containers": [container({"cpu": "1"})], "initContainers": [container({"cpu": "3"})]},
            {"cpu": 3000},
            id="a large init container counts instead",
        ),
        pytest.param(
            {
                "containers": [container({"cpu": "1"})],
                "initContainers": [container({"cpu": "1"}, restartPolicy="Always")],
            },
            {"cpu": 2000},
            id="a sidecar counts as well",
        ),
        pytest.param(
            {"containers": [container({"cpu": "1"})], "overhead": {"cpu": "250m", "memory": "1Mi"}},
            {"cpu": 1250, "memory": 2**20},
            id="overhead comes on top",
        ),
        pytest.param(
            {"containers": [container({"cpu": "1"})], "resources": {"requests": {"cpu": "5"}}},
            {"cpu": 5000},
            id="requests of the whole pod replace the sum",
        ),
        pytest.param({"containers": [{"name": "c"}]}, {}, id="a pod without requests takes a pod"),
        pytest.param({"containers": [container({"cpu": "much"})]}, {"cpu": 0}, id="nonsense counts as nothing"),
    ],
)
def test_what_a_pod_takes(given: Json, want: dict[str, int]) -> None:
    use = use_of(pod(**given))
    assert use is not None and use.requests == want | {"pods": 1}


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param(pod(), {"used": {"cpu": 1000, "pods": 1}}, id="a stranger's pod is in use"),
        pytest.param(
            pod(labels=OURS),
            {"attempts": {"j1/2": Pods({"worker": 1}, {"cpu": 1000, "pods": 1}, "team")}},
            id="a pod of an attempt is told by attempt and pod set",
        ),
        pytest.param(
            pod(labels={"fairway.io/job": "j1"}),
            {"used": {"cpu": 1000, "pods": 1}},
            id="a pod with half of our labels is a stranger's",
        ),
        pytest.param(pod(labels=OURS, on=None, phase="Pending"), {}, id="a pod without a node counts nowhere"),
        pytest.param(pod(phase="Pending"), {"used": {"cpu": 1000, "pods": 1}}, id="a pod that starts counts"),
        pytest.param(pod(phase="Succeeded"), {}, id="a pod that succeeded does not count"),
        pytest.param(pod(phase="Failed", labels=OURS), {}, id="a pod that failed does not count"),
    ],
)
def test_who_uses_a_node(given: Json, want: Json) -> None:
    seen = Seen()
    seen.node("n1", node())
    seen.pod("team", "p", given)
    (row,), gone = seen.take(full=True)
    assert ({"used": row.used} if row.used else {}) | ({"attempts": row.attempts} if row.attempts else {}) == want
    assert gone == ()


def test_what_pods_of_one_shape_take_is_kept_once() -> None:
    one = use_of(pod())
    other = use_of(pod())
    assert one is not None and other is not None
    assert one.requests is other.requests


def told() -> Seen:
    """Two nodes, a pod on the first; all of it reported."""
    seen = Seen()
    seen.node("n1", node("n1"))
    seen.node("n2", node("n2"))
    seen.pod("team", "p", pod("p", labels=OURS))
    seen.take(full=True)
    return seen


def names(seen: Seen, full: bool = False) -> tuple[list[str], list[str]]:
    rows, gone = seen.take(full)
    return [row.name for row in rows], list(gone)


def test_the_same_again_is_no_news() -> None:
    seen = told()
    seen.node("n1", node("n1") | {"metadata": node("n1")["metadata"] | {"annotations": {"a": "c"}}})
    seen.pod("team", "p", pod("p", labels=OURS))
    assert not seen.anything


def test_only_nodes_that_changed_are_reported_and_only_once() -> None:
    seen = told()
    seen.pod("team", "q", pod("q", on="n2"))
    assert names(seen) == (["n2"], [])
    assert names(seen) == ([], [])


def test_a_pod_that_ends_gives_its_node_back_and_its_deletion_is_no_news() -> None:
    seen = told()
    seen.pod("team", "p", pod("p", labels=OURS, phase="Succeeded"))
    (row,), _ = seen.take(full=False)
    assert (row.name, row.attempts, row.used) == ("n1", {}, {})
    seen.pod("team", "p", None)
    assert not seen.anything


def test_a_pod_that_grows_is_counted_once() -> None:
    seen = told()
    seen.pod("team", "p", pod("p", labels=OURS, containers=[container({"cpu": "3"})]))
    (row,), _ = seen.take(full=False)
    assert row.attempts == {"j1/2": Pods({"worker": 1}, {"cpu": 3000, "pods": 1}, "team")}


def test_pods_that_were_told_before_their_node_are_on_it_when_it_comes() -> None:
    seen = Seen()
    seen.pod("team", "p", pod("p"))
    assert not seen.anything
    seen.node("n1", node())
    (row,), _ = seen.take(full=False)
    assert row.used == {"cpu": 1000, "pods": 1}


def test_a_node_that_goes_is_told_once_and_its_late_pods_bring_no_row_back() -> None:
    seen = told()
    seen.node("n1", None)
    seen.pod("team", "p", None)
    assert names(seen) == ([], ["n1"])
    assert names(seen, full=True) == (["n2"], [])


def test_a_node_that_goes_and_comes_back_is_not_gone() -> None:
    seen = told()
    seen.node("n1", None)
    seen.node("n1", node("n1"))
    assert names(seen) == (["n1"], [])


@pytest.mark.parametrize(
    ("most", "want"),
    [
        pytest.param(10_000, [3], id="what fits goes together"),
        pytest.param(100, [2, 1], id="what does not fit is cut"),
        pytest.param(1, [1, 1, 1], id="a row that is too large goes alone"),
    ],
)
def test_a_large_report_is_cut(most: int, want: list[int]) -> None:
    rows = [Node(name, {"cpu": 1000, "pods": 1}) for name in "abc"]
    cut = parts(rows, most)
    assert [len(part) for part in cut] == want
    assert [row for part in cut for row in part] == rows


def test_nothing_is_one_empty_part() -> None:
    assert parts([], 100) == [()]
