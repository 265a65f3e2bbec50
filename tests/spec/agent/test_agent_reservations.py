"""What an agent makes of Koordinator's Reservations: room that is kept, whoever keeps it."""

from typing import Any

import pytest

from fairway.agent.observe import Use, reserved_by

Json = dict[str, Any]
OURS = {"fairway.io/job": "j1", "fairway.io/attempt": "2", "fairway.io/pod-set": "worker"}


def reservation(phase: str = "Available", labels: Json | None = None, **status: Any) -> Json:
    amounts = {"cpu": "4", "nvidia.com/gpu": "8"}
    return {
        "metadata": {"name": "r", "labels": labels or {}},
        "status": {"phase": phase, "nodeName": "n1", "allocatable": amounts, **status},
    }


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param(reservation(), Use("n1", {"cpu": 4000, "nvidia.com/gpu": 8}), id="of somebody else: used"),
        pytest.param(
            reservation(allocated={"cpu": "1", "nvidia.com/gpu": "8"}),
            Use("n1", {"cpu": 3000}),
            id="less what pods have taken of it: they count themselves",
        ),
        pytest.param(
            reservation(labels=OURS),
            Use("n1", {"cpu": 4000, "nvidia.com/gpu": 8, "pods": 1}, "j1/2", "worker"),
            id="of an attempt: as the pod it is for",
        ),
        pytest.param(reservation("Pending", nodeName=""), None, id="not held yet"),
        pytest.param(reservation("Succeeded"), None, id="taken"),
        pytest.param(reservation("Failed"), None, id="expired"),
    ],
)
def test_a_reservation_takes_what_it_keeps_from_others(given: Json, want: Use | None) -> None:
    assert reserved_by(given) == want
