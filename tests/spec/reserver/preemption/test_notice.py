"""reserver: how long a victim has before it is deleted and after, and how long its room is waited for."""

from typing import Any

import pytest
from msgspec.structs import replace

from fairway.wire import jobs as wire
from tests.spec.builders.lives import Life, S
from tests.spec.builders.views import events
from tests.spec.builders.waiting import held
from tests.spec.reserver.preemption.test_evict import NOW, WHOLE, command, evict, mine, on


def runs(name: str, notice: int) -> Life:
    life = held(name, evict_notice=notice)
    return life.then(wire.Dispatched, cluster="c1").then(wire.Running, cluster="c1")


def ended(*lives: Life, **max_grace: int) -> Any:
    """What is said of the claim's job and of the first victim."""
    names = [one.name for one in lives]
    said = {node.replace("_", "/"): most for node, most in max_grace.items()}
    asked = replace(command(*names, nodes=("n1", "n2")[: len(names)]), max_grace=said)
    nodes = tuple(on(f"n{at}", **{name: WHOLE}) for at, name in enumerate(names, 1))
    told = events(evict(asked, mine(len(names)), *lives, nodes=nodes))
    first = [one for one in told if isinstance(one, wire.JobMessage) and one.job == names[0]]
    return told[0], *first[:2]


TIMES: dict[str, tuple[Life, dict[str, int], tuple[int, int, int]]] = {
    # given: its notice and what the tree says; want: deleted after, grace, kept for
    "it asks for nothing": (runs("v", 0), {}, (0, 120 * S, 180 * S)),
    "it asks for notice": (runs("v", 30 * S), {}, (30 * S, 90 * S, 180 * S)),
    "for more than there is": (runs("v", 300 * S), {}, (120 * S, 1 * S, 180 * S)),
    "its tree has more": (runs("v", 300 * S), {"root": 600 * S}, (300 * S, 300 * S, 660 * S)),
    "its leaf has less": (runs("v", 30 * S), {"root": 600 * S, "root_a": 10 * S}, (10 * S, 1 * S, 70 * S)),
    "its leaf has none": (runs("v", 30 * S), {"root_a": 0}, (0, 1 * S, 60 * S)),
    "another leaf says so": (runs("v", 30 * S), {"root_b": 0}, (30 * S, 90 * S, 180 * S)),
    "it does not run yet": (held("v", evict_notice=30 * S), {}, (0, 120 * S, 180 * S)),
}


@pytest.mark.parametrize(("life", "said", "want"), TIMES.values(), ids=list(TIMES))
def test_notice_and_grace_together_are_as_long_as_its_quota_allows(
    life: Life, said: dict[str, int], want: tuple[int, int, int]
) -> None:
    nominated, evicted, recall = ended(life, **said)
    notice, grace, kept = want
    assert (evicted.verb, recall.verb) == ("evicted", "recall")
    assert (recall.delete_at, recall.grace) == (NOW + notice if notice else 0, grace)
    assert nominated.until == NOW + kept
    assert ("has notice" in evicted.why.text) is bool(notice)


def test_room_is_kept_for_as_long_as_the_slowest_may_take() -> None:
    (nominated, *_) = ended(runs("v", 0), runs("w", 0), root=10 * S)
    assert nominated.until == NOW + 70 * S
    (nominated, *_) = ended(runs("v", 0), runs("w", 0))
    assert nominated.until == NOW + 180 * S
