"""What owners are told of their jobs, by Events and bindings: each failure, one reason once, and nothing is lost."""

from collections.abc import Callable

import pytest

from fairway.hub.telling.pending_update import UNCLAIMED_MS
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.lives import Life
from tests.spec.builders.scripted_hub import unreachable
from tests.spec.hub.hub_objects import JOB, job
from tests.spec.hub.intake.test_owners_wish import up, waiting
from tests.spec.hub.intake.test_what_holds import ALL, TRAIN

FULL = Reason(Code.WAITING_FOR_ROOM, "none of 3 clusters can take it now")
OOM = Reason(Code.JOB_FAILED, "exit code 137")


def back(one: HubDriver, life: Life, why: Reason = FULL) -> str:
    return one.says(life, wire.Blocked, why=why)


def again(one: HubDriver, life: Life) -> None:
    """The attempt fails, and another one runs."""
    one.says(life, wire.Failed, cluster="c1", why=OOM)
    one.says(life, wire.Queue, attempt=life.now.attempt + 1, queue="gold")
    one.says(life, wire.Dequeued, path=(), charge={})
    one.says(life, wire.Placed, cluster="c1", slots=())
    one.says(life, wire.Reserved, cluster="c1", slots=(), expires_at=one.now + 60_000)
    one.says(life, wire.Dispatched, cluster="c1", uid="u-9")


def test_a_job_that_runs_at_once_is_told_of_once() -> None:
    one, _ = up()
    assert one.events(TRAIN) == ["Running"]
    (text,) = [text for *_, text in one.hub.notes]
    assert "Dispatched to c1" in text, "with where it went, which was told nobody yet"


def test_a_word_is_acknowledged_when_it_was_told_and_not_before() -> None:
    one, life = waiting()
    name = back(one, life)
    one.run(50)
    assert name in one.inbox.open, "it would come again"
    one.run(2_000)
    assert one.events(TRAIN)[-1] == "WaitingForRoom"
    assert name in one.inbox.acked
    assert one.inbox.open == {}


def test_each_failed_attempt_is_told_though_the_next_one_runs_by_then() -> None:
    one, life = up()
    again(one, life)
    again(one, life)
    one.run(5_000)
    assert one.events(TRAIN) == ["Running", "Failed", "Failed", "Dispatched"]
    assert one.inbox.open == {}


def test_a_reason_to_wait_that_comes_back_is_told_once_per_attempt() -> None:
    one, life = waiting()
    other = Reason(Code.WAITING_FOR_QUOTA, "its leaf is full")
    for why in (FULL, other, FULL, other, FULL):
        back(one, life, why)
        one.run(3_000)
    assert one.events(TRAIN) == ["Queued", "WaitingForRoom", other.code.value]
    assert one.conditions(TRAIN)["Queuing"] == ("True", "WaitingForRoom"), "the binding says what is so now"


def test_that_nobody_leaves_for_it_is_told_once_per_attempt_and_beside_why_it_waits() -> None:
    one, life = waiting()
    full = Reason(Code.WAITING_FOR_QUOTA, "its leaf is full")
    for number, why in enumerate((FULL, full, FULL), start=1):
        back(one, life, why)
        one.says(life, wire.Unclaimed, claim=number, why=Reason(Code.NO_VICTIMS, "2 of its 4 pods would have no room"))
        one.run(3_000)
    assert sorted(one.events(TRAIN)) == ["NoVictims", "Queued", "WaitingForQuota", "WaitingForRoom"]
    assert one.conditions(TRAIN)["Queuing"] == ("True", "WaitingForRoom")
    assert one.inbox.open == {}


def test_the_next_attempt_may_wait_for_the_same() -> None:
    one, life = waiting()
    back(one, life)
    one.run(3_000)
    one.says(life, wire.Dequeued, path=(), charge={})
    one.says(life, wire.Placed, cluster="c1", slots=())
    one.says(life, wire.Reserved, cluster="c1", slots=(), expires_at=one.now + 60_000)
    again_waits(one, life)
    assert one.events(TRAIN).count("WaitingForRoom") == 2


def again_waits(one: HubDriver, life: Life) -> None:
    one.says(life, wire.Dispatched, cluster="c1", uid="u-9")
    one.says(life, wire.Failed, cluster="c1", why=OOM)
    one.says(life, wire.Queue, attempt=2, queue="gold", why=FULL)
    one.run(3_000)


def test_a_word_does_not_wait_until_a_changed_status_alone_would_be_told() -> None:
    one, life = waiting()
    one.show(TRAIN, {"active": 1})
    one.run(50)
    name = back(one, life)
    one.run(3_000)
    assert (one.events(TRAIN)[-1], name in one.inbox.acked) == ("WaitingForRoom", True)
    assert one.conditions(TRAIN)["Queuing"] == ("True", "WaitingForRoom")


def test_the_same_word_heard_twice_is_told_once() -> None:
    one, life = waiting()
    name = back(one, life)
    one.run(3_000)
    asked = one.hub.verbs()
    one.inbox.deliver(name, life.said[-1][1])
    one.run(3_000)
    assert one.hub.verbs() == asked
    assert one.inbox.open == {}


AWAY: dict[str, Callable[[HubDriver], None]] = {
    "all of it": lambda one: setattr(one.hub, "away", True),
    "Events": lambda one: one.hub.refuses.update(event=unreachable),
    "bindings": lambda one: one.hub.refuses.update(bind=unreachable),
}


@pytest.mark.parametrize("breaks", AWAY.values(), ids=list(AWAY))
@pytest.mark.parametrize("anew", [False, True], ids=["", "and this process dies"])
def test_what_a_hub_that_is_away_could_not_be_told_is_told_later(
    breaks: Callable[[HubDriver], None], anew: bool
) -> None:
    one, life = waiting()
    breaks(one)
    first = back(one, life)
    one.run(5_000)
    assert first in one.inbox.open
    again = Reason(Code.WAITING_FOR_QUOTA, "its leaf is full")
    second = back(one, life, again)
    one.run(5_000)
    if anew:
        one.restart()
    one.run(2_000)
    assert {first, second} <= {*one.inbox.open}
    one.hub.away = False
    one.hub.refuses.clear()
    one.run(10_000)
    assert one.events(TRAIN)[-1] == again.code.value
    assert one.conditions(TRAIN)["Queuing"] == ("True", again.code.value)
    assert one.inbox.open == {}


def test_words_that_come_before_their_object_was_listed_wait_for_it() -> None:
    one, life = waiting()
    one.start()
    name = back(one, life)
    one.run(5_000)
    assert (name in one.inbox.open, one.events(TRAIN)) == (True, ["Queued"])
    one.list_all()
    one.run(5_000)
    assert one.events(TRAIN) == ["Queued", "WaitingForRoom"]
    assert one.inbox.open == {}


def test_words_on_an_object_that_turns_out_to_be_gone_are_let_go() -> None:
    one, life = waiting()
    one.start()
    back(one, life)
    one.run(1_000)
    del one.hub.objects[JOB, "team-a", "train"]
    one.list_all()
    one.run(10_000)
    assert len(one.said(wire.Cancel)) == 1
    assert one.inbox.open == {}


def test_words_on_a_job_of_another_door_are_nobody_s_here() -> None:
    one = HubDriver()
    life = Life("other").then(wire.Admitted, attempt=1, spec=up()[1].now.spec)
    spec = life.now.spec
    assert spec is not None
    one.record.follow(life)
    one.says(life, wire.Queue, queue="gold")
    one.run(5_000)
    assert one.inbox.open == {}


def test_a_job_without_a_policy_is_told_so_only_when_none_came_in_the_same_breath() -> None:
    one = HubDriver()
    one.apply(TRAIN)
    one.run(UNCLAIMED_MS)
    assert one.events(TRAIN) == []
    one.run(2_000)
    assert one.events(TRAIN) == ["NoPolicy"]


def test_of_many_all_are_told_within_seconds_and_never_too_many_at_once() -> None:
    one = HubDriver()
    many = [job(f"j{number}") for number in range(300)]
    one.apply(ALL, *many)
    one.run(1_000)
    for each in many:
        one.says(one.admit(each), wire.Queue, queue="gold", why=FULL)
    counts = []
    for _ in range(30):
        before = len(one.hub.notes)
        one.run(1_000)
        counts.append(len(one.hub.notes) - before)
    assert sum(counts) == 300
    assert max(counts) <= 100
    assert one.inbox.open == {}


def test_the_end_is_in_the_binding_with_the_last_status() -> None:
    one, life = up()
    one.says(life, wire.Succeeded, cluster="c1", status={"succeeded": 1, "conditions": done()})
    one.run(5_000)
    (member,) = one.binding(TRAIN)["status"]["aggregatedStatus"]
    assert (member["health"], member["status"]["succeeded"]) == ("Healthy", 1)
    assert one.events(TRAIN)[-1] == "Succeeded"


def done() -> list[dict[str, str]]:
    return [{"type": kind, "status": "True"} for kind in ("SuccessCriteriaMet", "Complete")]
