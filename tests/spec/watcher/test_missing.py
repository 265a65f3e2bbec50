"""watcher: what a list lacks."""

from fairway.domain.decision import Decision
from fairway.watcher.decide import Listed, decide
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import T0, S, running
from tests.spec.builders.views import of, told

STOP = Reason(Code.CANCELLED, "cancelled by ann")


def test_what_is_missing_while_an_attempt_before_it_is_removed_is_looked_for_after_that() -> None:
    life = running().then(wire.Recall, cluster="c3", attempt=0, why=STOP)
    listed = Listed(cluster="c1", kind="PyTorchJob.kubeflow.org/v1", keys=frozenset())
    assert decide(of(life, held={"c1": {"llm-1"}}), told(listed), T0 + 900 * S) == Decision(again_in=1_000)
