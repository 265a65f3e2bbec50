"""What is told of claims and evictions: to the job that gets room back, and to the one that had to go."""

from typing import Any

import pytest

from fairway.explain.story import compose, why
from fairway.wire import jobs as wire
from fairway.wire.asks import QueuePlace
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import (
    FULL,
    GPU,
    RECLAIMED,
    SLOTS,
    T0,
    Life,
    S,
    back,
    dequeued,
    evicting,
    queued,
    running,
)
from tests.spec.explain.waits import Case, everything, quota_full

ANSWERED = T0 + 40 * S  # 22:14:00Z
ENDS = T0 + 190 * S  # 22:16:30Z
NONE_MAY = Reason(
    Code.NO_VICTIMS,
    "needs 4 pods of 8 nvidia.com/gpu; 2 of 3 clusters have too little room, nearest is c2: if all of 7 "
    "candidates went that may, 2 of its 4 pods would have no room",
)
EXPIRED = Reason(
    Code.CLAIM_EXPIRED, "room in c1 that is kept for it did not come in time", remedy="see what runs there"
)


def no_room(**more: Any) -> Life:
    return back(dequeued(**more), Code.WAITING_FOR_ROOM, "none of 3 clusters can take it now", FULL)


def claimed(life: Life, *causes: Cause) -> Life:
    return life.then(
        wire.Claimed,
        claim=1,
        causes=causes or (Cause.RECLAIM,),
        level=2,
        guarantor="root/a",
        until=ANSWERED,
        short={f"root|{GPU}": 16},
    )


def nominated(life: Life, victims: int = 3) -> Life:
    return claimed(life).then(wire.Nominated, claim=1, cluster="c1", slots=SLOTS, victims=victims, until=ENDS)


def unclaimed(life: Life, why: Reason, again: int) -> Life:
    return claimed(life).then(wire.Unclaimed, claim=1, why=why, again=again)


def evicted_for_good() -> Life:
    """For a job of another leaf, which it does not get to know."""
    both = {"leaf": "root/b", "level": 2, "priority": 100, "own_priority": 10}
    ends = {"cluster": "c1", "why": RECLAIMED, "final": True}
    return running().then(wire.Evicted, claim="claim-7f3a", right=Cause.RECLAIM, **ends, **both)


KEPT = "Waits for 3 attempts to leave c1, until 22:16:30Z at the latest; 2 nodes are kept for it there."
KEPT_ENDS = "Its claim on c1 ends at 22:16:30Z (in 2 min 54 s)."
WAITS = {
    "it claims: by what right, and when the answer is there at the latest": Case(
        claimed(quota_full()),
        "WaitingForQuota",
        (
            "24 of 48 used; it claims room that others have (claim 1), by the guaranteed share of quota root/a.",
            "Others are evicted for it.",
            "Whom to evict for it is known by 22:14:00Z (in 26 s).",
        ),
        event="dequeued",
        timer_at=ANSWERED,
    ),
    "it claims by both rights: its priority is told too": Case(
        claimed(quota_full(), Cause.RECLAIM, Cause.PREEMPTION),
        "WaitingForQuota",
        ("by the guaranteed share of quota root/a and by its priority 0",),
        event="dequeued",
        timer_at=ANSWERED,
    ),
    "room is kept and others leave: how many, where, until when": Case(
        nominated(no_room()),
        "WaitingForEvictions",
        (KEPT, "Those who leave c1 for it have left.", KEPT_ENDS),
        event="dequeued",
        timer_at=ENDS,
    ),
    "the queue says so too: it is told once": Case(
        nominated(no_room()),
        "WaitingForEvictions",
        (KEPT, KEPT_ENDS),
        QueuePlace(
            "gold", lacks="WaitingForEvictions", text="waits for 3 attempts to leave c1, until 22:16:30Z at the latest"
        ),
        "dequeued",
        ENDS,
    ),
    "nobody has to leave: it waits for its turn in the kept room": Case(
        nominated(no_room(), victims=0),
        "WaitingForEvictions",
        ("Room in c1 is kept for it, until 22:16:30Z at the latest",),
        event="dequeued",
        timer_at=ENDS,
    ),
    "nobody was evicted for it: why, in numbers, and when others are asked again": Case(
        unclaimed(no_room(), NONE_MAY, T0 + 30 * S),
        "WaitingForRoom",
        (
            "can take it now; nobody was evicted for it (claim 1): needs 4 pods of 8 nvidia.com/gpu; 2 of 3 clusters",
            "Others are asked for room again at 22:13:50Z (in 14 s).",
        ),
        event="dequeued",
        timer_at=T0 + 30 * S,
    ),
    "that time is over: no timer any more": Case(
        unclaimed(no_room(), NONE_MAY, T0 + 8 * S),
        "WaitingForRoom",
        ("nobody was evicted for it (claim 1)",),
        event="dequeued",
    ),
    "others did leave, and it came to nothing: that is said, and what to do": Case(
        unclaimed(no_room(), EXPIRED, 0),
        "WaitingForRoom",
        ("claim 1 on the room of others came to nothing: room in c1", "See what runs there."),
        event="dequeued",
    ),
    "its PriorityClass never preempts: so nobody is evicted": Case(
        no_room(evicts=False), "WaitingForRoom", ("preemptionPolicy Never",), event="dequeued"
    ),
    "it had to go: for whose share, that it keeps its place, and that no attempt was spent": Case(
        evicting(running()),
        "WaitingForRemoval",
        (
            "Attempt 1 in c1 ended (its room is for a job of quota root/b that is within its guaranteed share",
            "Attempt 1 in c1 ended after 1 min 2 s: Its room is for a job of quota root/b",
            "it keeps its place, and no attempt was spent.",
        ),
        event="removed",
    ),
}


@pytest.mark.parametrize("case", WAITS.values(), ids=list(WAITS))
def test_why_says(case: Case) -> None:
    answer = why(case.given.now, case.place, case.given.now.at + 10 * S)
    told = everything(answer)
    assert [words for words in case.says if words not in told] == [], told
    assert (answer.reason, answer.next_event, answer.timer_at) == (case.reason, case.event, case.timer_at)


@pytest.mark.parametrize("code", [Code.CLAIM_NOT_NEEDED, Code.CLAIM_WITHDRAWN])
def test_a_claim_that_ended_because_the_job_goes_or_is_not_to_go_is_no_reason_to_wait(code: Code) -> None:
    life = unclaimed(quota_full(), Reason(code, "held by its owner"), 0)
    assert "claim" not in everything(why(life.now, None, life.at + S))


def test_of_a_job_that_waits_for_its_turn_alone_its_claim_tells_nothing() -> None:
    life = unclaimed(no_room(), NONE_MAY, T0 + 90 * S)
    place = QueuePlace("gold", "Block", 2, ("a",), "BehindHead", "it is not its turn")
    assert "evicted" not in everything(why(life.now, place, life.at + S))


@pytest.mark.parametrize(
    ("life", "says"),
    [
        pytest.param(
            claimed(queued()),
            (
                "Claims room that others have (claim 1), by the guaranteed share of quota root/a; "
                "whom to evict is to be known by 22:14:00Z.",
                "quota root is short of 16 nvidia.com/gpu for it",
            ),
            id="a claim: by what right, and what of quota is short",
        ),
        pytest.param(
            nominated(queued()),
            (
                "Room on 2 nodes of c1 is kept for it (claim 1): 3 attempts must leave first; "
                "kept until 22:16:30Z at the latest.",
                "nodes: n1: 2 Worker; n2: 2 Worker",
            ),
            id="room that is kept: where, for how long, and who must leave by number alone",
        ),
        pytest.param(
            unclaimed(queued(), EXPIRED, T0 + 30 * S),
            (
                "Claim 1 is over: room in c1 that is kept for it did not come in time [ClaimExpired]. Another claim "
                "follows no sooner than 22:13:50Z.",
                "See what runs there.",
            ),
            id="the end of a claim: why, and when another may follow",
        ),
        pytest.param(
            evicted_for_good(),
            (
                f"Evicted from c1: {RECLAIMED.text} [Reclaimed]. The job ends here.",
                "claim-7f3a of quota root/b: guaranteed, priority 100; this job: not guaranteed, priority 10",
            ),
            id="an eviction: for whose quota, and the numbers of both sides",
        ),
    ],
)
def test_the_story_says(life: Life, says: tuple[str, ...]) -> None:
    line = compose(life.now, life.said).lines[-1]
    assert (line.sentence, *line.details) == says


def test_the_story_of_a_job_that_goes_on_says_that_nothing_of_it_was_spent() -> None:
    life = evicting(running())
    (line,) = [one for one in compose(life.now, life.said).lines if one.what == "evicted"]
    assert line.sentence.endswith("It keeps its place, and no attempt was spent.")
