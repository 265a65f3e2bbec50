"""What `fairway evictions` lists: each with both sides in numbers, and for which job only where that is kept."""

from typing import Any

import msgspec
import pytest

from fairway.operate.evictions.table import row
from fairway.operate.evictions.told_evictions import EvictionFilter, by_claim, eviction_of, newest_first, of_story
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause
from fairway.wire.preemption.evictions import Evict
from fairway.wire.reasons import Code, Reason

DECIDED = Evict(job="mine-1", tenant="b", attempt=1, claim=2, cluster="c1", slots=(), victims=(), looked=7)
(CLAIM,) = by_claim([DECIDED])


def evicted(job: str, at: int, **more: Any) -> wire.Evicted:
    why = Reason(Code.RECLAIMED, "its room is for a job of quota root/b")
    head = {"tenant": "a", "attempt": 1, "rev": 9, "cluster": "c1", "why": why, "claim": CLAIM, "right": Cause.RECLAIM}
    both = {"leaf": "root/b", "level": 2, "priority": 100, "own_priority": 10}
    return wire.Evicted(**{"job": job, "at": at, **head, **both, **more})


SAID = (evicted("old-1", 1_000), evicted("new-1", 3_000, claim="claim-other"), evicted("mid-1", 2_000))
FOUND = [eviction_of(one, by_claim([DECIDED])) for one in SAID]


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        pytest.param(EvictionFilter(), ["new-1", "mid-1", "old-1"], id="all, the newest first"),
        pytest.param(EvictionFilter(since=2_000), ["new-1", "mid-1"], id="from a time on"),
        pytest.param(EvictionFilter(claim=CLAIM[:10]), ["mid-1", "old-1"], id="of a claim, by its beginning"),
        pytest.param(EvictionFilter(job="mid"), ["mid-1"], id="of a job that had to go"),
        pytest.param(EvictionFilter(job="mine"), ["mid-1", "old-1"], id="for a job that got the room"),
        pytest.param(EvictionFilter(job="nobody"), [], id="of a job that nobody knows"),
    ],
)
def test_those_asked_for_are_listed(asked: EvictionFilter, want: list[str]) -> None:
    assert [one.job for one in newest_first(FOUND, asked)] == want


@pytest.mark.parametrize(
    ("at", "want"),
    [
        pytest.param(
            0,
            (
                "1970-01-01 00:00:01Z",
                "Reclaim",
                "a/old-1",
                1,
                "c1",
                "root/b",
                "mine-1",
                CLAIM,
                "2 over 0",
                "100 over 10",
            ),
            id="with the job that got the room, where the decision is kept",
        ),
        pytest.param(
            1,
            (
                "1970-01-01 00:00:03Z",
                "Reclaim",
                "a/new-1",
                1,
                "c1",
                "root/b",
                "-",
                "claim-other",
                "2 over 0",
                "100 over 10",
            ),
            id="without it, where it is not",
        ),
    ],
)
def test_a_line_says_who_had_to_go_for_whom_and_the_numbers_of_both(at: int, want: tuple[object, ...]) -> None:
    assert row(FOUND[at]) == want


def test_of_a_story_evictions_alone_are_read_and_never_for_which_job() -> None:
    lost = wire.Lost(job="old-1", tenant="a", cluster="c1", why=Reason(Code.RESERVATION_EXPIRED, "late"))
    record = [msgspec.json.decode(msgspec.json.encode(one)) for one in (lost, SAID[0])]
    (one,) = of_story(record)
    assert (one.job, one.claim, one.text, one.beneficiary) == ("old-1", CLAIM, SAID[0].why.text, "")
