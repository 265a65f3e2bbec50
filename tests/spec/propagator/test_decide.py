"""propagator: first the call, then what its outcome means."""

import pytest

from fairway.domain.decision import NOTHING, Call, Decision, Outcome
from fairway.propagator.decide import copy_of, decide
from fairway.runtime.cluster_port import Applied
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.jobs import HubRef
from fairway.wire.reasons import Code, Reason
from fairway.wire.spec import Companion
from tests.spec.builders.lives import T0, Life, S, dispatched, failing, queued, reserved, running
from tests.spec.builders.views import events, heard, of, verbs

NOW = T0 + 60 * S
WHY = Reason(Code.RESERVATION_EXPIRED, "not dispatched")
STOP = Reason(Code.CANCELLED, "cancelled by ann")
AGAIN = Decision(again_in=1_000)


def call(verb: str, life: Life, attempt: int = 1) -> Call:
    return Call(verb, "c1", "llm-1", attempt, copy_of(life.now, attempt))


def outcome(verb: str, ok: bool, code: str = "", body: object = None) -> tuple[Outcome, ...]:
    return (Outcome(call(verb, reserved()), ok, code, "as it says", body),)


def test_a_reservation_is_applied_with_what_the_call_needs() -> None:
    life = reserved(hub=HubRef("u-1"))
    (asked,) = decide(of(life), heard(life), NOW).calls
    assert asked == call("apply", life)
    assert (asked.body.kind, asked.body.name, asked.body.hub_uid) == ("PyTorchJob.kubeflow.org/v1", "llm", "u-1")


@pytest.mark.parametrize("adopted", [False, True], ids=["new", "its own from an earlier try"])
def test_applied_is_dispatched(adopted: bool) -> None:
    life = reserved()
    done = outcome("apply", True, body=Applied("u-9", adopted))
    (said,) = events(decide(of(life), heard(life, outcomes=done), NOW))
    assert (said.verb, said.cluster, said.uid, said.adopted) == ("dispatched", "c1", "u-9", adopted)


@pytest.mark.parametrize("code", ["", "StaleObject"], ids=["no answer", "an older object on its way out"])
def test_what_will_pass_is_tried_again(code: str) -> None:
    life = reserved()
    assert decide(of(life), heard(life, outcomes=outcome("apply", False, code)), NOW) == AGAIN


@pytest.mark.parametrize(("refused", "code"), [("NameConflict", Code.NAME_CONFLICT), ("Invalid", Code.APPLY_REFUSED)])
@pytest.mark.parametrize("attempts", [1, 3])
def test_a_refusal_ends_the_attempt_and_the_job_with_the_last_one(refused: str, code: Code, attempts: int) -> None:
    life = reserved(attempts=attempts)
    said = events(decide(of(life), heard(life, outcomes=outcome("apply", False, refused)), NOW))
    assert (said[0].verb, said[0].why.code, said[0].final) == ("lost", code, attempts == 1)
    assert [one.verb for one in said[1:]] == (["recall"] if attempts == 1 else ["recall", "queue"])


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_job_of_an_older_version_whose_pods_are_unsafe_ends_whatever_attempts_are_left(attempts: int) -> None:
    life = reserved(attempts=attempts)
    said = events(decide(of(life), heard(life, outcomes=outcome("apply", False, "UnsafePod")), NOW))
    assert [(one.verb, one.why.code) for one in said] == [("lost", Code.UNSAFE_POD), ("recall", Code.UNSAFE_POD)]
    assert said[0].final


def test_what_went_along_is_said_with_the_dispatch() -> None:
    along = (Companion("Secret", "db", "h-1", "41", "0c" * 32),)
    done = outcome("apply", True, body=Applied("u-9", companions=along))
    (said,) = events(decide(of(reserved()), heard(reserved(), outcomes=done), NOW))
    assert said.companions == along


@pytest.mark.parametrize("attempts", [1, 3])
@pytest.mark.parametrize(
    ("code", "ends"),
    [
        pytest.param(Code.COMPANION_REFUSED, True, id="what nobody sends for it anywhere"),
        pytest.param(Code.SECRET_NOT_SENT, False, id="what this cluster alone does not get"),
    ],
)
def test_a_job_that_may_not_have_what_it_names_ends_and_one_that_may_elsewhere_goes_on(
    attempts: int, code: Code, ends: bool
) -> None:
    life = reserved(attempts=attempts)
    said = events(decide(of(life), heard(life, outcomes=outcome("apply", False, code)), NOW))
    assert (said[0].verb, said[0].why.code, said[0].final) == ("lost", code, ends or attempts == 1)
    assert said[0].why.text.startswith("as it says")
    assert said[0].why.remedy


def test_whose_job_it_is_and_what_its_policy_says_of_companions_goes_along_with_the_call() -> None:
    who = Actor("ann", "http", groups=("ml",))
    copy = copy_of(reserved(companions=True, alone=True, who=who).now)
    assert (copy.companions, copy.alone, copy.who) == (True, True, who)


def test_whether_its_pods_may_have_tokens_goes_along_with_the_call() -> None:
    assert copy_of(reserved(tokens=True).now).tokens


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_webhook_that_does_not_answer_sends_the_job_back_and_spends_nothing(attempts: int) -> None:
    life = reserved(attempts=attempts)
    said = events(decide(of(life), heard(life, outcomes=outcome("apply", False, "WebhookFailed")), NOW))
    assert [one.verb for one in said] == ["lost", "recall", "queue"]
    assert (said[0].why.code, said[0].final, said[2].attempt) == (Code.WEBHOOK_FAILED, False, 2)
    assert "as it says" in said[0].why.text


LEAVING = outcome("apply", False, Code.NAMESPACE_TERMINATING)


@pytest.mark.parametrize("left", [60 * S, 11 * S])
def test_a_namespace_on_its_way_out_is_waited_for_while_the_room_is_reserved(left: int) -> None:
    life = reserved(attempts=1)
    ends = heard(life).message.expires_at
    assert decide(of(life), heard(life, outcomes=LEAVING), ends - left) == AGAIN


@pytest.mark.parametrize("attempts", [1, 3])
@pytest.mark.parametrize("left", [10 * S, -30 * S], ids=["before the reservation ends", "after it has ended"])
def test_a_namespace_that_stays_on_its_way_out_sends_the_job_back_with_the_cause_and_spends_nothing(
    attempts: int, left: int
) -> None:
    life = reserved(attempts=attempts)
    ends = heard(life).message.expires_at
    said = events(decide(of(life), heard(life, outcomes=LEAVING), ends - left))
    assert [one.verb for one in said] == ["lost", "recall", "queue"]
    assert (said[0].why.code, said[0].final, said[2].attempt) == (Code.NAMESPACE_TERMINATING, False, 2)
    namespace = life.now.spec.workload.namespace
    assert f"namespace {namespace} of c1 is being removed" in said[0].why.text
    assert "finalizers" in said[0].why.remedy


@pytest.mark.parametrize("code", [Code.FOREIGN_NAMESPACE, Code.RESERVED_NAMESPACE])
def test_a_namespace_that_is_not_the_tenants_ends_the_attempt_with_the_cause_and_the_way_out(code: Code) -> None:
    life = reserved()
    said = events(decide(of(life), heard(life, outcomes=outcome("apply", False, code)), NOW))
    assert (said[0].verb, said[0].why.code) == ("lost", code)
    namespace = life.now.spec.workload.namespace
    wanted = {Code.FOREIGN_NAMESPACE: f"fairway join c1 --renew --kubeconfig ADMIN --adopt-namespaces {namespace}"}
    assert wanted.get(code, "of your own") in said[0].why.remedy


UNDONE = {
    "cancelled meanwhile": reserved().then(wire.Recall, cluster="c1", why=STOP),
    "expired meanwhile": reserved().then(wire.Recall, cluster="c1", why=WHY),
    "ended meanwhile": reserved().then(wire.Cancelled),
}


@pytest.mark.parametrize("life", UNDONE.values(), ids=list(UNDONE))
def test_what_was_applied_for_an_attempt_that_is_over_is_taken_out_again(life: Life) -> None:
    before = heard(reserved())
    assert decide(of(life), before, NOW) == NOTHING
    late = heard(reserved(), outcomes=outcome("apply", True, body=Applied("u-9")))
    assert decide(of(life), late, NOW).calls == (call("delete", life),)
    both = heard(reserved(), outcomes=(*late.outcomes, *outcome("delete", True, body=True)))
    assert decide(of(life), both, NOW) == NOTHING


@pytest.mark.parametrize("life", [dispatched(), running()], ids=["dispatched", "running"])
def test_another_instance_may_have_said_so_first(life: Life) -> None:
    late = heard(reserved(), outcomes=outcome("apply", True, body=Applied("u-9")))
    assert decide(of(life), late, NOW) == NOTHING


def test_an_attempt_waits_for_an_older_one_that_turned_up_somewhere() -> None:
    life = reserved().then(wire.Recall, cluster="c2", attempt=0, why=WHY)
    assert decide(of(life), heard(life, -2), NOW) == AGAIN
    done = outcome("apply", True, body=Applied("u-9"))
    assert verbs(decide(of(life), heard(life, -2, outcomes=done), NOW)) == ["dispatched"]


def test_recalled_is_deleted_and_removed_when_nothing_is_left() -> None:
    life = failing(running())
    recall = heard(life, -2)
    assert decide(of(life), recall, NOW).calls == (call("delete", life),)
    done = heard(life, -2, outcomes=outcome("delete", True, body=True))
    (said,) = events(decide(of(life), done, NOW))
    assert (said.verb, said.attempt, said.cluster) == ("removed", 1, "c1")


@pytest.mark.parametrize(
    "done", [outcome("delete", True, body=False), outcome("delete", False), outcome("delete", False, "Forbidden")]
)
def test_as_long_as_something_may_be_left_it_is_deleted_again(done: tuple[Outcome, ...]) -> None:
    life = failing(running())
    assert decide(of(life), heard(life, -2, outcomes=done), NOW) == AGAIN


NO_NEWS = {
    "removed already": failing(running()).then(wire.Removed, cluster="c1", attempt=1),
    "another attempt is being removed": failing(running()).then(wire.Recall, cluster="c1", attempt=9, why=WHY),
    "another cluster is being cleared": failing(running()).then(wire.Recall, cluster="c2", attempt=1, why=WHY),
}


@pytest.mark.parametrize("life", NO_NEWS.values(), ids=list(NO_NEWS))
def test_a_recall_that_is_no_news_calls_nobody(life: Life) -> None:
    assert decide(of(life), heard(failing(running()), -2), NOW) == NOTHING


def test_a_job_that_was_nowhere_is_recalled_from_nowhere() -> None:
    life = queued().then(wire.Dequeued).then(wire.Recall, cluster="", why=STOP)
    assert decide(of(life), heard(life), NOW) == NOTHING


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_reservation_that_the_rebuilt_store_does_not_know_is_made_anew_without_blame(attempts: int) -> None:
    life = reserved(attempts=attempts)
    view = of(life)
    view.stored[life.now.id] = life.now  # the row was behind the message: nobody holds the room
    said = events(decide(view, heard(life), NOW))
    assert [one.verb for one in said] == ["lost", "recall", "queue"]
    assert (said[0].why.code, said[0].final, said[2].attempt) == (Code.RESERVATION_EXPIRED, False, 2)
    after = life.then(wire.Lost, cluster="c1", why=said[0].why).now
    assert [name for name, until in after.avoid.items() if until > after.at] == []


def test_what_was_recalled_and_removed_is_not_dispatched_by_a_message_that_comes_again() -> None:
    """Its room is given to others by then; the queue is about to say what follows."""
    life = reserved()
    again = heard(life)
    life.then(wire.Recall, cluster="c1", why=WHY).then(wire.Removed, cluster="c1")
    assert decide(of(life), again, NOW) == NOTHING


@pytest.mark.parametrize("namespace", ["kube-system", "fairway-system", "ops"])
@pytest.mark.parametrize("attempts", [1, 3])
def test_nothing_is_asked_of_a_cluster_for_a_job_in_a_namespace_of_the_system(namespace: str, attempts: int) -> None:
    """It was admitted before the rule was made, or by nobody."""
    life = reserved(namespace=namespace, attempts=attempts)
    decision = decide(of(life, reserved=frozenset({"ops"})), heard(life), NOW)
    lost, recall = events(decision)
    assert (decision.calls, lost.verb, lost.final, recall.verb) == ((), "lost", True, "recall")
    assert (lost.why.code, namespace in lost.why.text) == (Code.RESERVED_NAMESPACE, True)


def test_what_is_there_from_before_is_removed() -> None:
    life = reserved(namespace="kube-system").then(wire.Lost, cluster="c1", why=WHY, final=True)
    life.then(wire.Recall, cluster="c1", why=WHY)
    (asked,) = decide(of(life), heard(life), NOW).calls
    assert (asked.verb, asked.body.namespace) == ("delete", "kube-system")
