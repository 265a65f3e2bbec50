"""Of a member whose calls come to nothing the log says so, and not once for each call."""

from structlog.testing import capture_logs

from fairway.propagator.unanswered import Unanswered
from tests.support.memory.clock import ManualClock


async def test_each_cluster_is_named_once_in_ten_seconds() -> None:
    clock = ManualClock(1)
    said = Unanswered(clock)
    with capture_logs() as lines:
        for _ in range(3):
            said.by("north", "job-1", "north did not answer")
        said.by("south", "job-2", "south did not answer")
        await clock.advance(9.9)
        said.by("north", "job-3", "north did not answer")
        await clock.advance(0.1)
        said.by("north", "job-4", "north did not answer")
    assert [(one["cluster"], one["job"]) for one in lines] == [
        ("north", "job-1"),
        ("south", "job-2"),
        ("north", "job-4"),
    ]
    assert {one["log_level"] for one in lines} == {"warning"}
