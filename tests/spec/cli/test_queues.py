"""`fairway queue` shows a line in the order in which it is served."""

import pytest

from fairway.cli.queues import ordered
from fairway.gateway.http.answers import JobRow, QueueRow


def waiting(name: str, priority: int, since: int, queue: str = "gold") -> JobRow:
    return JobRow(name, "team-a", "queued", 1, since, since, queue=queue, priority=priority, enqueued_at=since)


@pytest.mark.parametrize(
    ("by_time", "want"),
    [(False, ["high", "early", "late"]), (True, ["early", "high", "late"])],
    ids=["by priority, then as they came", "as they came"],
)
def test_the_order_of_a_line(by_time: bool, want: list[str]) -> None:
    jobs = [waiting("late", 0, 30), waiting("early", 0, 10), waiting("high", 9, 20), waiting("other", 99, 1, "iron")]
    assert [one.id for one in ordered(QueueRow("gold", by_time=by_time), jobs)] == want
