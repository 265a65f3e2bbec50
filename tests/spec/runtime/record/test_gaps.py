"""Events whose predecessors were never said still tell how far a job has come."""

from typing import Any

import pytest

from fairway.domain.fold import fold
from fairway.domain.job import Job, State
from fairway.runtime.record.missing_events import over_gap
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import SLOTS, T0, admitted, dequeued, dispatched, queued, reserved, running, spec

WHY = Reason(Code.JOB_FAILED, "exit code 1")


def follows(job: Job, kind: type[wire.JobMessage], attempt: int = 1, **fields: Any) -> Job:
    """What is said two revisions on."""
    message = kind(job=job.id, tenant=job.tenant, rev=job.rev + 2, attempt=attempt, at=T0, **fields)
    return over_gap(job, message)


def test_a_job_that_went_without_a_word_on_its_queue_is_in_one_and_charged() -> None:
    job = follows(admitted().now, wire.Dequeued, path=("root", "root/a"), charge={"cpu": 1})
    assert (job.state, job.queue, job.leaf, job.charged) == (State.DEQUEUED, "a", ("root", "root/a"), True)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (wire.Blocked, {"why": WHY}),
        (wire.Amended, {"spec": spec()}),
        (wire.Recall, {"cluster": "", "why": Reason(Code.CANCELLED, "cancelled by ann")}),
    ],
)
def test_a_job_of_which_nobody_has_said_where_it_waits_is_given_to_quota_once_more(kind: Any, fields: Any) -> None:
    """It would wait in no queue, and be charged to nobody."""
    job = follows(admitted().now, kind, **fields)
    assert (job.state, job.entered, job.rev) == (State.ADMITTED, 1, 3)
    queue = wire.Queue(job=job.id, tenant=job.tenant, rev=4, attempt=1, at=T0, queue="a", leaf=("root", "root/a"))
    assert (fold(job, queue).state, fold(job, queue).why) == (State.QUEUED, None)


def test_a_reservation_without_a_word_on_its_placement_holds_room_in_its_cluster() -> None:
    job = follows(queued().now, wire.Reserved, cluster="c1", slots=SLOTS, expires_at=T0)
    assert (job.state, job.cluster, job.slots) == (State.RESERVED, "c1", SLOTS)
    assert [(one.number, one.cluster) for one in job.attempts] == [(1, "c1")]


def test_a_job_that_runs_without_a_word_on_its_dispatch_runs() -> None:
    job = follows(reserved().now, wire.Running, cluster="c1")
    assert (job.state, job.cluster, len(job.attempts)) == (State.RUNNING, "c1", 1)


@pytest.mark.parametrize(("kind", "state"), [(wire.Failed, State.RETURNING), (wire.Lost, State.RETURNING)])
def test_an_attempt_that_ended_without_a_word_on_its_start_has_ended(kind: Any, state: State) -> None:
    job = follows(queued().now, kind, cluster="c1", why=WHY)
    assert (job.state, job.attempts[-1].cluster, job.attempts[-1].why) == (state, "c1", WHY)


def test_the_next_attempt_is_the_one_that_is_spoken_of() -> None:
    job = follows(running().now, wire.Dequeued, attempt=2, path=("root",), charge={})
    assert (job.state, job.attempt) == (State.DEQUEUED, 2)


@pytest.mark.parametrize(
    ("job", "message", "state", "cluster"),
    [
        pytest.param(dequeued, {}, State.QUEUED, "", id="that was on its way waits again"),
        pytest.param(reserved, {"cluster": "c1"}, State.RUNNING, "c1", id="whose object was changed is where that is"),
        pytest.param(admitted, {"cluster": "c1"}, State.RUNNING, "c1", id="of which little is known, too"),
        pytest.param(dispatched, {"cluster": "c1"}, State.DISPATCHED, "c1", id="that is there already stays"),
    ],
)
def test_a_job_that_was_amended_without_a_word_before(job: Any, message: Any, state: State, cluster: str) -> None:
    found = follows(job().now, wire.Amended, spec=spec(), **message)
    assert (found.state, found.cluster, found.spec) == (state, cluster, spec())


def test_nothing_is_made_up_where_nothing_is_missing() -> None:
    job = dispatched().now
    message = wire.Running(job=job.id, tenant=job.tenant, rev=job.rev + 1, attempt=1, at=T0, cluster="c1")
    assert over_gap(job, message).state is State.RUNNING
