"""What is told of claims and evictions: as many as there are among jobs that have not ended."""

import pytest

from fairway.domain.decision import Heard, Say, Step
from fairway.domain.fold import fold
from fairway.queue.metrics.gauges import of_claims
from fairway.queue.preemption.active_jobs import ActiveJobs
from fairway.runtime.metrics.job_tally import JobTally
from fairway.runtime.metrics.label_values import SettingsNames
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import Life, back, dequeued, evicting, failing, nominated, place, running

LATE = Reason(Code.CLAIM_EXPIRED, "room in c1 that is kept for it did not come in time")
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


def ended(life: Life) -> dict[str, float]:
    """By how they ended, as counted of every message as if it were committed now."""
    tally = JobTally(SettingsNames())
    so_far = Life(life.name)
    for _, message in life.said:
        tally.committed(Step(events=(Say("m", "s", message),)), so_far.job, Heard("m", message))
        if message.rev:
            so_far.job = fold(so_far.job, message)
    found = {labels[0]: value for name, labels, value in tally.samples() if name == "fairway_claims_ended_total"}
    return {end: count for end, count in found.items() if count}


def used() -> Life:
    return place(claiming().then(wire.Dequeued), "c1").then(wire.Reserved, cluster="c1", slots=(), expires_at=1)


@pytest.mark.parametrize(
    ("life", "want"),
    [
        pytest.param(claiming(), {}, id="it has not ended"),
        pytest.param(used(), {"Used": 1}, id="its job has a place"),
        pytest.param(claiming().then(wire.Unclaimed, claim=1, why=LATE), {"ClaimExpired": 1}, id="it came to nothing"),
        pytest.param(running(), {}, id="a place without a claim"),
    ],
)
def test_a_claim_is_counted_by_how_it_ends(life: Life, want: dict[str, float]) -> None:
    assert ended(life) == want
