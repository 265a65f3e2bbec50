"""queue: a cluster that a job avoids after a failure there is tried again at its time, and not before."""

from typing import Any

import msgspec
import pytest

from fairway.queue.decide import decide
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from tests.spec.builders.lives import T0, S
from tests.spec.builders.views import gone, heard, of
from tests.spec.builders.waiting import room, waiting

NOW = T0 + 900 * S


def avoiding(until: int) -> dict[str, Any]:
    verdict = wire.Verdict("c1", Code.RECENTLY_FAILED, "", {"until": until})
    return {"why": room(), "verdicts": (verdict,), "freed": 3}


@pytest.mark.parametrize(
    ("until", "delivered", "want"),
    [
        pytest.param(NOW + 5 * S, 1, ([], 5 * S), id="put off until the cluster is open to it again"),
        pytest.param(NOW, 2, (["a"], None), id="tried when it is"),
        pytest.param(NOW - S, 1, (["a"], None), id="tried at once when that is past"),
    ],
)
def test_a_cluster_that_is_avoided_for_a_while_has_its_time(until: int, delivered: int, want: tuple) -> None:  # type: ignore[type-arg]  # of cases
    life = waiting("a", **avoiding(until))
    view = of(life, freed=3)
    view.queued.found_none("a", 3)
    decision = decide(view, heard(life, delivered=delivered), NOW)
    assert (gone(decision), decision.again_in) == want


@pytest.mark.parametrize(
    ("until", "want"),
    [
        pytest.param(NOW + 5 * S, ([], 5 * S), id="put off until the job avoids it no longer"),
        pytest.param(NOW, (["a"], None), id="tried when it does not"),
        pytest.param(T0, ([], None), id="that was over when it was told, and wakes nobody again"),
    ],
)
def test_an_avoided_cluster_of_which_something_else_was_told_has_its_time_too(until: int, want: tuple) -> None:  # type: ignore[type-arg]  # of cases
    life = waiting("a", why=room(), verdicts=(wire.Verdict("c1", Code.CAPACITY_STALE),), freed=3)
    life.job = msgspec.structs.replace(life.now, avoid={"c1": until})
    view = of(life, freed=3)
    view.queued.found_none("a", 3)
    decision = decide(view, heard(life), NOW)
    assert (gone(decision), decision.again_in) == want
