"""The scheduler's answer to a claim: whom to evict, and where; and the place of a job whose room is kept."""

from typing import Any

import pytest

from fairway.global_scheduler.decide import decide
from fairway.lab.bench.evict.candidate_rows import CandidateRow, in_columns
from fairway.placement.fleet import Fleet
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot
from fairway.wire.preemption.claims import Cause
from fairway.wire.preemption.evictions import Borrowed, Lender, Relieve
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, T0, Life, S
from tests.spec.builders.views import cluster, events, node, of, told, verbs
from tests.spec.builders.waiting import quota, waiting

NOW = T0 + 200 * S
WHOLE = {GPU: 8, "pods": 1}
KEY = "mine/1-claim-1"


def claiming(**more: Any) -> Life:
    life = waiting("mine", why=quota("root"), **more)
    return life.then(wire.Claimed, claim=1, causes=(Cause.RECLAIM,), level=2, until=NOW + 30 * S)


def question(*jobs: str, over: int = 16, claim: int = 1) -> Relieve:
    """May these go, one on each node, whose leaf has so many GPUs above its min?"""
    one = {"cluster": "c1", "lender": 0, "charge": {GPU: 8}}
    candidates = in_columns([CandidateRow(job, lost=number, **one) for number, job in enumerate(jobs)])
    head = {"job": "mine", "tenant": "team-a", "attempt": 1, "claim": claim, "until": NOW + 30 * S, "level": 2}
    lenders = (Lender("root/b", -1, {GPU: over}, {GPU: 24}),)
    paths = (("root", "root/b"),)
    return Relieve(**head, candidates=candidates, lenders=lenders, paths=paths, reclaimable=(GPU,))


def ask(asked: Relieve, life: Life, *holders: str, **view: Any) -> Any:
    nodes = [node(f"n{number}", holds={f"{one}/1": WHOLE}) for number, one in enumerate(holders)]
    clusters = Fleet({"c1": cluster("c1", nodes, NOW)} if nodes else {})
    return decide(of(life, clusters=clusters, freed={}, **view), told(asked), NOW)


def test_it_names_whom_to_evict_and_where() -> None:
    (said,) = events(ask(question("v", "w"), claiming(), "v", "w"))
    assert (said.verb, said.cluster, said.slots, said.looked) == ("evict", "c1", (Slot("Worker", "n0", 1),), 2)
    assert [(one.job, one.cause) for one in said.victims] == [("v", Cause.RECLAIM)]
    assert said.victims[0].borrowed == Borrowed("root/b", GPU, 40, 24)


def test_nobody_is_named_twice_within_ten_seconds_and_his_leaf_has_so_much_less_to_give() -> None:
    (said,) = events(ask(question("v", "w"), claiming(), "v", "w", going={"v/1": NOW}))
    assert [one.job for one in said.victims] == ["w"]
    (said,) = events(ask(question("v", "w", over=8), claiming(), "v", "w", going={"v/1": NOW}))
    assert (said.verb, said.why.code) == ("unclaimed", Code.NO_VICTIMS)


def test_where_no_set_of_them_would_do_the_claim_ends_with_the_numbers() -> None:
    (said,) = events(ask(question("v"), claiming(pods=2, gang=2), "v", "other"))
    assert (said.verb, said.why.code, said.again) == ("unclaimed", Code.NO_VICTIMS, NOW + 2 * S)
    assert "c1" in said.why.text


def test_while_no_cluster_is_known_the_claim_ends_too() -> None:
    (said,) = events(ask(question("v"), claiming()))
    assert (said.verb, said.why.code) == ("unclaimed", Code.CAPACITY_UNKNOWN)


OVER = {
    "the claim is over": claiming().then(wire.Unclaimed, claim=1, why=Reason(Code.NO_VICTIMS, "none")),
    "another claim followed": claiming().then(wire.Claimed, claim=2, causes=(), until=NOW),
    "its room is kept": claiming().then(
        wire.Nominated, claim=1, cluster="c1", slots=(Slot("Worker", "n0", 1),), victims=0, until=NOW
    ),
    "the job is held": claiming().then(wire.Held, held=True),
    "the job has gone": claiming().then(wire.Dequeued),
}


@pytest.mark.parametrize("life", OVER.values(), ids=list(OVER))
def test_nobody_is_named_when(life: Life) -> None:
    assert ask(question("v"), life, "v").steps == ()


def placing(free: bool = False, **holds: Any) -> Any:
    """A job whose room is kept on n0 has its turn; what else is held there. `free`: so said the reserver."""
    slots = (Slot("Worker", "n0", 1),)
    life = claiming().then(wire.Nominated, claim=1, cluster="c1", slots=slots, victims=1, until=NOW + 60 * S)
    life.then(wire.Dequeued, kept=free)
    rows = [node("n0", holds={KEY: WHOLE, **holds}), node("n1", holds={"x/1": WHOLE})]
    view = of(life, clusters=Fleet({"c1": cluster("c1", rows, NOW)}), freed={})
    return decide(view, told(life.said[-1][1]), NOW)


def test_a_job_goes_to_the_room_that_is_kept_for_it() -> None:
    (said,) = events(placing())
    assert (said.verb, said.cluster, said.slots) == ("placed", "c1", (Slot("Worker", "n0", 1),))


def test_where_that_is_not_free_after_all_it_waits_on_for_it() -> None:
    assert verbs(placing(**{"stranger/1": WHOLE})) == ["queue"]


def test_where_no_cluster_can_ever_hold_it_any_more_its_claim_ends() -> None:
    """Else others would be kept from room and quota for one that counts no more."""
    claim = claiming().then(wire.Nominated, claim=1, cluster="c1", slots=(), victims=1, until=NOW + 60 * S)
    claim.then(wire.Dequeued)
    view = of(claim, clusters=Fleet({"c1": cluster("c1", [node("n0", 4)], NOW)}), freed={})
    over, back = events(decide(view, told(claim.said[-1][1]), NOW))
    assert (over.verb, over.claim, over.why.code) == ("unclaimed", 1, Code.CLAIM_WITHDRAWN)
    assert (back.verb, back.why.code) == ("queue", Code.NO_CLUSTER_EVER)


def test_where_the_reserver_has_said_that_it_is_free_it_is_asked_again_and_nobody_else() -> None:
    """What is kept there for other claims may be more than the node has: those who leave for them stand for it."""
    assert verbs(placing(free=True, **{"other/1-claim-1": WHOLE})) == ["placed"]
