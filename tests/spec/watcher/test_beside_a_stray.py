"""A stray of an earlier attempt is being removed while the present one runs: the job has its end all the same."""

import pytest

from fairway.domain.decision import Decision
from fairway.queue.decide import decide as queue
from fairway.watcher.decide import decide
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import T0, Life, S, failing, running
from tests.spec.builders.records import again, dispatched
from tests.spec.builders.views import events, of, told, verbs
from tests.spec.watcher.test_decide import shows

NOW = T0 + 900 * S
STRAY = Reason(Code.VANISHED, "attempt 1 is over, but its object is in c2")


def beside_a_stray() -> Life:
    """Attempt 2 runs in c1; what turned up of attempt 1 in c2 is being removed."""
    life = dispatched(again(failing(running()))).then(wire.Running, cluster="c1")
    return life.then(wire.Recall, attempt=1, cluster="c2", why=STRAY)


@pytest.mark.parametrize("state", ["Succeeded", "Failed"])
def test_what_the_present_attempt_shows_is_said_when_the_stray_is_gone(state: str) -> None:
    life = beside_a_stray()
    assert decide(of(life), shows(state, attempt=2, uid="u-10"), NOW) == Decision(again_in=1_000)
    life.then(wire.Removed, attempt=1, cluster="c2")
    assert verbs(decide(of(life), shows(state, attempt=2, uid="u-10"), NOW))[0] == state.lower()


def test_a_cancellation_recalls_the_present_attempt_when_the_stray_is_gone() -> None:
    life = beside_a_stray()
    cancel = told(wire.Cancel(job="llm-1", tenant="team-a", who=Actor("ann", "http")))
    assert queue(of(life), cancel, NOW) == Decision(again_in=250)
    life.then(wire.Removed, attempt=1, cluster="c2")
    (said,) = events(queue(of(life), cancel, NOW))
    assert (said.verb, said.attempt, said.cluster) == ("recall", 2, "c1")
