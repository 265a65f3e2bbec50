"""What an agent makes of pods that stay on a node that is away."""

import pytest

from fairway.agent.report import Seen
from fairway.wire.fleet import Strand
from tests.spec.agent.test_agent_observe import OURS, READY, Json, node, pod

SILENT = {"type": "Ready", "status": "Unknown"}


@pytest.mark.parametrize(
    ("away", "how"),
    [
        pytest.param(node(ready=SILENT), "has not been ready", id="a node that is silent"),
        pytest.param(None, "has not been there", id="a node that was taken away"),
    ],
)
def test_pods_that_stay_on_a_node_that_is_away_are_stranded_after_a_while(away: Json | None, how: str) -> None:
    seen = Seen()
    seen.node("n1", node())
    seen.pod("team", "p", pod(labels=OURS))
    assert seen.stranded(1_000, 60_000) == ()
    seen.node("n1", away)
    assert [seen.stranded(at, 60_000) for at in (2_000, 61_999)] == [(), ()]
    assert seen.stranded(63_000, 60_000) == (Strand("j1", 2, "n1", how, 61, "team"),)


def test_a_node_that_comes_back_has_its_time_anew_and_pods_that_go_are_not_stranded() -> None:
    seen = Seen()
    seen.pod("team", "p", pod(labels=OURS))
    for at, ready in ((0, SILENT), (30_000, READY), (40_000, SILENT), (99_000, SILENT)):
        seen.node("n1", node(ready=ready))
        assert seen.stranded(at, 60_000) == ()
    seen.pod("team", "p", None)
    assert seen.stranded(200_000, 60_000) == ()
