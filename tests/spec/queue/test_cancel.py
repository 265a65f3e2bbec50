"""queue: cancelling at every state, and what follows a removal."""

from dataclasses import dataclass

import pytest

from fairway.domain.decision import NOTHING, Decision
from fairway.domain.quota.charge import Share, owed_key
from fairway.domain.quota.tree import MAX_JOBS
from fairway.queue.decide import decide
from fairway.queue.view import QueueBegins
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, SLOTS, T0, Life, S, admitted, dequeued
from tests.spec.builders.views import events, heard, of, puts, told, verbs
from tests.spec.builders.waiting import flying, held, waiting

NOW = T0 + 900 * S
WHY = Reason(Code.JOB_FAILED, "exit code 1")
STOP = Reason(Code.CANCELLED, "cancelled by ann")


def failed(final: bool = False) -> Life:
    life = held("a").then(wire.Dispatched, cluster="c1")
    if final:
        return life.then(wire.Failed, cluster="c1", why=WHY, final=True)
    life.then(wire.Failed, cluster="c1", why=WHY).then(wire.Recall, cluster="c1", why=WHY)
    return life.then(wire.Queue, queue="gold", leaf=("root", "root/a"), attempt=2, why=WHY)


def placed() -> Life:
    return flying("a").then(wire.Placed, cluster="c1", slots=SLOTS)


def dispatched() -> Life:
    return held("a").then(wire.Dispatched, cluster="c1")


def cancelling(life: Life) -> Life:
    cluster = life.now.removing or life.now.cluster
    attempt = life.now.attempts[-1].number if life.now.attempts else life.now.attempt
    return life.then(wire.Recall, cluster=cluster, attempt=attempt, why=STOP)


@dataclass
class Case:
    given: Life
    says: list[str]
    cluster: str = ""
    attempt: int = 1


CASES = {
    "one that waits is cancelled at once": Case(waiting("a"), ["cancelled"]),
    "one on its way is to come back": Case(flying("a"), ["recall"]),
    "one that was placed is to come back, and its cluster cleared": Case(placed(), ["recall"], "c1"),
    "one with a reservation is taken out first": Case(held("a"), ["recall"], "c1"),
    "one in a cluster is taken out first": Case(dispatched(), ["recall"], "c1"),
    "one that runs is taken out first": Case(dispatched().then(wire.Running, cluster="c1"), ["recall"], "c1"),
    "one whose last attempt is being removed waits for that": Case(failed(), ["recall"], "c1", 1),
    "what is left of one that failed is removed": Case(failed(final=True), ["recall"], "c1"),
    "what is left of one that succeeded is removed": Case(
        dispatched().then(wire.Succeeded, cluster="c1"), ["recall"], "c1"
    ),
    "of one that was cancelled nothing is left": Case(waiting("a").then(wire.Cancelled), []),
    "of one that was refused there was nothing": Case(Life("a").then(wire.Rejected, reasons=(WHY,), attempt=0), []),
    "asked twice is asked once": Case(cancelling(dispatched()), []),
    "asked twice on its way is asked once": Case(cancelling(flying("a")), []),
}


@pytest.mark.parametrize(
    ("who", "says"),
    [
        pytest.param(Actor("ann", "http", "r-1"), "cancelled by ann (over HTTP)", id="over HTTP"),
        pytest.param(Actor("hub:team-a", "hub", "u-1"), "cancelled by hub:team-a (on the hub)", id="on the hub"),
        pytest.param(Actor("team-a", "bus"), "cancelled by team-a (on the bus)", id="on the bus"),
        pytest.param(None, "cancelled by its owner", id="by nobody that is named"),
    ],
)
def test_the_reason_names_who_asked_and_through_which_door(who: Actor | None, says: str) -> None:
    (said,) = events(decide(of(dispatched()), told(wire.Cancel(job="a", tenant="team-a", who=who)), NOW))
    assert said.why.text == says


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_cancel(case: Case) -> None:
    decision = decide(of(case.given), told(wire.Cancel(job="a", tenant="team-a", who=Actor("ann", "http"))), NOW)
    assert verbs(decision) == case.says
    for said in events(decision):
        if said.verb == "recall":
            assert (said.cluster, said.attempt) == (case.cluster, case.attempt)
        else:
            assert said.who == "ann (over HTTP)"


@pytest.mark.parametrize(
    ("delivered", "unknown"),
    [(1, Decision(again_in=250)), (19, Decision(again_in=4_750)), (199, Decision(again_in=5_000)), (200, NOTHING)],
)
def test_a_cancel_that_overtook_its_job_waits_for_it(delivered: int, unknown: Decision) -> None:
    """For one that is on its way to its queue without end: whoever asked was told that it is accepted."""
    cancel = told(wire.Cancel(job="llm-1", tenant="team-a"), delivered=delivered)
    assert decide(of(), cancel, NOW) == unknown
    assert decide(of(admitted()), cancel, NOW) == Decision(again_in=250)


def removed(life: Life, attempt: int = 1) -> Life:
    return life.then(wire.Removed, cluster="c1", attempt=attempt)


def sent_back(life: Life) -> Life:
    return life.then(wire.Queue, queue="gold", leaf=("root", "root/a"), why=Reason(Code.CANCELLED, "not placed"))


AFTER = {
    "a cancelled job has ended when nothing of it is left": Case(removed(cancelling(dispatched())), ["cancelled"]),
    "also when it was being removed anyway": Case(removed(cancelling(failed())), ["cancelled"]),
    "one that is still on its way ends when it is back": Case(removed(cancelling(placed())), []),
    "one that is back ends": Case(sent_back(cancelling(flying("a"))), ["cancelled"]),
    "one that is back but not yet removed waits for that": Case(sent_back(cancelling(placed())), []),
    "removed before it was back: it ends when it is": Case(sent_back(removed(cancelling(placed()))), ["cancelled"]),
    "an expired reservation ends the attempt": Case(
        removed(held("a").then(wire.Recall, cluster="c1", why=WHY)), ["lost", "recall", "queue"]
    ),
    "the removal of an older attempt does not end the present one": Case(
        removed(held("a").then(wire.Recall, cluster="c1", attempt=0, why=WHY), attempt=0), []
    ),
    "another removal goes on": Case(removed(failed().then(wire.Recall, cluster="c2", attempt=1, why=WHY)), []),
    "of a job that ended a removal is no news": Case(removed(failed(final=True)), []),
}


@pytest.mark.parametrize("case", AFTER.values(), ids=list(AFTER))
def test_what_follows(case: Case) -> None:
    assert verbs(decide(of(case.given), heard(case.given), NOW)) == case.says


def test_the_cancelled_job_says_who_asked_and_owes_its_quota_and_gives_back_its_name() -> None:
    life = removed(cancelling(dispatched()))
    decision = decide(of(life), heard(life), NOW)
    (job,) = puts(decision, "jobs").values()
    assert (job.state, job.why) == ("cancelled", STOP)
    share = Share(("root", "root/a"), {GPU: 8, MAX_JOBS: 1})
    assert puts(decision, "owed") == {owed_key("a", job.rev): share}
    assert puts(decision, "names") == {"team-a/PyTorchJob/a": None}


def test_removing_the_remains_of_an_ended_job_does_not_free_a_name_that_may_be_another_jobs() -> None:
    decision = decide(of(failed(final=True)), told(wire.Cancel(job="a", tenant="team-a")), NOW)
    assert puts(decision, "names") == {}


def test_who_is_cancelled_has_no_turn_between_his_removal_and_the_word_of_it() -> None:
    """Quota is given back just then: the next one has it."""
    stop = Reason(Code.CANCELLED, "cancelled by ann")
    life = sent_back(dequeued().then(wire.Recall, cluster="", why=stop))
    assert life.now.cancelling and not life.now.removing
    assert verbs(decide(of(life), told(QueueBegins()), NOW)) == []
