"""What the pods of a gang show: each its own status, and no end before the record has that of their job."""

import pytest

from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.lives import Life
from tests.spec.hub.gang_objects import ALL, A, B, C, conditions, up, waiting
from tests.spec.hub.hub_objects import Json

RUNS: Json = {"phase": "Running", "startTime": "2026-11-21T12:00:00Z"}
WELL: Json = {"phase": "Succeeded"}
BADLY: Json = {"phase": "Failed", "reason": "Evicted", "message": "no memory"}


def of(leader: Json, second: Json, third: Json) -> Json:
    return {**leader, "gang": {"b": second, "c": third}}


def phases(one: HubDriver) -> list[str]:
    return [one.status(each)["phase"] for each in (A, B, C)]


def sees(one: HubDriver, life: Life, status: Json, version: str = "") -> None:
    one.member(life, status, version)
    one.run(2_000)


def test_while_the_job_waits_each_shows_why() -> None:
    one, _ = waiting()
    said = [conditions(one, each) for each in (A, B, C)]
    assert said == ["Queued: waits its turn in queue gold"] * 3


def test_each_shows_its_own_status() -> None:
    one, life = up()
    sees(one, life, of(RUNS, {"phase": "Pending"}, RUNS))
    assert phases(one) == ["Running", "Pending", "Running"]
    assert "gang" not in one.status(A)


def test_only_the_leader_has_a_binding_and_events() -> None:
    one = HubDriver()
    one.apply(ALL, A, B)
    one.run(10_000)
    assert one.binding(B)["spec"]["suspension"] == {"scheduling": True}
    one.apply(C)
    one.run(10_000)
    one.admit(A)
    one.run(3_000)
    names = [key[2] for key in one.hub.objects if key[0].startswith("ResourceBinding")]
    assert names == ["a-pod"]


def test_a_pod_that_has_ended_runs_on_until_the_gang_has() -> None:
    one, life = up()
    sees(one, life, of(WELL, RUNS, WELL))
    assert phases(one) == ["Running"] * 3
    one.says(life, wire.Succeeded, cluster="c1", status=of(WELL, WELL, WELL))
    one.run(2_000)
    assert phases(one) == ["Succeeded"] * 3
    assert one.inbox.open == {}


def test_none_shows_a_failure_before_the_record_says_whose_it_is() -> None:
    one, life = up()
    sees(one, life, of(RUNS, BADLY, RUNS), "7")
    assert "Failed" not in phases(one)
    why = Reason(Code.JOB_FAILED, "pod b: Evicted")
    one.says(life, wire.Failed, cluster="c1", why=why, final=False, status=of(RUNS, BADLY, RUNS))
    one.run(2_000)
    assert [conditions(one, each).partition(":")[0] for each in (A, B, C)] == ["JobFailed"] * 3


def test_the_pod_that_failed_says_why_and_the_others_went_with_it() -> None:
    one, life = up()
    why = Reason(Code.JOB_FAILED, "pod b: Evicted")
    one.says(life, wire.Failed, cluster="c1", why=why, final=True, status=of(RUNS, BADLY, WELL))
    one.run(2_000)
    assert phases(one) == ["Failed", "Failed", "Succeeded"]
    assert (one.status(B)["reason"], one.status(A)["reason"]) == ("Evicted", "JobFailed")
    assert one.inbox.open == {}


def test_a_gang_that_is_refused_is_so_on_every_pod() -> None:
    one = HubDriver()
    one.apply(ALL, A, B, C)
    one.run(1_000)
    one.refuse(A, Reason(Code.FORBIDDEN, "host network is not for tenants"))
    one.run(3_000)
    assert [(one.status(each)["phase"], one.status(each)["reason"]) for each in (A, B, C)] == [
        ("Failed", "Forbidden")
    ] * 3
    one.run(30_000)
    assert len(one.said(wire.Submitted)) == 1


@pytest.mark.parametrize("restarted", [False, True])
def test_words_are_kept_until_every_pod_shows_what_follows(restarted: bool) -> None:
    one, life = up()
    one.hub.away = True
    name = one.says(life, wire.Succeeded, cluster="c1", status=of(WELL, WELL, WELL))
    one.run(5_000)
    assert name in one.inbox.open
    if restarted:
        one.restart()
        one.run(2_000)
    one.hub.away = False
    one.run(10_000)
    assert phases(one) == ["Succeeded"] * 3
    assert one.inbox.open == {}


def test_a_pod_that_is_deleted_after_the_end_keeps_no_word_back() -> None:
    one, life = up()
    one.hub.away = True
    one.says(life, wire.Succeeded, cluster="c1", status=of(WELL, WELL, WELL))
    one.run(3_000)
    one.delete(B)
    one.hub.away = False
    one.run(10_000)
    assert one.said(wire.Cancel) == []
    assert [one.status(each)["phase"] for each in (A, C)] == ["Succeeded"] * 2
    assert one.inbox.open == {}


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("after", [False, True], ids=["before the word", "after it"])
def test_words_on_a_gang_whose_leader_is_gone_are_kept_until_the_others_show_them(after: bool, restarted: bool) -> None:
    one, life = up()
    if not after:
        one.delete(A)
        one.run(2_000)
    one.hub.away = True
    name = one.says(life, wire.Cancelled, who="ann")
    one.run(2_000)
    if after:
        one.delete(A)
        one.run(2_000)
    assert name in one.inbox.open
    if restarted:
        one.restart()
        one.run(2_000)
    one.hub.away = False
    one.run(10_000)
    assert [(one.status(each)["phase"], one.status(each)["reason"]) for each in (B, C)] == [("Failed", "Cancelled")] * 2
    assert one.inbox.open == {}
