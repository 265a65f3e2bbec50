"""What is told of claims and evictions: as many as there are among jobs that have not ended."""

from collections.abc import Callable
from typing import Any

import pytest

from fairway.domain.decision import Heard, Say, Step
from fairway.domain.fold import fold
from fairway.queue.metrics.gauges import of_claims
from fairway.queue.preemption.active_jobs import ActiveJobs
from fairway.runtime.metrics.accumulators import OF_CLAIMS
from fairway.runtime.metrics.job_tally import JobTally
from fairway.runtime.metrics.label_values import SettingsNames
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.claims import AT, claims, found, reclaimed, waiting
from tests.spec.builders.lives import Life, back, dequeued, evicting, failing, nominated, place, running

LATE = Reason(Code.CLAIM_EXPIRED, "room in c1 that is kept for it did not come in time")
TAKEN = Reason(Code.CLAIM_OVERTAKEN, "c1: others took room of n1, which was kept for it")
GIVEN_UP = Reason(Code.CLAIM_WITHDRAWN, "the job is cancelled")
HIGHER = Reason(Code.PREEMPTED, "its room is for a job with priority 9 (claim-1); this one has 1")


def claiming() -> Life:
    return nominated(back(dequeued(), Code.WAITING_FOR_ROOM, "no cluster has room"))


def runs_again(life: Life) -> Life:
    place(life.then(wire.Removed, cluster="c1", attempt=life.now.attempt - 1).then(wire.Dequeued), "c1")
    life.then(wire.Reserved, cluster="c1", slots=life.now.slots, expires_at=life.at + 60_000)
    return life.then(wire.Dispatched, cluster="c1").then(wire.Running, cluster="c1")


@pytest.mark.parametrize(
    ("life", "claims", "most"),
    [
        pytest.param(claiming(), 1, 0, id="a claim is open"),
        pytest.param(claiming().then(wire.Unclaimed, claim=1, why=HIGHER), 0, 0, id="it is over"),
        pytest.param(evicting(running()), 0, 1, id="evicted, and it waits"),
        pytest.param(runs_again(evicting(running())), 0, 1, id="evicted, and it runs again"),
        pytest.param(evicting(runs_again(evicting(running())), HIGHER), 0, 2, id="by either right it counts"),
        pytest.param(failing(running()), 0, 0, id="an attempt that failed made no room"),
        pytest.param(evicting(running()).then(wire.Cancelled), 0, 0, id="what has ended does not count"),
    ],
)
def test_of_one_job(life: Life, claims: int, most: int) -> None:
    active = ActiveJobs()
    active.put(running().now)
    active.put(evicting(running()).now)  # the same one at another time does not count twice
    active.put(life.now)
    assert {name: value for name, _, value in of_claims(active)} == {
        "fairway_claims_open": claims,
        "fairway_evictions_most": most,
    }


def counted(life: Life, *apart: wire.JobMessage) -> JobTally:
    """Of every message as if each were committed now by itself, and of those `apart` in one step."""
    tally = JobTally(SettingsNames())
    so_far = Life(life.name)
    for _, message in life.said:
        tally.committed(Step(events=(Say("m", "s", message),)), so_far.job, Heard("m", message))
        if message.rev:
            so_far.job = fold(so_far.job, message)
    if apart:
        tally.committed(Step(events=tuple(Say("m", "s", one) for one in apart)), so_far.job, Heard("m", apart[0]))
    return tally


def numbers(tally: JobTally, name: str) -> dict[str, Any]:
    """By the reason; 0 is left out."""
    return {labels[0]: value for told, labels, value in tally.samples() if told == f"fairway_{name}" and value}


def used(life: Life) -> Life:
    return place(life.then(wire.Dequeued), "c1").then(wire.Reserved, cluster="c1", slots=(), expires_at=1)


def over(life: Life, why: Reason = LATE) -> Life:
    return life.then(wire.Unclaimed, claim=1, why=why)


def evictor(victims: int = 3) -> Life:
    """Three leave for its claim, two of them evicted for it."""
    return nominated(back(dequeued(), Code.WAITING_FOR_ROOM, "no cluster has room"), victims, evicted=2)


def chosen_anew() -> Life:
    """The room that was kept is taken, and other room is kept in its place, for which nobody leaves."""
    life = evictor()
    return life.then(wire.Nominated, claim=1, cluster="c1", slots=(), victims=0, until=life.at + 60_000)


@pytest.mark.parametrize(
    ("life", "want"),
    [
        pytest.param(claiming(), {}, id="it has not ended"),
        pytest.param(used(claiming()), {"Used": 1}, id="its job has a place"),
        pytest.param(over(claiming()), {"ClaimExpired": 1}, id="it came to nothing"),
        pytest.param(used(over(claiming())), {"ClaimExpired": 1}, id="its job has a place after its end"),
        pytest.param(running(), {}, id="a place without a claim"),
    ],
)
def test_a_claim_is_counted_by_how_it_ends(life: Life, want: dict[str, float]) -> None:
    assert numbers(counted(life), "claims_ended_total") == want


@pytest.mark.parametrize(
    ("life", "want"),
    [
        pytest.param(evictor(), {}, id="its claim is open"),
        pytest.param(used(evictor()), {}, id="its job has a place"),
        pytest.param(over(evictor()), {"ClaimExpired": 2}, id="who was leaving anyway does not count"),
        pytest.param(over(evictor(), TAKEN), {"ClaimOvertaken": 2}, id="by the reason"),
        pytest.param(over(chosen_anew()), {"ClaimExpired": 2}, id="other room was kept meanwhile"),
        pytest.param(used(over(evictor())), {"ClaimExpired": 2}, id="a place after its end"),
        pytest.param(over(claiming()), {}, id="nobody was evicted for it"),
    ],
)
def test_who_was_evicted_for_a_claim_that_is_not_used_is_counted_at_its_end(life: Life, want: dict[str, float]) -> None:
    assert numbers(counted(life), "evictions_wasted_total") == want


def test_a_claim_ends_once_in_a_step_that_ends_its_job_too() -> None:
    both = [message for _, message in over(evictor(), GIVEN_UP).then(wire.Cancelled).said[-2:]]
    tally = counted(evictor(), *both)
    assert numbers(tally, "evictions_wasted_total") == {"ClaimWithdrawn": 2}
    assert numbers(tally, "claims_ended_total") == {"ClaimWithdrawn": 1}


@pytest.mark.parametrize(
    ("end", "want"),
    [
        pytest.param(used, {}, id="used"),
        pytest.param(over, {"ClaimExpired": 1}, id="expired"),
        pytest.param(lambda life: life, {}, id="open"),
    ],
)
def test_what_is_counted_as_wasted_is_what_the_audit_finds(end: Callable[[Life], Life], want: dict[str, int]) -> None:
    first, second, _ = reclaimed()
    owner = end(claims(waiting("owner", "a", after=10_000), AT))
    assert found((first, second, owner)).evictions.wasted == want
    assert numbers(counted(owner), "evictions_wasted_total") == want


@pytest.mark.parametrize(
    ("life", "want"),
    [
        pytest.param(used(claiming()), [4.0], id="from the claim, not from the answer to it"),
        pytest.param(used(chosen_anew()), [5.0], id="other room was kept meanwhile"),
        pytest.param(claiming(), [], id="it is open"),
        pytest.param(over(claiming()), [], id="it came to nothing"),
        pytest.param(running(), [], id="a place without a claim"),
    ],
)
def test_how_long_a_claim_took_is_told_when_it_is_used(life: Life, want: list[float]) -> None:
    durations = counted(life).claims.durations.of(())
    assert (durations.count, durations.sum) == (len(want), sum(want))
    assert durations.counts[OF_CLAIMS.index(5)] == len(want)


def test_there_is_a_number_before_the_first_one() -> None:
    """Else Prometheus would not see that it has grown."""
    samples = JobTally(SettingsNames()).samples()
    reasons = {labels[0] for name, labels, _ in samples if name == "fairway_evictions_wasted_total"}
    assert reasons == {"ClaimExpired", "ClaimNotNeeded", "ClaimOvertaken", "ClaimWithdrawn"}
