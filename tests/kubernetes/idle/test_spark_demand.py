"""What a SparkApplication on idle resources is charged for is what its pods ask for in a member: Koordinator's own
webhook has written their cpu and memory as batch resources.

How large a pod is, the stand-in for spark-submit says, by Spark's rules and without Fairway's code; that these are
Spark's rules is not shown here. Shown is what a real webhook makes of the pods.
"""

import pytest

from fairway.wire.workload import Workload
from tests.kubernetes.idle.member import CLASS, NAMESPACE, PRIORITY, ROOM, Idle, asked
from tests.kubernetes.idle.spark_cases import SHAPES, application


@pytest.fixture(scope="module")
def submitted(idle: Idle) -> dict[str, tuple[str, Workload]]:
    """All at once, which is quicker than one after the other."""
    return {
        shape: (f"s{number}", idle.submit(application(f"s{number}", more, NAMESPACE, ROOM)))
        for number, (shape, more) in enumerate(SHAPES.items())
    }


@pytest.mark.parametrize("shape", SHAPES)
def test_each_pod_asks_for_what_its_role_is_charged(
    idle: Idle, submitted: dict[str, tuple[str, Workload]], shape: str
) -> None:
    name, work = submitted[shape]
    pods = idle.roles(name, work.gang_minimum)
    charged = {one.name: one.requests for one in work.pod_sets}
    assert {role: len(found) for role, found in pods.items()} == {"driver": 1, "executor": work.gang_minimum - 1}
    for role, found in pods.items():
        assert [asked(one) for one in found] == [charged[role]] * len(found)


def test_the_pods_give_way_to_others_and_push_none_away(idle: Idle, submitted: dict[str, tuple[str, Workload]]) -> None:
    name, work = submitted["cores"]
    for one in [pod for found in idle.roles(name, work.gang_minimum).values() for pod in found]:
        spec = one["spec"]
        assert (spec["priorityClassName"], spec["priority"], spec["preemptionPolicy"]) == (CLASS, PRIORITY, "Never")
