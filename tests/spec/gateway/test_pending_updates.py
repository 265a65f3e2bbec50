"""When the hub is told of a job: not in passing, soon when it stands, and never more than it can bear."""

import pytest
from fairway.hub.telling.pending_updates import (
    LONGEST_MS,
    PASSING_MS,
    SOON_MS,
    STARTING_MS,
    STRETCH_MS,
    UNCLAIMED_MS,
    PendingUpdates,
    UpdatePace,
)

from fairway.runtime.ports import Delivery
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.gateway.hub_objects import job

WHY = Reason(Code.WAITING_FOR_ROOM, "none of 3 clusters can take it now")
HEAD = {"job": "a", "tenant": "team-a", "attempt": 1}
QUEUED = wire.Queue(**HEAD, rev=2, queue="gold")
BACK = wire.Queue(**HEAD, rev=5, queue="gold", why=WHY)
PLACED = wire.Placed(**HEAD, rev=4, cluster="c1", slots=())
SENT = wire.Dispatched(**HEAD, rev=6, cluster="c1")
RUNS = wire.Running(**HEAD, rev=7, cluster="c1")
FAILED = wire.Failed(**HEAD, rev=8, cluster="c1", why=Reason(Code.JOB_FAILED, "exit code 1"))
T0 = 10_000
Words = list[tuple[int, wire.JobMessage]]


def heard(words: Words) -> PendingUpdates:
    updates = PendingUpdates()
    for at, message in words:
        updates.hear(Delivery(f"id-{message.rev}", "", b""), message, T0 + at)
    return updates


def first_told(updates: PendingUpdates) -> int:
    return next(after for after in range(5_000) if updates.take(T0 + after, 9))


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param([(0, BACK)], SOON_MS, id="why it waits: soon"),
        pytest.param([(0, QUEUED)], PASSING_MS, id="its turn is to come: when that lasts"),
        pytest.param([(0, QUEUED), (9, PLACED), (50, SENT)], 50 + STARTING_MS, id="on its way: once it is there"),
        pytest.param([(0, SENT), (300, RUNS)], 300 + SOON_MS, id="up at once: told with its dispatch"),
        pytest.param([(0, BACK), (60, PLACED), (130, SENT)], 130 + STARTING_MS, id="it waits no longer: not told"),
        pytest.param([(0, QUEUED), (900, PLACED)], PASSING_MS, id="never later than a second after the first"),
    ],
)
def test_the_moment_at_which_a_job_is_told_of(given: Words, want: int) -> None:
    assert first_told(heard(given)) == want


@pytest.mark.parametrize(("others", "more"), [(0, 0), (100, 100 * STRETCH_MS), (5_000, LONGEST_MS)])
def test_the_more_jobs_move_the_longer_a_word_waits_but_a_refusal_never(others: int, more: int) -> None:
    updates = PendingUpdates()
    for number in range(others):
        updates.hear(
            Delivery("", "", b""), wire.Running(job=f"o{number}", tenant="t", attempt=1, rev=2, cluster="c"), T0
        )
    updates.hear(Delivery("", "", b""), SENT, T0)
    no = wire.Rejected(**{**HEAD, "job": "b"}, rev=1, reasons=(WHY,))
    updates.hear(Delivery("", "", b""), no, T0)
    assert "b" in updates.take(T0 + SOON_MS, others + 2)
    assert "a" not in updates.take(T0 + STARTING_MS + more - 1, others)
    assert "a" in updates.take(T0 + STARTING_MS + more, others + 2)


def test_one_line_has_the_newest_word_every_failure_and_all_that_is_to_be_acknowledged() -> None:
    last = wire.Queue(**HEAD, rev=9, queue="gold", why=WHY)
    line = heard([(0, RUNS), (1, FAILED), (2, last)]).take(T0 + 5_000, 9)["a"]
    assert (line.newest is not None and line.newest.rev, line.cause) == (9, "id-9")
    assert [message.rev for _, message in line.ends] == [8]
    assert [one.id for one in line.deliveries] == ["id-7", "id-8", "id-9"]


def test_what_could_not_be_told_is_told_later_with_the_newer_word() -> None:
    updates = heard([(0, BACK)])
    line = updates.take(T0 + SOON_MS, 9)["a"]
    updates.hear(Delivery("id-6", "", b""), SENT, T0 + 200)
    updates.again("a", line, T0 + 1_200)
    assert updates.take(T0 + 1_199, 9) == {}
    again = updates.take(T0 + 1_200, 9)["a"]
    assert (again.cause, [one.id for one in again.deliveries]) == ("id-6", ["id-5", "id-6"])


def test_a_look_without_a_word_brings_nothing_forward_that_waits_for_less() -> None:
    updates = heard([(0, QUEUED)])
    updates.touch("a", T0, 30_000)
    assert first_told(updates) == PASSING_MS


def test_of_many_the_oldest_are_told_first() -> None:
    updates = PendingUpdates()
    for at, name in enumerate("cab"):
        updates.hear(Delivery(name, "", b""), wire.Running(job=name, tenant="t", attempt=1, rev=2, cluster="c1"), at)
    assert [list(updates.take(5_000, 2)), list(updates.take(5_000, 2))] == [["c", "a"], ["b"]]


def test_a_job_without_a_policy_is_told_so_only_when_none_came_in_the_same_breath() -> None:
    updates = PendingUpdates()
    updates.lacks(job(), WHY, 0)
    assert updates.take_unclaimed(UNCLAIMED_MS - 1, 9) == []
    assert [one.one.name for one in updates.take_unclaimed(UNCLAIMED_MS, 9)] == ["train"]


@pytest.mark.parametrize(
    ("waiting", "last"),
    [
        pytest.param(0, 1_500, id="ten a second, and five at once after a pause"),
        pytest.param(400, 187, id="eight hundred writes wait: eighty a second, so that it takes ten"),
    ],
)
def test_the_hub_is_written_to_at_a_pace(waiting: int, last: int) -> None:
    pace = UpdatePace(10, 5)
    waits = [pace.wait(100_000, waiting) for _ in range(20)]
    assert (waits[:5], waits[-1]) == ([0] * 5, last)
