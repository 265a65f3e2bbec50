"""The queue's view: what it makes of what the store says between two looks at whoever may have been forgotten."""

import pytest
from given import told

from fairway.domain import decision
from fairway.queue.service import QueueView
from fairway.queue.turn import Sweep
from fairway.runtime.catalog import Catalog
from fairway.runtime.ports import Found
from fairway.runtime.telemetry import Meter

KEY = "root/a|cpu"


@pytest.mark.parametrize(
    ("looks", "want"),
    [
        pytest.param("4 4s 0 0s", 4, id="given back since the last sweep: the word of it may be on its way"),
        pytest.param("0s 4 0s", 4, id="free at both sweeps, and full in between"),
        pytest.param("4 0s", 4, id="full since the start, before the first sweep"),
        pytest.param("4 0s 0 0s", 0, id="free at every look since the last sweep"),
        pytest.param("0s 4s", 4, id="full now"),
    ],
)
def test_quota_has_lain_free_for_long_if_it_was_at_every_look_since_the_last_sweep(looks: str, want: int) -> None:
    """A look is what was used at it; with an `s` it is a sweep's."""
    view = QueueView(Catalog(), Meter())
    for look in looks.split():
        found = Found(counters={decision.QUOTA: {KEY: int(look.rstrip("s"))}})
        view.refresh(found, [told(Sweep())] if look.endswith("s") else [], 0)
    assert view.long_used == {KEY: want}
