"""Statuses on their way to the hub: refused, on what somebody else wrote, of a hub that is away, of another object."""

from typing import Any

from fairway.wire import jobs as wire
from fairway.workloads.hub.objects import hub_object
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.builders.scripted_hub import not_taken
from tests.spec.hub.hub_objects import Json, thing
from tests.spec.hub.intake.test_owners_wish import up
from tests.spec.hub.intake.test_what_holds import TRAIN
from tests.spec.hub.telling.test_statuses import DONE, UP, over, sees, true, writes


def test_what_somebody_else_wrote_is_reckoned_with() -> None:
    one, life = up()
    sees(one, life, UP)
    one.show(TRAIN, UP | {"failed": 3})
    sees(one, life, UP | {"ready": 0, "failed": 1})
    assert (one.status(TRAIN)["failed"], one.status(TRAIN)["ready"]) == (3, 0)


def test_a_write_that_is_refused_is_made_anew_on_what_is_shown() -> None:
    one, life = up()
    sees(one, life, UP)
    one.hub.objects[TRAIN.kind, "team-a", "train"]["status"] = UP | {"failed": 3}  # no watch tells of it
    one.hub.refuses["status"] = once(one, UP | {"failed": 3})
    sees(one, life, UP | {"ready": 0, "failed": 1})
    assert one.status(TRAIN)["failed"] == 3


def once(one: HubDriver, shown: Json) -> Any:
    """Refuses the next one, and no other."""

    def answer(call: Any) -> Any:
        del one.hub.refuses["status"]
        return not_taken(shown)(call)

    return answer


def test_a_status_that_the_hub_never_takes_is_left_out_and_the_words_are_let_go() -> None:
    one, life = up()
    one.hub.refuses["status"] = not_taken({})
    one.says(life, wire.Succeeded, cluster="c1", status=DONE)
    one.run(60_000)
    assert writes(one) == 3
    assert one.inbox.open == {}
    assert one.events(TRAIN)[-1] == "Succeeded"


def test_the_words_that_a_status_follows_from_come_again_until_it_is_shown() -> None:
    one, life = up()
    one.hub.away = True
    name = one.says(life, wire.Succeeded, cluster="c1", status=DONE)
    one.run(5_000)
    assert name in one.inbox.open
    one.restart()
    one.run(1_000)
    assert name in one.inbox.open
    one.hub.away = False
    one.run(5_000)
    assert true(one.status(TRAIN)) == ["SuccessCriteriaMet", "Complete"]
    assert one.inbox.open == {}


def test_a_hub_that_is_away_gets_the_newest_word_when_it_is_back() -> None:
    one, life = up()
    one.hub.away = True
    sees(one, life, UP)
    over(one, life, wire.Lost)
    one.hub.away = False
    count = writes(one)
    one.run(5_000)
    assert true(one.status(TRAIN)) == ["FailureTarget", "Failed"]
    assert writes(one) == count + 1


def test_an_object_made_anew_under_the_name_is_left_alone() -> None:
    one, life = up()
    new = hub_object(TRAIN.kind, thing(TRAIN.kind, "train", spec=TRAIN.manifest["spec"], metadata={"uid": "u-2"}))
    one.hub.objects[TRAIN.kind, "team-a", "train"] = new.manifest  # no watch tells of it
    sees(one, life, UP)
    assert one.status(new) == {}
