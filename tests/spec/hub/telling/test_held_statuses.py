"""What an object shows that is not submitted: that it waits, and why, unless somebody else writes its status."""

import pytest

from fairway.hub.telling.statuses import HELD_MS
from tests.spec.builders.hub_driver import HubDriver
from tests.spec.hub.hub_objects import Json
from tests.spec.hub.intake.test_what_holds import ALL, MOMENT, SUSPENDED, TRAIN, like

LONG = 2 * HELD_MS


def waits(one: HubDriver) -> list[tuple[str, str, str]]:
    return [(each["type"], each["status"], each["reason"]) for each in one.status(TRAIN).get("conditions", ())]


def held() -> HubDriver:
    one = HubDriver()
    one.apply(TRAIN)
    one.run(MOMENT)
    assert one.held(TRAIN), "nobody selects it"
    return one


def test_it_shows_that_it_waits_and_why() -> None:
    one = held()
    assert waits(one) == [], "a policy may come in the same breath"
    one.run(LONG)
    assert waits(one) == [("Suspended", "True", "NoPolicy")]
    writes = one.hub.verbs().count("status")
    one.run(60_000)
    assert one.hub.verbs().count("status") == writes == 1


def test_another_reason_takes_the_place_of_the_first() -> None:
    one = held()
    one.run(LONG)
    one.apply(ALL, SUSPENDED)
    one.run(LONG)
    assert waits(one) == [("Suspended", "True", "Suspended")]


def test_who_is_submitted_in_time_shows_nothing_of_it() -> None:
    one = held()
    one.apply(ALL)
    one.run(LONG)
    assert len(one.submissions(TRAIN)) == 1
    assert waits(one) == []


@pytest.mark.parametrize(
    "status", [{"active": 1}, {"conditions": [{"type": "Suspended", "status": "True"}], "ready": 0}]
)
def test_what_somebody_else_runs_is_not_said_to_wait(status: Json) -> None:
    one = held()
    one.show(TRAIN, status)
    one.run(60_000)
    assert one.status(TRAIN) == status


def test_who_begins_anew_shows_what_was_not_shown_yet() -> None:
    one = held()
    one.restart()
    one.run(LONG)
    assert waits(one) == [("Suspended", "True", "NoPolicy")]
    one.restart()
    one.apply(like(TRAIN))
    one.run(LONG)
    assert one.hub.verbs().count("status") == 1
