"""What koordlets would say of the nodes: sums over running pods."""

from typing import Any

import pytest

from fairway.lab.kubereal.stand_ins.node_metrics import NODE_USES, beside_pods, status, uses

GIB = 2**30


def _pod(node: str, phase: str = "Running", **requests: str) -> dict[str, Any]:
    annotations = {"fairway.test/cpu-use": "0.5"} if requests.pop("half", "") else {}
    asked = {name.replace("batch_", "kubernetes.io/batch-"): value for name, value in requests.items()}
    return {
        "metadata": {"name": "p", "namespace": "team", "annotations": annotations},
        "spec": {"nodeName": node, "containers": [{"resources": {"requests": asked}}]},
        "status": {"phase": phase},
    }


CASES = {
    "a pod uses a quarter of what it requests, the system 1 CPU and 2 GiB": (
        [_pod("n0", cpu="4", memory="8Gi")],
        (2_000, 4 * GIB),
    ),
    "or the share that its annotation says": ([_pod("n0", cpu="4", half="y")], (3_000, 2 * GIB)),
    "batch resources count as what they are made of": (
        [_pod("n0", batch_cpu="8000", batch_memory=str(8 * GIB))],
        (3_000, 4 * GIB),
    ),
    "pods of one node are added": ([_pod("n0", cpu="2"), _pod("n0", cpu="2")], (2_000, 2 * GIB)),
    "what does not run uses nothing": ([_pod("n0", "Succeeded", cpu="4"), _pod("n1", cpu="4")], (1_000, 2 * GIB)),
    "nor does a pod without a node": ([_pod("", cpu="4")], (1_000, 2 * GIB)),
}


@pytest.mark.parametrize(("given", "want"), CASES.values(), ids=CASES.keys())
def test_a_nodes_use(given: list[dict[str, Any]], want: tuple[int, int]) -> None:
    said = status(uses(given)["n0"], "2026-01-01T00:00:00Z")["nodeMetric"]["nodeUsage"]["resources"]

    assert said == {"cpu": f"{want[0]}m", "memory": str(want[1])}


@pytest.mark.parametrize(
    ("annotations", "want"),
    [
        pytest.param({NODE_USES: '{"cpu": "6500m", "memory": "20Gi"}'}, (6_500, 20 * GIB), id="what it says"),
        pytest.param({NODE_USES: '{"cpu": "6"}'}, (6_000, 0), id="nothing of what it does not name"),
        pytest.param({}, (1_000, 2 * GIB), id="the usual where it says nothing"),
        pytest.param({NODE_USES: "much"}, (1_000, 2 * GIB), id="the usual where nobody can read it"),
    ],
)
def test_what_a_node_uses_beside_its_pods(annotations: dict[str, str], want: tuple[int, int]) -> None:
    assert beside_pods({"metadata": {"name": "n0", "annotations": annotations}}) == want


def test_a_node_uses_what_its_pods_use_and_what_it_says() -> None:
    said = status(uses([_pod("n0", cpu="4", memory="8Gi")])["n0"], "2026-01-01T00:00:00Z", (5_000, GIB))["nodeMetric"]

    assert said["nodeUsage"]["resources"] == {"cpu": "6000m", "memory": str(3 * GIB)}
    assert said["systemUsage"]["resources"] == {"cpu": "5000m", "memory": str(GIB)}
