"""A stray of an earlier attempt is being removed while the present one runs: the job has its end all the same, and is
cancelled when it is asked for."""

import pytest
from msgspec import structs

from fairway.domain.decision import NOTHING, Decision, Outcome
from fairway.propagator.decide import decide as propagator
from fairway.queue.decide import decide as queue
from fairway.watcher.decide import decide
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import T0, Life, S, failing, running
from tests.spec.builders.records import again, dispatched
from tests.spec.builders.views import events, heard, of, told, verbs
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


def cancelled_beside_a_stray() -> Life:
    return beside_a_stray().then(wire.Recall, attempt=2, cluster="c1", why=Reason(Code.CANCELLED, "cancelled by ann"))


def test_a_cancellation_recalls_the_present_attempt_wherever_the_stray_is() -> None:
    """Where the stray is nobody may answer for hours."""
    cancel = told(wire.Cancel(job="llm-1", tenant="team-a", who=Actor("ann", "http")))
    (said,) = events(queue(of(beside_a_stray()), cancel, NOW))
    assert (said.verb, said.attempt, said.cluster) == ("recall", 2, "c1")


@pytest.mark.parametrize("ended", [False, True], ids=["being cancelled", "cancelled"])
def test_the_stray_goes_all_the_same_and_nobody_waits_for_it(ended: bool) -> None:
    stray = heard(beside_a_stray())
    life = cancelled_beside_a_stray()
    if ended:
        life.then(wire.Removed, attempt=2, cluster="c1").then(wire.Cancelled)
    (call,) = propagator(of(life), stray, NOW).calls
    assert (call.verb, call.cluster, call.attempt) == ("delete", "c2", 1)
    for body, decided in ((False, Decision(again_in=1_000)), (True, NOTHING)):
        done = structs.replace(stray, outcomes=(Outcome(call, True, body=body),))
        assert propagator(of(life), done, NOW) == decided


def test_of_a_job_that_goes_on_no_other_attempt_is_touched() -> None:
    life = beside_a_stray().then(wire.Removed, attempt=1, cluster="c2")
    assert propagator(of(life), heard(beside_a_stray()), NOW) == NOTHING
