"""What a node lists of batch resources follows what it really uses: koord-manager computes it, as in production."""

import pytest

from fairway.domain.batch_resources import BATCH_CPU, BATCH_MEMORY
from fairway.domain.resources import parse_quantity
from tests.kubernetes.idle.member import MEMBER, Idle
from tests.kubernetes.support.fleet import until
from tests.kubernetes.support.koord import set_use

GIB = 2**30
NODE = f"{MEMBER}-quiet"
# Of 16 cores and 64 GiB Koordinator lends out 70 %, in whole millicores and bytes, less what is in use.
CPU = 11_200
MEMORY = 64 * GIB - 64 * GIB * 30 // 100


@pytest.fixture(scope="module")
def node(idle: Idle) -> str:
    """One that no pod comes to."""
    amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    taint = {"key": "fairway.test/quiet", "effect": "NoSchedule"}
    status = {"capacity": amounts, "allocatable": amounts}
    idle.api.create("v1/nodes", {"metadata": {"name": NODE}, "spec": {"taints": [taint]}, "status": status})
    return NODE


@pytest.mark.parametrize(
    ("cpu", "memory", "want"),
    [
        pytest.param("3", "10Gi", (CPU - 3_000, MEMORY - 10 * GIB), id="little is in use"),
        pytest.param("9500m", "40Gi", (CPU - 9_500, MEMORY - 40 * GIB), id="much is in use"),
        pytest.param("12", "60Gi", (0, 0), id="more is in use than may be lent out"),
        pytest.param("0", "0", (CPU, MEMORY), id="nothing is in use"),
    ],
)
def test_a_node_lists_what_its_use_leaves(idle: Idle, node: str, cpu: str, memory: str, want: tuple[int, int]) -> None:
    set_use(idle.api, node, cpu, memory)
    until(lambda: listed(idle, node) == want, f"a node whose pods may use {want}", seconds=20)
    assert listed(idle, node) == want


def listed(idle: Idle, node: str) -> tuple[int, ...]:
    """Millicores and bytes; nothing of what the node does not list."""
    found = idle.api.get(f"v1/nodes/{node}")
    assert found is not None
    given = found["status"]["allocatable"]
    return tuple(parse_quantity(name, given[name]) for name in (BATCH_CPU, BATCH_MEMORY) if name in given)
