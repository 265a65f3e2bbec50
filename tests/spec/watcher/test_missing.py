"""watcher: what a list lacks."""

import pytest

from fairway.domain import decision
from fairway.domain.decision import Decision
from fairway.domain.preemption.claim import hold_key
from fairway.runtime.ports import ReadRows, Row
from fairway.runtime.views.settings import Catalog
from fairway.watcher.decide import Listed, decide
from fairway.watcher.memory import WatcherMemory
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import T0, S, running
from tests.spec.builders.views import of, told

STOP = Reason(Code.CANCELLED, "cancelled by ann")


def test_what_is_missing_while_an_attempt_before_it_is_removed_is_looked_for_after_that() -> None:
    life = running().then(wire.Recall, cluster="c3", attempt=0, why=STOP)
    listed = Listed(cluster="c1", kind="PyTorchJob.kubeflow.org/v1", keys=frozenset())
    assert decide(of(life, held={"c1": {"llm-1"}}), told(listed), T0 + 900 * S) == Decision(again_in=1_000)


HELD = (decision.ledger("c1"), "llm-1/2", Row(1, b""))
KEPT = (decision.ledger("c1"), hold_key("llm-1", 2, 1), Row(1, b""))
DROPPED = (*KEPT[:2], None)


@pytest.mark.parametrize(
    ("changes", "want"),
    [
        pytest.param((HELD,), {"llm-1"}, id="an attempt"),
        pytest.param((KEPT, HELD, DROPPED), {"llm-1"}, id="an attempt that got what was kept for its claim"),
        pytest.param((KEPT,), set(), id="room that is kept for a claim alone"),
        pytest.param((HELD, (*HELD[:2], None)), set(), id="an attempt that has left"),
    ],
)
def test_who_is_looked_for_in_a_cluster(changes, want: set[str]) -> None:  # type: ignore[no-untyped-def]  # of a view
    view = WatcherMemory(Catalog())
    view.begin()
    for version, change in enumerate(changes, 1):
        view.take(ReadRows(changes=[change], version=version), (), T0)
    assert view.held.get("c1", set()) == want


def test_a_cluster_may_be_named_as_it_likes() -> None:
    view = WatcherMemory(Catalog())
    view.begin()
    changes = [(decision.CLUSTERS, "a-claim-1", Row(1, b'{"name":"a-claim-1","observed_at":7}'))]
    view.take(ReadRows(changes=changes, version=1), (), T0)
    assert "a-claim-1" in [one.key for one in view.silence.remembered() if one.table == "reported"]
