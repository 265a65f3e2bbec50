"""A job that goes to what was kept for it, beside what is kept there for others."""

from fairway.domain.reservations import Hold
from fairway.reserver.decide import decide
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot
from fairway.wire.preemption.claims import Cause
from fairway.wire.reasons import Code
from tests.spec.builders.lives import GPU, S
from tests.spec.builders.views import events, node, of, told
from tests.spec.builders.waiting import quota, waiting
from tests.spec.reserver.preemption.test_evict import KEY, NOW, there

OTHER = "other/1-claim-1"
UNTIL = NOW + 60 * S
SLOTS = (Slot("Worker", "n1", 1), Slot("Worker", "n2", 1))
POD = {GPU: 3, "pods": 1}
FOUR = {GPU: 4, "pods": 1}


def placed(to: tuple[Slot, ...], second: bool) -> wire.JobMessage:
    """Its two pods of 3 GPUs, for which n1 and n2 are kept; of n1 others keep 4, of which a victim has one still. The
    `second` node takes pods, or does not any more."""
    life = waiting("mine", why=quota("root"), pods=2, gpus=3)
    life.then(wire.Claimed, claim=1, causes=(Cause.RECLAIM,), level=2, until=NOW + 30 * S)
    life.then(wire.Nominated, claim=1, cluster="c1", slots=SLOTS, victims=0, until=UNTIL)
    life.then(wire.Dequeued, kept=True).then(wire.Placed, cluster="c1", slots=to)
    first = node("n1", holds={KEY: POD, OTHER: FOUR, "w/1": {GPU: 1, "pods": 1}})
    view = of(life, clusters={"c1": there(first, node("n2", holds={KEY: POD}, schedulable=second))}, freed={})
    other = Hold((Slot("Worker", "n1", 1),), {"Worker": FOUR}, UNTIL, "t", ("w/1",))
    view.ledger = view.claims = {"c1": {KEY: Hold(SLOTS, {"Worker": POD}, UNTIL, "t", ()), OTHER: other}}
    (said, *_) = events(decide(view, told(life.said[-1][1]), NOW))
    found: wire.JobMessage = said
    return found


def test_it_goes_to_its_own_though_others_have_yet_to_leave_for_theirs() -> None:
    said = placed(SLOTS, second=True)
    assert isinstance(said, wire.Reserved) and said.slots == SLOTS


def test_placed_otherwise_it_takes_nothing_that_is_kept_for_others() -> None:
    said = placed((Slot("Worker", "n1", 2),), second=True)
    assert isinstance(said, wire.Reserved) and {slot.node for slot in said.slots} == {"n2"}


def test_nor_where_a_node_of_its_own_takes_no_pods_any_more() -> None:
    said = placed(SLOTS, second=False)
    assert isinstance(said, wire.Queue) and said.why is not None and said.why.code is Code.ROOM_TAKEN
