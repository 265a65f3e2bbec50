"""Until when it is known of a job that the room is free that is kept for its claim."""

import pytest

from fairway.domain.preemption.claim import hold_key
from fairway.queue.preemption.active_jobs import ActiveJobs
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import SLOTS, Life
from tests.spec.queue.preemption.test_claims import NOW, S, claiming, nominated

ROOM = {"cluster": "c1", "slots": SLOTS, "victims": 1, "until": NOW + 60 * S}


def again(life: Life) -> Life:
    """It claims once more, and gets room in the same cluster."""
    life.then(wire.Unclaimed, claim=1, why=Reason(Code.CLAIM_EXPIRED, "late"))
    return life.then(wire.Claimed, claim=2, causes=(), until=NOW).then(wire.Nominated, claim=2, **ROOM)


LATER = {
    "its turn was for room elsewhere": (nominated().then(wire.Dequeued, room="c2"), True),
    "it is reserved": (
        nominated()
        .then(wire.Dequeued, room="c1", kept=True)
        .then(wire.Placed, cluster="c1", slots=SLOTS)
        .then(wire.Reserved, cluster="c1", slots=SLOTS, expires_at=NOW),
        False,
    ),
    "its claim is over": (nominated().then(wire.Unclaimed, claim=1, why=Reason(Code.CLAIM_EXPIRED, "late")), False),
    "another claim followed": (again(nominated()), False),
}


@pytest.mark.parametrize(("later", "known"), LATER.values(), ids=list(LATER))
def test_it_is_known_until_the_claim_is_another_one(later: Life, known: bool) -> None:
    active = ActiveJobs()
    active.put(nominated().now)
    active.freed(nominated().now, "c1")
    active.put(later.now)
    assert active.ready == ({"mine": hold_key("mine", 1, 1)} if known else {})


@pytest.mark.parametrize(("life", "cluster"), [(claiming(), "c1"), (nominated(), "c2")], ids=["no answer", "elsewhere"])
def test_room_is_free_only_where_it_is_kept(life: Life, cluster: str) -> None:
    active = ActiveJobs()
    active.put(life.now)
    active.freed(life.now, cluster)
    assert active.ready == {}
