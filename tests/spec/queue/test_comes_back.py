"""queue: an attempt is over, and that another one follows was lost with its working set before it was said."""

import pytest

from fairway.queue.decide import decide
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import T0, Life, S, running
from tests.spec.builders.views import events, heard, of, verbs

NOW = T0 + 900 * S
WHY = Reason(Code.JOB_FAILED, "exit code 1")


def failed() -> Life:
    return running("c1").then(wire.Failed, cluster="c1", why=WHY)


def recalled() -> Life:
    return failed().then(wire.Recall, cluster="c1", why=WHY)


def removed() -> Life:
    return recalled().then(wire.Removed, cluster="c1")


CASES = {
    "the failure alone was said": (failed(), -1, ["recall", "queue"]),
    "that it is recalled, too": (recalled(), -2, ["queue"]),
    "and that nothing is left of it": (removed(), -1, ["queue"]),
    "and a stray of an earlier one was removed since": (
        removed().then(wire.Recall, cluster="c2", attempt=0, why=WHY).then(wire.Removed, cluster="c2", attempt=0),
        -1,
        ["recall", "queue"],
    ),
}


@pytest.mark.parametrize(("life", "last", "says"), CASES.values(), ids=CASES)
def test_it_is_said_on_the_last_word_that_is_there(life: Life, last: int, says: list[str]) -> None:
    made = decide(of(life), heard(life, last), NOW)
    assert verbs(made) == says
    told = events(made)[-1]
    assert isinstance(told, wire.Queue)
    assert (told.attempt, told.why.code if told.why else "") == (2, Code.WAITING_FOR_REMOVAL)


def test_where_it_was_said_nothing_more_is() -> None:
    life = recalled().then(wire.Queue, attempt=2, queue="gold", why=WHY)
    assert verbs(decide(of(life), heard(life, -3), NOW)) == []
