"""Services publish after they commit: the record may hold two events of a job the wrong way round."""

import pytest

from fairway.domain.job import Job
from fairway.runtime.record.folding import Folding
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import T0, Life, dequeued, failing, running

WHY = Reason(Code.WAITING_FOR_ROOM, "no room")


def rebuilt(messages: list[wire.JobMessage]) -> Job:
    folding = Folding()
    for message in messages:
        folding.hear(message)
    (job,) = folding.jobs().values()
    return job


def events(life: Life) -> list[wire.JobMessage]:
    return [message for _, message in life.said if message.rev]


@pytest.mark.parametrize("at", range(len(events(failing(running()))) - 1))
def test_a_job_is_rebuilt_the_same_whichever_two_neighbours_were_stored_the_wrong_way_round(at: int) -> None:
    life = failing(running())
    swapped = events(life)
    swapped[at], swapped[at + 1] = swapped[at + 1], swapped[at]
    assert rebuilt(swapped) == life.job


def test_an_event_that_was_never_stored_does_not_hold_back_those_that_may_follow_without_it() -> None:
    life = failing(running())
    without_recall = [message for message in events(life) if not isinstance(message, wire.Recall)]
    assert rebuilt(without_recall).rev == life.now.rev


@pytest.mark.parametrize("open_word", [(wire.Held, {"held": True}), (wire.Removed, {"cluster": "c1"})], ids=str)
def test_what_is_said_of_it_behind_a_gap_and_leaves_its_state_open_does_not_hold_back_those_that_tell_it(
    open_word: tuple[type[wire.JobMessage], dict[str, object]],
) -> None:
    """It was on its way; that it came back was lost, and then it is said for what it waits."""
    life = dequeued()
    life.then(wire.Queue, queue="gold", leaf=("root", "root/a"), enqueued_at=T0, why=WHY)
    life.then(open_word[0], **open_word[1]).then(wire.Blocked, why=WHY)
    heard = [message for message in events(life) if not (isinstance(message, wire.Queue) and message.why)]
    job = rebuilt(heard)
    assert (job.state, job.rev, job.why) == ("queued", life.now.rev, WHY)
