"""How an agent finds out in which ways room can be held in its member."""

from typing import Any

import pytest

from fairway.agent.reservation_ways import ways
from fairway.runtime.cluster_port import ClusterRefused

NOW = 1_700_000_100_000  # 2023-11-14 22:15:00Z
FRESH = "2023-11-14T22:14:58.123456Z"
STALE = "2023-11-14T22:13:30.000000Z"
KUBE = ("kube-system", "kube-scheduler")
KOORD = ("koordinator-system", "koord-scheduler")


class Leases:
    """A cluster of which only its leases are asked; None: they may not be read."""

    def __init__(self, leases: dict[tuple[str, str], str] | None) -> None:
        self.leases = leases
        self.asked = 0

    async def get(self, kind: str, namespace: str, name: str) -> dict[str, Any] | None:
        self.asked += 1
        if self.leases is None:
            raise ClusterRefused("Forbidden", "leases is forbidden")
        renewed = self.leases.get((namespace, name))
        return {"spec": {"renewTime": renewed}} if renewed is not None else None


@pytest.mark.parametrize(
    ("leases", "reserve", "want"),
    [
        pytest.param({KUBE: FRESH}, "auto", ("placeholders",), id="kube-scheduler is alive"),
        pytest.param({KOORD: FRESH}, "auto", ("reservations",), id="koord-scheduler is alive"),
        pytest.param({KUBE: FRESH, KOORD: FRESH}, "auto", ("reservations", "placeholders"), id="both, the best first"),
        pytest.param({("kube-system", "koord-scheduler"): FRESH}, "auto", ("reservations",), id="its lease elsewhere"),
        pytest.param({KUBE: FRESH, KOORD: STALE}, "auto", ("placeholders",), id="koord-scheduler died"),
        pytest.param({KUBE: ""}, "auto", (), id="a lease that nobody has taken"),
        pytest.param({}, "auto", (), id="neither is there"),
        pytest.param(None, "auto", (), id="the agent may not ask"),
        pytest.param({KOORD: FRESH}, "placeholders", ("placeholders",), id="told: placeholders"),
        pytest.param({KUBE: FRESH}, "ledger", (), id="told: nothing but the ledger"),
    ],
)
async def test_room_can_be_held_by_the_schedulers_that_are_alive(
    leases: dict[tuple[str, str], str] | None, reserve: str, want: tuple[str, ...]
) -> None:
    cluster = Leases(leases)
    assert await ways(cluster, reserve, NOW) == want  # type: ignore[arg-type]  # asks for leases only
    assert bool(cluster.asked) == (reserve == "auto")
