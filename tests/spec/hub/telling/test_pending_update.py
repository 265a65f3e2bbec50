"""When the owner of an object is told of its job: not in passing, soon when it stands, and never more than the hub can
bear."""

import pytest

from fairway.hub.telling.pending_update import (
    LONGEST_MS,
    PASSING_MS,
    SOON_MS,
    STARTING_MS,
    STRETCH_MS,
    HeardWord,
    PendingUpdate,
    UpdatePace,
    hear,
    take,
    told,
    touch,
)
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

WHY = Reason(Code.WAITING_FOR_ROOM, "none of 3 clusters can take it now")
HEAD = {"job": "a", "tenant": "team-a", "attempt": 1}
QUEUED = wire.Queue(**HEAD, rev=2, queue="gold")
BACK = wire.Queue(**HEAD, rev=5, queue="gold", why=WHY)
PLACED = wire.Placed(**HEAD, rev=4, cluster="c1", slots=())
SENT = wire.Dispatched(**HEAD, rev=6, cluster="c1")
RUNS = wire.Running(**HEAD, rev=7, cluster="c1")
FAILED = wire.Failed(**HEAD, rev=8, cluster="c1", why=Reason(Code.JOB_FAILED, "exit code 1"))
REFUSED = wire.Rejected(**HEAD, rev=1, reasons=(WHY,))
T0 = 10_000
Words = list[tuple[int, wire.JobMessage]]


def heard(words: Words, others: int = 0) -> PendingUpdate:
    line = PendingUpdate()
    for at, message in words:
        hear(line, HeardWord(f"id-{message.rev}", message), T0 + at, others)
    return line


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
    assert heard(given).due - T0 == want


@pytest.mark.parametrize(("others", "more"), [(0, 0), (100, 100 * STRETCH_MS), (5_000, LONGEST_MS)])
def test_the_more_jobs_move_the_longer_a_word_waits_but_a_refusal_never(others: int, more: int) -> None:
    assert heard([(0, SENT)], others).due - T0 == STARTING_MS + more
    assert heard([(0, REFUSED)], others).due - T0 == SOON_MS


def test_one_line_has_the_newest_word_every_failure_and_all_that_is_to_be_acknowledged() -> None:
    last = wire.Queue(**HEAD, rev=9, queue="gold", why=WHY)
    line = heard([(0, RUNS), (1, FAILED), (2, last)])
    assert [word.message.rev for word in take(line)] == [8, 9]
    assert line.ids == ["id-7", "id-8", "id-9"]


def test_that_room_is_kept_is_told_though_more_was_said_since() -> None:
    kept = wire.Nominated(**HEAD, rev=5, claim=1, cluster="c1", slots=(), victims=1, until=T0)
    assert [word.message.rev for word in take(heard([(0, kept), (1, RUNS)]))] == [5, 7]


def test_words_are_told_in_the_order_in_which_they_were_said() -> None:
    line = heard([(0, RUNS), (1, QUEUED), (2, FAILED)])
    assert [word.message.rev for word in take(line)] == [7, 8]


def test_what_was_told_is_over_and_what_came_meanwhile_stays() -> None:
    line = heard([(0, FAILED), (1, BACK)])
    sent = tuple(line.ids)
    hear(line, HeardWord("id-6", SENT), T0 + 200, 0)
    told(line, sent)
    assert (line.ids, line.over) == (["id-6"], ["id-8", "id-5"])
    assert [word.message.rev for word in take(line)] == [6]
    told(line, ("id-6",))
    assert (line.ids, line.newest, line.first) == ([], None, 0)


def test_a_look_without_a_word_brings_nothing_forward_that_waits_for_less() -> None:
    line = heard([(0, QUEUED)])
    touch(line, T0 + 30_000)
    assert line.due - T0 == PASSING_MS
    touch(line, T0 + 10)
    assert line.due - T0 == 10


@pytest.mark.parametrize(
    ("waiting", "last"),
    [
        pytest.param(0, 1_500, id="ten a second, and five at once after a pause"),
        pytest.param(400, 187, id="eight hundred writes wait: eighty a second, so that it takes ten"),
    ],
)
def test_the_hub_is_written_to_at_a_pace(waiting: int, last: int) -> None:
    pace = UpdatePace(10, 5)
    waits = []
    for _ in range(20):
        waits.append(pace.wait(100_000, waiting))
        pace.use(100_000, waiting)
    assert (waits[:5], waits[-1]) == ([0] * 5, last)
