"""What owners change of objects whose jobs are there: said once per wish, and what is not taken over is told."""

import pytest

from fairway.domain.submission import digest_of
from fairway.hub import calls
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from fairway.workloads.hub.objects import HubObject
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.lives import Life
from tests.spec.hub.intake.test_what_holds import ALL, MOMENT, TRAIN, dispatched, like, running

WIDER = like(TRAIN, spec={"parallelism": 2})
WIDEST = like(TRAIN, spec={"parallelism": 3})
SUSPENDED = like(TRAIN, spec={"suspend": True})
NO = Reason(Code.NOT_CHANGEABLE, "it runs, and its operator does not take that over")


def waiting() -> tuple[HubDriver, Life]:
    """Its job waits in a queue."""
    one = HubDriver()
    one.apply(ALL, TRAIN)
    one.run(MOMENT)
    life = one.admit(TRAIN)
    one.says(life, wire.Queue, queue="gold")
    one.run(3_000)
    return one, life


def up() -> tuple[HubDriver, Life]:
    one = HubDriver()
    one.apply(ALL, TRAIN)
    one.run(MOMENT)
    life = running(one)
    one.run(3_000)
    return one, life


def unchanged(one: HubDriver, life: Life, why: Reason = NO) -> str:
    """The newest wish is not taken over."""
    asked = one.said(wire.Revise)[-1]
    return one.says(life, wire.Unchanged, why=why, digest=digest_of(asked))


def amended(one: HubDriver, life: Life) -> None:
    """The newest wish is what the job is now."""
    one.says(life, wire.Amended, spec=one.record.spec(one.said(wire.Revise)[-1]))
    one.run(2_000)


def parallelism(one: HubDriver) -> list[bytes]:
    return [bytes(said.manifest).partition(b'"parallelism":')[2][:1] for said in one.said(wire.Revise)]


NO_WISH: dict[str, HubObject] = {
    "what its API server keeps of it": like(TRAIN, generation=7, managedFields=[{"manager": "kubectl"}]),
    "what kubectl notes": like(TRAIN, annotations={"kubectl.kubernetes.io/last-applied-configuration": "{}"}),
    "as it was": TRAIN,
}


@pytest.mark.parametrize("seen", NO_WISH.values(), ids=list(NO_WISH))
def test_what_its_owner_did_not_write_is_no_wish(seen: HubObject) -> None:
    one, _ = waiting()
    one.apply(seen)
    one.run(30_000)
    assert one.said(wire.Revise) == []


def test_neither_a_status_nor_our_own_writes_are_a_wish() -> None:
    one, life = up()
    for ready in range(3):
        one.member(life, {"active": 3, "ready": ready}, str(ready))
        one.run(1_000)
        one.show(TRAIN, {"active": 1, "ready": ready})
        one.run(1_000)
    assert one.said(wire.Revise, wire.HoldJob) == []


def test_a_wish_is_said_once_and_the_next_one_too() -> None:
    one, _ = waiting()
    for seen in (WIDER, WIDER, WIDEST):
        one.apply(seen)
        one.run(5_000)
    assert parallelism(one) == [b"2", b"3"]


def test_of_what_changes_in_one_breath_only_the_last_is_said() -> None:
    one, _ = waiting()
    one.apply(WIDER)
    one.apply(WIDEST)
    one.run(5_000)
    assert parallelism(one) == [b"3"]


def test_a_wish_waits_for_the_job_that_is_on_its_way_through_admission() -> None:
    one = HubDriver()
    one.apply(ALL, TRAIN)
    one.run(MOMENT)
    one.apply(WIDER)
    one.run(5_000)
    assert one.said(wire.Revise) == []
    one.admit(TRAIN)
    one.run(1_000)
    assert parallelism(one) == [b"2"]


def test_a_wish_that_was_put_off_is_nothing_new_when_its_object_is_gone() -> None:
    one = HubDriver()
    one.apply(ALL, TRAIN)
    one.run(MOMENT)
    one.apply(WIDER)
    one.run(100)
    one.delete(TRAIN)
    one.run(5_000)
    assert [*one.memory.objects] == []
    assert len(one.said(wire.Cancel)) == 1
    one.apply(TRAIN)
    one.run(5_000)
    assert [*one.memory.objects] == [TRAIN.uid], "what is applied anew is there again"


def test_of_a_job_that_is_over_nothing_is_wished() -> None:
    one, life = waiting()
    one.says(life, wire.Cancelled, who="ann")
    one.run(2_000)
    one.apply(WIDER)
    one.apply(SUSPENDED)
    one.run(5_000)
    assert one.said(wire.Revise, wire.HoldJob, wire.Submitted) == one.said(wire.Submitted)


def test_suspending_holds_the_job_and_letting_go_lets_it_go() -> None:
    one, life = waiting()
    for seen, held in ((SUSPENDED, True), (SUSPENDED, True), (TRAIN, False)):
        one.apply(seen)
        one.run(2_000)
        assert [said.held for said in one.said(wire.HoldJob)][-1] is held
        if life.now.held is not held:
            one.says(life, wire.Held, held=held)
        one.run(2_000)
    assert [said.held for said in one.said(wire.HoldJob)] == [True, False]
    assert one.said(wire.Revise) == [], "beside that it says the same"
    assert one.events(TRAIN)[-2:] == ["Suspended", "Resumed"]


def test_what_is_not_taken_over_is_told_once_by_event_and_by_condition() -> None:
    one, life = up()
    one.apply(WIDER)
    one.run(1_000)
    unchanged(one, life)
    one.run(5_000)
    assert one.conditions(TRAIN)["UpToDate"] == ("False", NO.code.value)
    one.show(TRAIN, {"active": 1})
    one.run(30_000)
    assert one.events(TRAIN).count(NO.code.value) == 1
    assert len(one.said(wire.Revise)) == 1


def test_it_is_taken_back_when_the_object_says_again_what_the_job_is() -> None:
    one, life = up()
    one.apply(WIDER)
    one.run(1_000)
    unchanged(one, life)
    one.run(5_000)
    one.apply(TRAIN)
    one.run(5_000)
    assert one.conditions(TRAIN)["UpToDate"] == ("True", "UpToDate")
    assert len(one.said(wire.Revise)) == 1, "nothing is asked for"


def test_a_wish_that_is_taken_over_is_what_the_job_is() -> None:
    one, life = waiting()
    one.apply(WIDER)
    one.run(1_000)
    amended(one, life)
    assert "UpToDate" not in one.conditions(TRAIN)
    one.restart()
    one.run(30_000)
    assert len(one.said(wire.Revise)) == 1


def test_an_answer_to_an_older_wish_says_nothing_of_the_newest() -> None:
    one, life = up()
    one.apply(WIDER)
    one.run(1_000)
    old = digest_of(one.said(wire.Revise)[-1])
    one.apply(WIDEST)
    one.run(1_000)
    one.says(life, wire.Unchanged, why=NO, digest=old)
    one.run(5_000)
    assert "UpToDate" not in one.conditions(TRAIN)


@pytest.mark.parametrize("anew", [False, True], ids=["", "by a process that began anew"])
def test_what_was_not_taken_over_is_asked_for_again_when_the_job_is_back_in_its_queue(anew: bool) -> None:
    one, life = up()
    one.apply(WIDER)
    one.run(1_000)
    unchanged(one, life)
    one.run(5_000)
    if anew:
        one.restart()
        one.run(5_000)
    before = len(one.said(wire.Revise))
    one.says(life, wire.Failed, cluster="c1", why=Reason(Code.JOB_FAILED, "exit code 1"))
    one.says(life, wire.Queue, attempt=2, queue="gold")
    one.run(5_000)
    assert len(one.said(wire.Revise)) == before + 1
    amended(one, life)
    assert one.conditions(TRAIN).get("UpToDate", ("True", "UpToDate")) == ("True", "UpToDate")


def test_a_hub_that_is_away_is_asked_later_for_what_is_wished() -> None:
    one, life = up()
    one.apply(WIDER)
    one.run(1_000)
    unchanged(one, life)
    one.run(5_000)
    one.hub.away = True
    one.says(life, wire.Failed, cluster="c1", why=Reason(Code.JOB_FAILED, "exit code 1"))
    one.says(life, wire.Queue, attempt=2, queue="gold")
    one.run(5_000)
    assert len(one.said(wire.Revise)) == 1
    one.hub.away = False
    one.run(5_000)
    assert len(one.said(wire.Revise)) == 2


def test_what_a_watch_shows_while_the_hub_is_asked_counts_more_than_what_it_answers() -> None:
    """The answer is of the moment before."""
    one = HubDriver()
    one.apply(ALL, TRAIN)
    one.run(MOMENT)
    life = dispatched(one)
    one.apply(WIDER)
    one.run(1_000)
    unchanged(one, life)
    one.run(5_000)
    one.hub.late(calls.LOOK, lambda: one.apply(WIDEST))
    one.says(life, wire.Running, cluster="c1")
    one.run(5_000)
    assert parallelism(one) == [b"2", b"3"]
    amended(one, life)
    assert one.conditions(TRAIN)["UpToDate"] == ("True", "UpToDate")
