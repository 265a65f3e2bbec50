"""queue: who stands behind the head of a blocking queue has a reason in the record, said once."""

import pytest

from fairway.queue.decide import decide
from fairway.queue.view import QueueBegins, Sweep
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import T0, Life, S
from tests.spec.builders.views import events, heard, of, told, verbs
from tests.spec.builders.waiting import BLOCK, flying, held, room, waiting
from tests.spec.queue.test_order import removing

NOW = T0 + 900 * S
BEHIND = Reason(Code.BEHIND_HEAD, "not its turn")


@pytest.mark.parametrize(
    "head", [waiting("a", why=room()), waiting("a"), flying("a")], ids=["no room", "next", "flying"]
)
def test_whoever_comes_behind_a_blocking_head_says_so(head: Life) -> None:
    life = waiting("x", 1)
    (said,) = [one for one in events(decide(of(head, life, queues=BLOCK), heard(life), NOW)) if one.job == "x"]
    assert (said.verb, said.why.code) == ("blocked", Code.BEHIND_HEAD)
    assert "queue gold lets one job go at a time" in said.why.text


def test_so_does_who_is_removed_where_he_was_and_has_to_wait_again() -> None:
    life = removing("x", 1).then(wire.Removed, cluster="c1", attempt=1)
    (said,) = events(decide(of(flying("a"), life, queues=BLOCK), heard(life), NOW))
    assert (said.job, said.verb, said.why.code) == ("x", "blocked", Code.BEHIND_HEAD)


@pytest.mark.parametrize("when", [QueueBegins(), Sweep()])
def test_it_is_not_said_again(when: QueueBegins | Sweep) -> None:
    view = of(flying("a"), waiting("x", 1, why=BEHIND), queues=BLOCK)
    assert verbs(decide(view, told(when), NOW)) == []


def test_it_goes_when_its_turn_comes() -> None:
    head = held("a")
    view = of(head, waiting("x", 1, why=BEHIND), queues=BLOCK)
    assert verbs(decide(view, heard(head), NOW)) == ["dequeued"]


def test_the_head_goes_and_says_nothing_of_the_kind() -> None:
    life = waiting("x")
    assert verbs(decide(of(life, queues=BLOCK), heard(life), NOW)) == ["dequeued"]
