"""For how many a job still waits whose room is kept: fewer as they leave."""

import pytest

from fairway.domain.events import claim_id
from fairway.queue.position import answer
from fairway.wire import jobs as wire
from fairway.wire.asks import QueueAsk
from fairway.wire.capacity import Slot
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import T0, Life, S
from tests.spec.builders.views import of
from tests.spec.builders.waiting import held, quota, waiting

NOW = T0 + 200 * S
UNTIL = "until 22:17:40Z at the latest"


def nominated() -> Life:
    life = waiting("mine", why=quota("root"))
    life.then(wire.Claimed, claim=1, causes=(Cause.RECLAIM,), until=NOW)
    place = {"cluster": "c1", "slots": (Slot("Worker", "n1", 1),)}
    return life.then(wire.Nominated, claim=1, victims=2, until=NOW + 60 * S, **place)


def evicted(name: str, claim: str) -> Life:
    why = Reason(Code.RECLAIMED, "for another one")
    life = held(name).then(wire.Evicted, cluster="c1", why=why, claim=claim, right=Cause.RECLAIM)
    life.then(wire.Recall, cluster="c1", why=why)
    return life.then(wire.Queue, attempt=2, queue="gold", leaf=("root", "root/a"), enqueued_at=T0, why=why)


STILL = {
    "two": (0, f"waits for 2 attempts to leave c1, {UNTIL}"),
    "one has left": (1, f"waits for 1 attempt to leave c1, {UNTIL}"),
    "all have left": (2, f"room in c1 is kept for it, {UNTIL}"),
}


@pytest.mark.parametrize(("left", "text"), STILL.values(), ids=list(STILL))
def test_for_how_many_it_still_waits(left: int, text: str) -> None:
    victims = [evicted(name, claim_id("mine", 1, 1)) for name in ("v", "w")]
    for life in victims[:left]:
        life.then(wire.Removed, cluster="c1", attempt=1)
    others = evicted("x", claim_id("other", 1, 1))
    found = answer(of(nominated(), *victims, others), QueueAsk(job="mine"), NOW)
    assert (found.lacks, found.text) == (Code.WAITING_FOR_EVICTIONS, text)
