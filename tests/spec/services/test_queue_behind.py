"""queue: who stands behind the head of a blocking queue has a reason in the record, said once."""

import pytest
from given import events, heard, of, told, verbs
from line import BLOCK, flying, held, room, waiting
from lives import T0, Life, S

from fairway.queue.decide import decide
from fairway.queue.view import Begin, Sweep
from fairway.wire.reasons import Code, Reason

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


@pytest.mark.parametrize("when", [Begin(), Sweep()])
def test_it_is_not_said_again(when: Begin | Sweep) -> None:
    view = of(flying("a"), waiting("x", 1, why=BEHIND), queues=BLOCK)
    assert verbs(decide(view, told(when), NOW)) == []


def test_it_goes_when_its_turn_comes() -> None:
    head = held("a")
    view = of(head, waiting("x", 1, why=BEHIND), queues=BLOCK)
    assert verbs(decide(view, heard(head), NOW)) == ["dequeued"]


def test_the_head_goes_and_says_nothing_of_the_kind() -> None:
    life = waiting("x")
    assert verbs(decide(of(life, queues=BLOCK), heard(life), NOW)) == ["dequeued"]
