"""Sidecars and init containers come into Spark's pods by its operator's webhook, which API servers call after
Koordinator's: they call them in the order of their names. So these keep cpu and memory, unless Koordinator's webhook is
called once more (reinvocationPolicy IfNeeded), which is no part of its installation.
"""

from collections.abc import Iterator

import pytest

from fairway.domain.resources import Resources
from tests.kubernetes.idle.member import NAMESPACE, ROOM, Idle, asked, called_again
from tests.kubernetes.idle.spark_cases import ADDED, application


def both_sides(idle: Idle, name: str, shape: str) -> tuple[dict[str, Resources], dict[str, Resources]]:
    """What each role's pod asks for, and what is charged for it."""
    work = idle.submit(application(name, ADDED[shape], NAMESPACE, ROOM))
    pods = idle.roles(name, work.gang_minimum)
    return {role: asked(one) for role, (one,) in pods.items()}, {one.name: one.requests for one in work.pod_sets}


@pytest.fixture(scope="class")
def called_once_more(idle: Idle) -> Iterator[None]:
    called_again(idle.api, "IfNeeded")
    yield
    called_again(idle.api, "Never")


class TestAsInstalled:
    @pytest.mark.parametrize("shape", ADDED)
    def test_what_the_operator_adds_stays_cpu_and_memory(self, idle: Idle, shape: str) -> None:
        """So that less of batch resources is asked for than is charged, and cpu and memory beside them."""
        real, charged = both_sides(idle, f"w{list(ADDED).index(shape)}", shape)
        for role, requests in real.items():
            assert {"cpu", "memory"} <= requests.keys()
            assert requests != charged[role]


@pytest.mark.usefixtures("called_once_more")
class TestCalledAgain:
    @pytest.mark.parametrize("shape", ADDED)
    def test_each_pod_asks_for_what_its_role_is_charged(self, idle: Idle, shape: str) -> None:
        real, charged = both_sides(idle, f"a{list(ADDED).index(shape)}", shape)
        assert real == charged
