"""How a claim ends without leading to anything: in time, with its job, or with the quota for which it was."""

import pytest

from fairway.domain.quota.tree import QuotaNode
from fairway.queue.decide import decide
from fairway.queue.view import Patience
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, T0, Life, S
from tests.spec.builders.views import events, of, told, verbs
from tests.spec.builders.waiting import room
from tests.spec.queue.preemption.test_claims import LENDING, MINE, NOW, TICK, claiming, lent, nominated, tree, used


@pytest.mark.parametrize("life", [claiming(), nominated()], ids=["without an answer", "whose room did not come"])
def test_a_claim_ends_in_time(life: Life) -> None:
    late = NOW + 3_600 * S
    view = of(life, *lent(), tree=tree(), usage=used(*lent()))
    over, *_ = events(decide(view, told(Patience()), late))
    assert (over.verb, over.why.code, over.again) == ("unclaimed", Code.CLAIM_EXPIRED, late + 2 * S)


def test_a_claim_whose_room_is_free_in_time_and_whose_quota_is_not_says_so() -> None:
    smaller = QuotaNode("root", "root", {GPU: 8}, {GPU: 8}, children=(QuotaNode("a", "root/a", {GPU: 8}, {GPU: 8}),))
    life = nominated()
    view = of(life, tree=smaller, usage={f"root|{GPU}": 4})
    view.active.freed(life.now, "c1")
    over, *_ = events(decide(view, told(Patience()), NOW + 3_600 * S))
    assert (over.verb, over.why.code) == ("unclaimed", Code.CLAIM_EXPIRED)
    assert over.why.text == (
        "room in c1 that is kept for it is free, and its quota is not: quota root has 4 of 8 nvidia.com/gpu left and "
        "the job needs 8"
    )
    assert over.why.remedy == "it goes when jobs of root end, or when its max is raised"


ENDS = {
    "it is cancelled": (wire.Cancel(job="mine", tenant="team-a"), ["unclaimed", "cancelled"]),
    "it is held": (wire.HoldJob(job="mine", tenant="team-a", held=True), ["unclaimed", "held", "blocked"]),
}


@pytest.mark.parametrize(("message", "said"), ENDS.values(), ids=list(ENDS))
def test_a_claim_ends_when(message: wire.JobMessage, said: list[str]) -> None:
    view = of(nominated(), *lent(), tree=tree(), usage=used(*lent()))
    assert verbs(decide(view, told(message), NOW)) == said


UNMET = {
    "it is held": claiming().then(wire.Held, held=True),
    "no cluster can ever hold it any more": nominated()
    .then(wire.Dequeued)
    .then(wire.Queue, queue="gold", leaf=MINE, enqueued_at=T0, why=room(Code.NO_CLUSTER_EVER)),
}


@pytest.mark.parametrize("life", UNMET.values(), ids=list(UNMET))
def test_a_claim_ends_in_time_also_when(life: Life) -> None:
    over, *_ = events(decide(of(life, tree=tree()), told(Patience()), NOW + 3_600 * S))
    assert (over.verb, over.why.code) == ("unclaimed", Code.CLAIM_EXPIRED)


def test_the_claim_of_a_job_that_comes_back_to_be_cancelled_ends_first() -> None:
    life = nominated().then(wire.Dequeued).then(wire.Recall, cluster="", why=Reason(Code.CANCELLED, "by its owner"))
    life.then(wire.Queue, queue="gold", leaf=MINE, enqueued_at=T0, why=Reason(Code.CANCELLED, "cancelled"))
    assert verbs(decide(of(life, tree=tree()), told(life.said[-1][1]), NOW)) == ["unclaimed", "cancelled"]


SMALLER = {
    "its leaf may have less than it asks for": (
        QuotaNode("root", "root", {GPU: 24}, {GPU: 24}, children=(QuotaNode("a", "root/a", {GPU: 4}, {GPU: 4}),)),
        claiming(),
        "the quota tree was changed: the job asks for 8 nvidia.com/gpu, but the max of quota root/a is 4",
    ),
    "others lend less than it asks for": (
        LENDING,
        nominated(leaf=("root", "root/b"), gpus=16),
        "the quota tree was changed: the job asks for 16 nvidia.com/gpu, but of the max of quota root, which is 24, 10 "
        "are kept by those below that do not lend it",
    ),
}


@pytest.mark.parametrize(("now", "life", "text"), SMALLER.values(), ids=list(SMALLER))
def test_a_claim_ends_at_once_when(now: QuotaNode, life: Life, text: str) -> None:
    """What is kept for it would be of use to nobody until then."""
    (over,) = events(decide(of(life, tree=now), TICK, NOW))
    assert (over.verb, over.claim, over.why.code, over.again) == ("unclaimed", 1, Code.CLAIM_WITHDRAWN, 0)
    assert over.why.text == text
