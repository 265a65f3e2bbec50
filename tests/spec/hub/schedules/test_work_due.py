"""What is to be done for a schedule at a moment: by what it says, its runs, and who made the last one."""

from typing import Any

import pytest

from fairway.hub.schedules.work_due import NOTHING, PATIENCE_MS, Before, Wait, WorkDue, work_due
from fairway.workloads.schedules.schedule import FORBID, REPLACE, Run, Schedule
from fairway.workloads.schedules.timetable import Timetable

MINUTE = 60_000
HOURLY = (Timetable("0 * * * *"),)
HOUR = 60 * MINUTE
T = 1_000 * HOUR
OURS = Before(T, ours=True)
ACTIVE = Run("old", "u-old", "1")


def due(now: int, *runs: Run, before: Before = OURS, **more: Any) -> WorkDue:
    return work_due(Schedule(HOURLY, T, **more), runs, now, before)


def test_a_run_is_made_when_its_time_has_come_and_only_once() -> None:
    assert due(T + HOUR - 1) == WorkDue(next=T + HOUR)
    assert due(T + HOUR) == WorkDue(make=T + HOUR, next=T + 2 * HOUR)
    assert due(T + HOUR + 5, before=Before(T + HOUR, ours=True)) == WorkDue(next=T + 2 * HOUR)


def test_a_controller_of_the_hub_is_waited_for_until_it_is_known_that_there_is_none() -> None:
    seen = Wait(T, T + HOUR)
    assert due(T + HOUR, before=NOTHING) == WorkDue(next=T + HOUR + PATIENCE_MS, waits=seen)
    assert due(T + HOUR + PATIENCE_MS - 1, before=Before(wait=seen)).make is None
    assert due(T + HOUR + PATIENCE_MS, before=Before(wait=seen)).make == T + HOUR
    assert due(T + HOUR + 2_000, before=Before(wait=seen), deadline=4_000).make == T + HOUR, "not until it is too late"


def test_a_controller_that_has_made_a_run_since_is_waited_for_again() -> None:
    before = Before(T - HOUR, ours=True)
    assert due(T + HOUR, before=before).waits == Wait(T, T + HOUR), "its status says that somebody made the one of T"
    assert due(T + HOUR, before=Before(T, ours=True)).make == T + HOUR, "that was Fairway"
    assert due(T + HOUR, before=Before(T + HOUR - 1, ours=True)).make == T + HOUR, "its status is not seen yet"


def test_a_controller_that_gives_runs_other_names_is_waited_for_at_each() -> None:
    assert due(T + HOUR, same_names=False) == WorkDue(next=T + HOUR + PATIENCE_MS, waits=Wait(T, T + HOUR))
    seen = Before(T, ours=True, wait=Wait(T, T + HOUR))
    assert due(T + HOUR + PATIENCE_MS, before=seen, same_names=False).make == T + HOUR


def test_a_controller_is_waited_for_from_when_the_run_was_seen_to_be_due() -> None:
    late = T + HOUR + 30 * MINUTE
    assert due(late, before=NOTHING) == WorkDue(next=late + PATIENCE_MS, waits=Wait(T, late)), "it may begin anew, too"
    assert due(late, before=NOTHING, deadline=30 * MINUTE + 4_000).next == late + 2_000
    assert due(late, before=NOTHING, deadline=20 * MINUTE).passed == T + HOUR
    assert due(late, before=Before(wait=Wait(T - HOUR, T))).waits == Wait(T, late), "that wait was for the run before"


def test_a_schedule_that_runs_more_often_than_a_controller_is_waited_for_runs() -> None:
    often = Schedule((Timetable(every=2_000),), T)
    wait = work_due(often, (), T + 2_000).waits
    assert wait == Wait(T, T + 2_000)
    found = work_due(often, (), wait.since + PATIENCE_MS, Before(wait=wait))
    assert found == WorkDue(make=wait.since + PATIENCE_MS, next=wait.since + PATIENCE_MS + 2_000)


@pytest.mark.parametrize(
    ("more", "make", "passed"),
    [
        pytest.param({}, T + 5 * HOUR, None, id="of all that were missed the newest is made"),
        pytest.param({"deadline": 10 * MINUTE}, None, T + 5 * HOUR, id="none that is too late"),
        pytest.param({"deadline": 40 * MINUTE}, T + 5 * HOUR, None, id="one that is not"),
        pytest.param({"catches_up": False}, None, T + 5 * HOUR, id="none where nothing is caught up with"),
        pytest.param({"suspended": True}, None, None, id="none while it is suspended"),
    ],
)
def test_runs_that_were_missed(more: dict[str, Any], make: int | None, passed: int | None) -> None:
    found = due(T + 5 * HOUR + 30 * MINUTE, **more)
    assert (found.make, found.passed) == (make, passed)


def test_a_run_beside_another_one_as_the_schedule_says() -> None:
    at = T + HOUR
    assert due(at, ACTIVE).make == at
    assert due(at, ACTIVE, concurrency=FORBID) == WorkDue(next=at + HOUR), "it waits for the end of the other"
    assert due(at + MINUTE, Run("old", "u-old", "1", True, True), concurrency=FORBID).make == at
    assert due(at, ACTIVE, concurrency=FORBID, waits=False).passed == at, "or is left out"
    assert due(at, ACTIVE, concurrency=REPLACE) == WorkDue(make=at, drop=(ACTIVE,), next=at + HOUR)


def test_the_newest_runs_that_have_ended_are_kept() -> None:
    good = [Run(f"g{at}", f"u-g{at}", f"{at}", True, True) for at in range(5)]
    bad = [Run(f"b{at}", f"u-b{at}", f"{at}", True) for at in range(3)]
    found = due(T, *reversed(good), *bad, ACTIVE)
    assert {one.name for one in found.drop} == {"g0", "g1", "b0", "b1"}
    assert not due(T, *good, keep=(9, 9)).drop
