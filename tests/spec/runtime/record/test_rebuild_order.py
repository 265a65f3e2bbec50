"""Services publish after they commit: the record may hold two events of a job the wrong way round."""

import pytest

from fairway.domain.job import Job
from fairway.runtime.record.folding import Folding
from fairway.wire import jobs as wire
from tests.spec.builders.lives import Life, failing, running


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
