"""What counts as a disagreement: a table of what was said and what came of four pods."""

import pytest

from fairway.wire.capacity import Slot
from tests.kubernetes.agreement.cases import Case, DrawnPods
from tests.kubernetes.agreement.cluster import Outcome
from tests.kubernetes.agreement.disagreements import disagreements
from tests.kubernetes.agreement.manifests import Place
from tests.kubernetes.agreement.placement import Said
from tests.kubernetes.agreement.rounds import Came

_CASE = Case(1, 1, (), (DrawnPods("set0", 4, {}),))
_PLAN = (Slot("set0", "node", 4),)
_FITS = Said(_PLAN, 4, 1, False, "")
_FITS_IN_SHAPES = Said(_PLAN, 4, 2, False, "")
_TWO_FIT = Said((), 2, 1, False, "")
_TWO_FIT_IN_SHAPES = Said((), 2, 2, False, "")
_TWO_FIT_BESIDE_CLOSED = Said((), 2, 1, True, "")

TABLE = [
    pytest.param("kube-scheduler", _FITS, 4, 4, 0, id="it fits, and is placed both ways"),
    pytest.param("kube-scheduler", _FITS, 3, 4, 1, id="one is not placed where it was planned"),
    pytest.param("kube-scheduler", _FITS, 4, 3, 1, id="one of equal pods is not placed"),
    pytest.param("kube-scheduler", _FITS, 3, 3, 2, id="neither"),
    pytest.param("kube-scheduler", _FITS_IN_SHAPES, 4, 3, 0, id="pods of several shapes, of which one is in the way"),
    pytest.param("volcano", _FITS, 4, None, 0, id="it was only tried as planned"),
    pytest.param("volcano", _FITS, 3, None, 1, id="it was only tried as planned, and was not placed"),
    pytest.param("kube-scheduler", _TWO_FIT, 0, 2, 0, id="as many as were said"),
    pytest.param("kube-scheduler", _TWO_FIT, 0, 3, 1, id="more than were said"),
    pytest.param("kube-scheduler", _TWO_FIT, 0, 1, 1, id="fewer than were said"),
    pytest.param("volcano", _TWO_FIT, 0, 0, 0, id="a gang that does not fit is left alone"),
    pytest.param("volcano", _TWO_FIT, 0, 4, 1, id="a gang that was said not to fit is placed"),
    pytest.param("koordinator", _TWO_FIT_IN_SHAPES, 0, 4, 0, id="several shapes are judged with care"),
    pytest.param("kube-scheduler", _TWO_FIT_BESIDE_CLOSED, 0, 4, 0, id="so are closed nodes that the pods tolerate"),
]


@pytest.mark.parametrize(("scheduler", "said", "planned", "free", "want"), TABLE)
def test_what_is_a_disagreement(scheduler: str, said: Said, planned: int, free: int | None, want: int) -> None:
    came = None if free is None else Came(free)
    found = disagreements([Outcome(Place(_CASE, scheduler), said, Came(planned), came)])
    assert len(found) == want
    assert all("again: python -m tests.kubernetes.agreement 1 1" in text for text in found)
