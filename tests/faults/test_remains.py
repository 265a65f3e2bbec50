"""When all has ended: what may be left in a member, and what may not."""

import pytest

from fairway.wire import jobs as wire
from tests.faults.arena.heard import Heard
from tests.faults.arena.held import remains
from tests.faults.test_verdict import CANCEL, CANCELLED, DONE, LOST, WHY, Two

ONCE = wire.Failed(job="job-a", tenant="t", attempt=1, cluster="c0", why=WHY)
FAILED = wire.Failed(job="job-a", tenant="t", attempt=1, cluster="c0", why=WHY, final=True)
GIVEN_UP = wire.Lost(job="job-a", tenant="t", attempt=1, cluster="c0", why=WHY, final=True)
DONE_ELSEWHERE = wire.Succeeded(job="job-a", tenant="t", attempt=2, cluster="c1")
CASES: dict[str, tuple[list[wire.JobMessage], bool]] = {
    "it succeeded": ([DONE], True),
    "it failed, and had no attempts left": ([FAILED], True),
    "it failed, and went elsewhere": ([ONCE, DONE_ELSEWHERE], False),
    "it was lost, and went elsewhere": ([LOST, DONE_ELSEWHERE], False),
    "it was lost, and had no attempts left": ([GIVEN_UP], False),
    "it was cancelled": ([CANCEL, CANCELLED], False),
    "it succeeded before it could be cancelled": ([CANCEL, DONE], False),
    "it was cancelled after its end": ([DONE, CANCEL], False),
}


@pytest.mark.parametrize("name", CASES)
def test_an_object_may_stay_when_its_job_ended_there_by_itself_and_nobody_cancelled_it(name: str) -> None:
    said, may_stay = CASES[name]
    two = Two()
    heard = Heard()
    two.made(0, 1)
    for message in said:
        heard.hear(message)
    assert remains(two.seen, heard) == ([] if may_stay else ["Job Job-1-0 in c0 is left of attempt 1 of job-a"])
