"""agent: pods that say they are of an attempt, and what it can tell of whether they are."""

import pytest

from fairway.agent.report import Seen
from fairway.wire.capacity import Pods
from tests.spec.agent.test_agent_observe import OURS, node, pod


def test_pods_of_two_namespaces_that_say_they_are_of_one_attempt_are_told_apart() -> None:
    """Whose it is, an agent cannot know. What Fairway itself made to hold its room is of neither."""
    seen = Seen()
    one = {"cpu": 1000, "pods": 1}
    seen.node("n1", node())
    held = {**OURS, "fairway.io/placeholder": "true"}
    for namespace, labels in (("team", OURS), ("evil", OURS), ("fairway-system", held), ("evil", held)):
        made = pod("p", labels=labels)
        made["metadata"]["namespace"] = namespace
        seen.pod(namespace, f"p-{len(labels)}", made)
    (row,), _ = seen.take(full=False)
    assert row.attempts == {
        "j1/2": Pods({"worker": 1}, one),
        "j1/2@evil": Pods({"worker": 2}, {"cpu": 2000, "pods": 2}, "evil"),
        "j1/2@team": Pods({"worker": 1}, one, "team"),
    }


@pytest.mark.parametrize("number", ["x", "", "-1", "2 ", "1e3"])
def test_a_label_that_is_no_attempt_makes_a_pod_a_strangers(number: str) -> None:
    seen = Seen()
    seen.node("n1", node())
    seen.pod("team", "p", pod(labels={**OURS, "fairway.io/attempt": number}))
    seen.node("n1", None)
    assert seen.stranded(1_000, 0) == ()
