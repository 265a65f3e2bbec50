"""propagator: an attempt that is evicted with notice is told when it ends, and is deleted then."""

from typing import Any

import pytest
from msgspec.structs import replace

from fairway.domain.decision import Call, Decision, Outcome
from fairway.propagator.calls import Notice
from fairway.propagator.decide import copy_of, decide
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import T0, Life, S, running
from tests.spec.builders.views import events, heard, of

NOW = T0 + 60 * S
THEN = NOW + 30 * S
WHY = Reason(Code.RECLAIMED, "its room is for a job of quota root/a")


def evicted(delete_at: int = THEN, grace: int = 90 * S) -> Life:
    """Its recall is the last but one that was said."""
    life = running()
    leaf = ("root", "root/b")
    life.then(wire.Evicted, cluster="c1", why=WHY, claim="claim-1", right=Cause.RECLAIM)
    life.then(wire.Recall, after=0, cluster="c1", why=WHY, delete_at=delete_at, grace=grace)
    return life.then(wire.Queue, after=0, attempt=2, queue="gold", leaf=leaf, enqueued_at=T0, why=WHY)


def asked(life: Life, verb: str) -> Call:
    copy = copy_of(life.now, 1)
    body: Any = Notice(copy, THEN) if verb == "notice" else replace(copy, grace=90 * S)
    return Call(verb, "c1", "llm-1", 1, body)


def decided(life: Life, now: int, *outcomes: Outcome) -> Decision:
    return decide(of(life), heard(life, -2, outcomes=outcomes), now)


def noticed(life: Life, body: Any, ok: bool = True, code: str = "") -> Outcome:
    return Outcome(asked(life, "notice"), ok, code, "", body)


def shown(**status: Any) -> dict[str, Any]:
    conditions = [{"type": name, "status": "True"} for name in status]
    return {"kind": "PyTorchJob", "apiVersion": "kubeflow.org/v1", "status": {"conditions": conditions}}


def test_first_it_is_written_on_the_object_when_that_is_deleted() -> None:
    life = evicted()
    assert decided(life, NOW) == Decision(calls=(asked(life, "notice"),))


@pytest.mark.parametrize(
    ("left", "outcome", "wait"),
    [
        pytest.param(30 * S, (shown(Running=True), True, ""), 5 * S, id="it runs"),
        pytest.param(2 * S, (shown(Running=True), True, ""), 2 * S, id="it runs, and its time has nearly come"),
        pytest.param(30 * S, (None, False, "Forbidden"), 5 * S, id="it may not be told"),
        pytest.param(30 * S, (None, False, ""), 1 * S, id="its cluster does not answer"),
    ],
)
def test_until_then_it_is_left_alone(left: int, outcome: Any, wait: int) -> None:
    life = evicted()
    assert decided(life, THEN - left, noticed(life, *outcome)) == Decision(again_in=wait)


@pytest.mark.parametrize(
    "found", [None, shown(Succeeded=True), shown(Failed=True)], ids=["gone", "succeeded", "failed"]
)
def test_who_has_ended_by_itself_is_removed_at_once(found: Any) -> None:
    life = evicted()
    assert decided(life, NOW, noticed(life, found)) == Decision(calls=(asked(life, "delete"),))


@pytest.mark.parametrize("told", [True, False])
def test_when_its_time_has_come_it_is_deleted_whether_it_was_told_or_not(told: bool) -> None:
    life = evicted()
    before = (noticed(life, shown(Running=True)),) if told else ()
    assert decided(life, THEN, *before) == Decision(calls=(asked(life, "delete"),))


def test_without_notice_it_is_deleted_at_once_and_its_grace_is_bounded_all_the_same() -> None:
    life = evicted(delete_at=0)
    assert decided(life, NOW) == Decision(calls=(asked(life, "delete"),))


def test_what_is_deleted_before_its_time_since_it_has_ended_is_said_to_be_removed() -> None:
    life = evicted()
    done = (noticed(life, None), Outcome(asked(life, "delete"), True, body=True))
    (said,) = events(decided(life, NOW, *done))
    assert (said.verb, said.attempt) == ("removed", 1)


def test_a_cancel_meanwhile_has_it_deleted_at_once() -> None:
    life = evicted().then(wire.Recall, attempt=1, cluster="c1", why=Reason(Code.CANCELLED, "cancelled by ann"))
    for recall in (-1, -3):
        (call,) = decide(of(life), heard(life, recall), NOW).calls
        assert call.verb == "delete"
