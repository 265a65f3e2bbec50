"""What the hub's objects show of their jobs, attempt by attempt: only what the record calls final is an end there."""

from typing import Any

import pytest

from fairway.hub.telling.statuses import SETTLE_MS, WAITS_MS
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.workloads.hub.objects import HubObject, hub_object
from tests.cases.job_statuses import LATER, START, on
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.lives import Life
from tests.spec.hub.hub_objects import Json, policy, thing
from tests.spec.hub.intake.test_owners_wish import up, waiting
from tests.spec.hub.intake.test_what_holds import ALL, MOMENT, TRAIN, brought, running
from tests.spec.hub.telling.test_telling import OOM, again

TORCH = "PyTorchJob.kubeflow.org/v1"
UP = {"startTime": START, "active": 1, "ready": 1}
FAILED = {"startTime": START, "failed": 1, "conditions": on("FailureTarget", "Failed")}
DONE = {"startTime": LATER, "completionTime": LATER, "succeeded": 1, "conditions": on("SuccessCriteriaMet", "Complete")}


def true(status: Json) -> list[str]:
    """The conditions that are so."""
    return [one["type"] for one in status.get("conditions", ()) if one["status"] == "True"]


def writes(one: HubDriver) -> int:
    return one.hub.verbs().count("status")


def sees(one: HubDriver, life: Life, status: Json, version: str = "", **fields: Any) -> None:
    one.member(life, status, version, **fields)
    one.run(2_000)


def over(one: HubDriver, life: Life, kind: type[wire.JobMessage], code: Code = Code.JOB_FAILED, **fields: Any) -> None:
    """The record says that the job is over with this attempt."""
    one.says(life, kind, cluster="c1", why=Reason(code, "as it is"), final=True, **fields)
    one.run(2_000)


def test_a_change_is_one_write_and_what_is_the_same_is_none() -> None:
    one, life = up()
    sees(one, life, UP)
    assert one.status(TRAIN) == UP
    sees(one, life, UP)
    sees(one, life, UP | {"ready": 0})
    assert (one.status(TRAIN)["ready"], writes(one)) == (0, 2)


def test_changes_of_one_moment_are_one_write_and_the_newest_wins() -> None:
    one, life = up()
    for ready in range(5):
        one.member(life, UP | {"active": 4, "ready": ready}, str(ready))
        one.run(SETTLE_MS // 6)
    one.run(2_000)
    assert (one.status(TRAIN)["ready"], writes(one)) == (4, 1)


def test_of_two_versions_the_newest_is_shown_whenever_it_comes() -> None:
    one, life = up()
    sees(one, life, UP | {"active": 9, "ready": 7}, "107")
    sees(one, life, UP | {"active": 9, "ready": 5}, "99")
    assert one.status(TRAIN)["ready"] == 7
    one.member(life, UP | {"active": 9, "ready": 9}, "109")
    one.member(life, UP | {"active": 9, "ready": 8}, "108")
    one.run(2_000)
    assert one.status(TRAIN)["ready"] == 9


def test_a_failed_attempt_is_no_end_and_the_end_is_shown_when_it_comes() -> None:
    one, life = up()
    sees(one, life, UP)
    sees(one, life, FAILED)
    assert one.status(TRAIN) == UP, "the record has not said yet whose failure it is"
    one.says(life, wire.Failed, cluster="c1", why=OOM, status=FAILED)
    one.says(life, wire.Queue, attempt=2, queue="gold")
    one.run(2_000)
    between = one.status(TRAIN)
    assert (between["active"], between["ready"], true(between)) == (0, 0, ["Suspended"])
    started(one, life)
    sees(one, life, {"startTime": LATER, "active": 1, "ready": 1})
    assert one.status(TRAIN) == UP, "it began when its first attempt did"
    one.says(life, wire.Succeeded, cluster="c1", status=DONE)
    one.run(2_000)
    assert true(one.status(TRAIN)) == ["SuccessCriteriaMet", "Complete"]


def started(one: HubDriver, life: Life, cluster: str = "c1") -> None:
    one.says(life, wire.Dequeued, path=(), charge={})
    one.says(life, wire.Placed, cluster=cluster, slots=())
    one.says(life, wire.Reserved, cluster=cluster, slots=(), expires_at=one.now + 60_000)
    one.says(life, wire.Dispatched, cluster=cluster, uid="u-10")
    one.says(life, wire.Running, cluster=cluster)


def test_a_failure_is_the_end_when_the_record_says_so_in_the_member_s_words() -> None:
    one, life = up()
    sees(one, life, UP)
    over(one, life, wire.Failed, status=FAILED)
    assert one.status(TRAIN) == FAILED | {"ready": 0}


ENDS: dict[str, tuple[type[wire.JobMessage], Json, str]] = {
    "never started": (
        wire.Lost,
        {"cluster": "c1", "final": True, "why": Reason(Code.START_TIMEOUT, "x")},
        "StartTimeout",
    ),
    "failed, and its object is gone": (wire.Failed, {"cluster": "c1", "final": True, "why": OOM}, "JobFailed"),
    "cancelled": (wire.Cancelled, {"who": "ann"}, "Cancelled"),
}


@pytest.mark.parametrize(("kind", "fields", "code"), ENDS.values(), ids=list(ENDS))
def test_an_end_that_no_member_shows_is_shown_with_its_reason(
    kind: type[wire.JobMessage], fields: Json, code: str
) -> None:
    one, life = up()
    one.says(life, kind, **fields)
    one.run(2_000)
    status = one.status(TRAIN)
    assert true(status) == ["FailureTarget", "Failed"]
    assert {each["reason"] for each in status["conditions"]} == {code}
    assert one.inbox.open == {}


def test_a_refused_job_fails_on_the_hub_with_the_reason() -> None:
    one = HubDriver()
    brought(one, 2)
    one.refuse(TRAIN, Reason(Code.EXCEEDS_MAX_QUOTA, "asks for more than there is"))
    one.run(2_000)
    failed = one.status(TRAIN)["conditions"][-1]
    assert (failed["reason"], failed["message"]) == ("ExceedsMaxQuota", "asks for more than there is")


def test_a_process_that_begins_anew_writes_nothing_again() -> None:
    one, life = up()
    sees(one, life, UP, "5")
    count = writes(one)
    one.restart()
    sees(one, life, UP, "5")
    assert writes(one) == count
    over(one, life, wire.Failed, status=FAILED)
    one.restart()
    one.run(5_000)
    assert writes(one) == count + 1


@pytest.mark.parametrize("anew", [False, True], ids=["", "by another process"])
def test_an_end_stays_whatever_is_said_later(anew: bool) -> None:
    one, life = up()
    one.says(life, wire.Succeeded, cluster="c1", status=DONE)
    one.run(2_000)
    if anew:
        one.restart()
    one.member(life, UP, "99")
    one.member(life, FAILED, "100")
    one.run(5_000)
    assert true(one.status(TRAIN)) == ["SuccessCriteriaMet", "Complete"]
    assert writes(one) == 1


def torch() -> tuple[HubDriver, HubObject, Life]:
    one = HubDriver()
    pod = {"spec": {"containers": [{"name": "pytorch", "image": "x"}]}}
    spec = {"pytorchReplicaSpecs": {"Worker": {"replicas": 1, "template": pod}}}
    train = hub_object(TORCH, thing(TORCH, "t", spec=spec))
    one.apply(policy("torch", {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"}), train)
    one.run(MOMENT)
    life = running(one, train)
    one.run(2_000)
    return one, train, life


def test_the_last_pods_are_counted_after_the_end_and_the_end_stays_that_end() -> None:
    one, train, life = torch()
    one.says(life, wire.Succeeded, cluster="c1", status={"conditions": on("Succeeded")})
    one.run(2_000)
    for version, worker in (("2", {"active": 1}), ("3", {"succeeded": 1})):
        sees(one, life, {"conditions": on("Succeeded"), "replicaStatuses": {"Worker": worker}}, version)
        assert one.status(train)["replicaStatuses"] == {"Worker": worker}
    sees(one, life, {"conditions": on("Failed"), "replicaStatuses": {"Worker": {"failed": 1}}}, "4")
    one.restart()
    sees(one, life, {"conditions": on("Failed"), "replicaStatuses": {"Worker": {"failed": 1}}}, "5")
    assert true(one.status(train)) == ["Succeeded"]


OLD: dict[str, Json] = {
    "an attempt before": {"attempt": 1},
    "one in another cluster": {"attempt": 2, "cluster": "c2"},
    "one that is not there yet": {"attempt": 3},
}


@pytest.mark.parametrize("said", OLD.values(), ids=list(OLD))
def test_what_does_not_speak_for_the_job_is_not_shown(said: Json) -> None:
    one, life = up()
    again(one, life)
    sees(one, life, UP | {"ready": 1})
    before = one.status(TRAIN)
    sees(one, life, UP | {"ready": 7}, **said)
    sees(one, life, DONE, **said)
    assert one.status(TRAIN) == before


def test_an_attempt_that_is_being_taken_out_no_longer_speaks_for_the_job() -> None:
    one, life = up()
    sees(one, life, UP)
    one.says(life, wire.Recall, cluster="c1", why=OOM)
    sees(one, life, UP | {"ready": 0})
    assert one.status(TRAIN) == UP


def test_late_news_of_a_failed_attempt_does_not_touch_the_next_one() -> None:
    one, life = up()
    again(one, life)
    sees(one, life, UP)
    count = writes(one)
    late = next(message for _, message in life.said if isinstance(message, wire.Failed))
    one.inbox.deliver("late", late)
    one.run(5_000)
    assert (one.status(TRAIN), writes(one)) == (UP, count)


def test_a_job_that_waits_is_suspended_for_its_owner_and_is_so_no_longer_when_it_runs() -> None:
    one, life = waiting()
    assert true(one.status(TRAIN)) == ["Suspended"]
    started(one, life)
    sees(one, life, UP)
    assert one.status(TRAIN) == UP


def test_a_job_that_goes_at_once_was_never_suspended() -> None:
    one = HubDriver()
    one.apply(ALL, TRAIN)
    one.run(MOMENT)
    life = one.admit(TRAIN)
    one.says(life, wire.Queue, queue="gold")
    one.run(WAITS_MS - 100)
    started(one, life)
    one.run(10_000)
    assert writes(one) == 0
