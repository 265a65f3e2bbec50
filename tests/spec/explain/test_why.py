"""Why a job is where it is: for every state one answer that names the cause in numbers and what would change it."""

import pytest
from msgspec.structs import replace

from fairway.domain.attempts.eviction_freeze import Freeze
from fairway.explain.story import why
from fairway.wire import jobs as wire
from fairway.wire.asks import QueuePlace
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import (
    T0,
    Life,
    S,
    dequeued,
    dispatched,
    failing,
    place,
    placed,
    queued,
    reserved,
    running,
    submitted,
)
from tests.spec.explain.waits import WAITING, Case, everything, quota_full

TEN = 10 * S


def cancelling() -> Life:
    why = Reason(Code.CANCELLED, "cancelled by ann")
    return running().then(wire.Cancel, who=Actor("ann", "http")).then(wire.Recall, cluster="c1", why=why)


def refused() -> Life:
    return submitted().then(wire.Rejected, reasons=(Reason(Code.INVALID, "is -1", "spec.x", "write 0 or more"),))


def out_of_attempts() -> Life:
    why = Reason(Code.JOB_FAILED, "exit code 1 (attempt 1 of 1; no attempts left)")
    return dispatched(attempts=1).then(wire.Failed, cluster="c1", why=why, final=True)


def second_try() -> Life:
    life = failing(running()).then(wire.Removed, cluster="c1", attempt=1, after=3 * S)
    life.then(wire.Dequeued)
    return place(life, "c7")


CASES = {
    **WAITING,
    "dequeued: what was charged, and to which quota": Case(
        dequeued(), "Dequeued", ("32 nvidia.com/gpu are charged to quota root/a",), event="placed"
    ),
    "placed: where, on which nodes, and why not elsewhere": Case(
        placed(),
        "Placed",
        ("was placed in c1 10 s ago", "n1: 2 Worker; n2: 2 Worker", "node by node 1 fit"),
        event="reserved",
    ),
    "reserved: held on so many nodes": Case(
        reserved(), "Reserved", ("room held in c1 for 10 s", "2 nodes are kept free"), event="dispatched"
    ),
    "applied: how long it may take to start, and what then": Case(
        dispatched(),
        "Dispatched",
        ("4 pods of it are up in c1", "(in 4 min 50 s) it goes back"),
        event="running",
        timer_at=T0 + 306 * S,
    ),
    "applied in its last attempt: a timeout would end it": Case(
        dispatched(attempts=1),
        "Dispatched",
        ("it fails: no attempts are left",),
        event="running",
        timer_at=T0 + 306 * S,
    ),
    "running: since when, and how long it waited": Case(
        running(), "Running", ("runs in c1 since 2023-11-14 22:13:27Z (10 s)", "waited 6 s"), event="succeeded"
    ),
    "moved: attempt 2 waits until nothing of attempt 1 is left": Case(
        failing(running()),
        "WaitingForRemoval",
        (
            "Attempt 1 in c1 ended (exit code 137)",
            "attempt 2 may not start beside it",
            "c1 shows nothing of attempt 1",
            "Attempt 1 in c1 ended after 1 min 2 s: Exit code 137.",
        ),
        event="removed",
    ),
    "moved and removed: it waits its turn like any other": Case(
        failing(running()).then(wire.Removed, cluster="c1", attempt=1),
        "Queued",
        ("Nothing of attempt 1 is left",),
        event="dequeued",
    ),
    "moved to another cluster: the first attempt is told too": Case(
        second_try(), "Placed", ("was placed in c7", "Attempt 1 in c1 ended"), event="reserved"
    ),
    "being cancelled: what must be gone first": Case(
        cancelling(), "Cancelled", ("is being cancelled", "pods in c1 must go first"), event="removed"
    ),
    "cancelled: by whom": Case(
        cancelling().then(wire.Removed, cluster="c1").then(wire.Cancelled, who="ann"),
        "Cancelled",
        ("was cancelled at", "Cancelled by ann"),
    ),
    "rejected: the field, what is wrong and what to do": Case(
        refused(), "Invalid", ("was rejected at", "spec.x: is -1; write 0 or more")
    ),
    "failed for good: the last reason": Case(out_of_attempts(), "JobFailed", ("failed at", "no attempts left")),
    "finished: how long it ran, where, in which attempt": Case(
        running().then(wire.Succeeded, cluster="c1", after=3600 * S), "Succeeded", ("ran 1 h in c1", "in attempt 1")
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_it_says(case: Case) -> None:
    answer = why(case.given.now, case.place, case.given.now.at + TEN)
    told = everything(answer)
    assert (answer.reason, answer.next_event, answer.timer_at) == (case.reason, case.event, case.timer_at)
    assert [words for words in case.says if words not in told] == [], told


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_an_accepted_job_that_has_not_ended_always_has_a_cause_and_something_that_would_move_it(case: Case) -> None:
    answer = why(case.given.now, case.place, case.given.now.at + TEN)
    assert answer.because
    assert case.given.now.ended or (answer.moves and answer.next_event)


@pytest.mark.parametrize("either", [True, False])
def test_a_job_that_may_have_idle_resources_is_told_that_these_would_move_it_too(either: bool) -> None:
    job = quota_full().now
    assert job.spec is not None
    work = replace(job.spec.workload, batch_first=either)
    answer = why(replace(job, spec=replace(job.spec, workload=work)), None, job.at + TEN)
    assert ("a cluster has batch resources free" in everything(answer).lower()) == either


def test_a_place_in_the_queue_is_only_believed_of_a_job_that_waits() -> None:
    old = QueuePlace("gold", "Priority", 3, ("a",))
    assert why(running().now, old, T0 + TEN).queue is None


def test_while_evictions_are_frozen_no_deadline_counts_and_it_says_why() -> None:
    frozen = Freeze(T0, 3, 4)
    answer = why(dispatched(start_timeout=60 * S).now, None, T0 + TEN, frozen)
    assert "3 of 4 clusters are silent at once: nothing is given up" in answer.because
    assert (answer.timer, answer.timer_at) == ("", 0)
    assert why(queued().now, None, T0 + TEN, frozen) == why(queued().now, None, T0 + TEN)


def test_a_reason_that_this_version_does_not_know_does_not_hide_the_recorded_one() -> None:
    answer = why(quota_full().now, QueuePlace("gold", "Priority", 1, (), "FromTheFuture"), T0 + TEN)
    assert answer.reason == "WaitingForQuota"
