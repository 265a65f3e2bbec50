"""watcher: pods that stay on a node that is away, as the agent of their cluster tells of them."""

from typing import Any

import pytest

from fairway.watcher.decide import decide
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import T0, Life, S, dispatched, running
from tests.spec.builders.views import of, told, verbs
from tests.spec.watcher.test_decide import second

NOW = T0 + 900 * S
STOP = Reason(Code.CANCELLED, "cancelled by ann")


def strand(attempt: int = 1, cluster: str = "c1", job: str = "llm-1") -> Any:
    on = fleet.Strand(job, attempt, "n1", "has not been there", 61, "team-a")
    return told(fleet.Stranded(cluster=cluster, attempts=(on,)))


STRANDS = {
    "a running attempt": (running(), strand(), ["lost", "recall", "queue"]),
    "one that has not started": (dispatched(), strand(), ["lost", "recall", "queue"]),
    "an attempt before": (second(running()).then(wire.Dispatched, cluster="c2"), strand(), []),
    "the attempt elsewhere": (running(), strand(cluster="c2"), []),
    "one that is being removed": (running().then(wire.Recall, cluster="c1", why=STOP), strand(), []),
    "one that has ended": (running().then(wire.Succeeded, cluster="c1"), strand(), []),
    "one that nobody knows": (running(), strand(job="llm-9"), []),
}


@pytest.mark.parametrize(("life", "said", "want"), STRANDS.values(), ids=list(STRANDS))
def test_pods_that_stay_on_a_node_that_is_away_end_their_attempt(life: Life, said: Any, want: list[str]) -> None:
    assert verbs(decide(of(life), said, NOW)) == want
