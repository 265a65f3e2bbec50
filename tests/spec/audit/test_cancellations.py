"""The auditor and cancellations: acted upon in time, or named."""

from collections.abc import Callable

import pytest

from fairway.audit.auditor import Checker, Grace
from fairway.wire import jobs as wire
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import S, queued, running
from tests.spec.builders.records import NODES, Life, heard, reserve, succeeded

GRACE = Grace(cancel=60 * S)
STOP = Reason(Code.CANCELLED, "cancelled by ann")
AWAY = Reason(Code.JOB_FAILED, "exit code 1")


def cancelled(life: Life) -> Life:
    return life.then(wire.Cancel, who=Actor("ann", "http"))


def recalled(life: Life, why: Reason = STOP) -> Life:
    return life.then(wire.Recall, cluster="c1", why=why)


CASES: dict[str, tuple[Callable[[], Life], list[str]]] = {
    "what waits is cancelled, however late": (lambda: cancelled(queued()).then(wire.Cancelled, after=90 * S), []),
    "what waits is let go all the same": (
        lambda: reserve(cancelled(queued()).then(wire.Blocked, why=AWAY, after=90 * S)),
        ["attempt 1 dequeued 91 s after the job was cancelled", "attempt 1 reserved 93 s after the job was cancelled"],
    ),
    "what was on its way is placed before the word of it arrives": (lambda: reserve(cancelled(queued())), []),
    "what runs succeeds a moment later": (lambda: succeeded(cancelled(running())), []),
    "what runs succeeds long after": (
        lambda: cancelled(running()).then(wire.Succeeded, cluster="c1", text="", after=90 * S),
        ["attempt 1 succeeded 90 s after the job was cancelled"],
    ),
    "what was recalled succeeds before it can be removed": (
        lambda: recalled(cancelled(running())).then(wire.Succeeded, cluster="c1", text="", after=90 * S),
        [],
    ),
    "what was recalled for another reason succeeds": (
        lambda: recalled(cancelled(running()), AWAY).then(wire.Succeeded, cluster="c1", text="", after=90 * S),
        ["attempt 1 succeeded 91 s after the job was cancelled"],
    ),
    "what had ended before": (lambda: cancelled(succeeded(running())), []),
}


@pytest.mark.parametrize("name", CASES)
def test_a_cancellation_is_acted_upon_in_time(name: str) -> None:
    life, wrong = CASES[name]
    checker = Checker(NODES, None, GRACE)
    for one in heard(life()):
        checker.hear(one)
    assert [one.text for one in checker.findings().violations if one.rule == "cancel"] == wrong
