"""Which waiting job claims room that others have, when, and whom it may have for it."""

from typing import Any

import pytest

from fairway.domain.quota.tree import MAX_JOBS, QuotaNode
from fairway.lab.bench.evict.candidate_rows import in_rows
from fairway.queue.decide import decide
from fairway.queue.view import Patience
from fairway.queue.waiting.waiting_job import for_room
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause
from fairway.wire.preemption.evictions import Relieve
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, SLOTS, T0, Life, S
from tests.spec.builders.views import events, of, told, verbs
from tests.spec.builders.waiting import flying, freed, held, quota, room, waiting

NOW = T0 + 200 * S
MINE = ("root", "root/a")
THEIRS = ("root", "root/b")
TICK = told(Patience(at=NOW))


def tree(mine: int = 16, theirs: int = 8, **attributes: str) -> QuotaNode:
    """Under a root of 24 GPUs, of which leaf a is guaranteed `mine` and leaf b `theirs`."""
    leaves = [
        QuotaNode(name, f"root/{name}", {GPU: least}, attributes=attributes)
        for name, least in zip("ab", (mine, theirs), strict=True)
    ]
    return QuotaNode("root", "root", {GPU: 24}, {GPU: 24}, children=tuple(leaves))


def lent(count: int = 3, **more: Any) -> list[Life]:
    """Running jobs of leaf b, of 8 GPUs each; the first of them within its min."""
    return [running(f"b{number}", number, leaf=THEIRS, **more) for number in range(count)]


def running(name: str, at: int, **more: Any) -> Life:
    """Since so many seconds after others."""
    life = flying(name, at, **more).then(wire.Placed, cluster="c1", slots=SLOTS)
    return life.then(wire.Reserved, after=(at + 1) * S, cluster="c1", slots=SLOTS, expires_at=NOW)


def used(*lives: Life) -> dict[str, int]:
    usage: dict[str, int] = {}
    for life in lives:
        for node in life.now.leaf:
            usage[f"{node}|{GPU}"] = usage.get(f"{node}|{GPU}", 0) + 8
    return usage


def ask(*lives: Life, **view: Any) -> list[Any]:
    """What the queue says when it looks whose patience is over."""
    charged = [life for life in lives if life.now.charged]
    known = {"usage": used(*charged), "tree": tree(), **view}
    return events(decide(of(*lives, **known), TICK, NOW))


def relieve(*lives: Life, **view: Any) -> Relieve:
    (asked,) = [one for one in ask(*lives, **view) if isinstance(one, Relieve)]
    return asked


def test_who_is_within_its_min_claims_what_others_have_borrowed() -> None:
    said = ask(waiting("mine", why=quota("root")), *lent())
    assert [one.verb for one in said] == ["claimed", "relieve"]
    claimed, asked = said
    assert (claimed.causes, claimed.level, claimed.guarantor) == ((Cause.RECLAIM,), 2, "root/a")
    assert claimed.short == asked.short == {f"root|{GPU}": 8}
    assert [one.job for one in in_rows(asked)] == ["b2", "b1"], "the newest first, and nobody within his min"
    assert {one.charge[GPU] for one in in_rows(asked)} == {8}
    assert [(one.path, one.over, one.min) for one in asked.lenders] == [("root/b", {GPU: 16}, {GPU: 8})]
    assert asked.reclaimable == (GPU,)


def divided(most: int) -> QuotaNode:
    """Leaf a of a division that is guaranteed 8 more than a is; b has what `most` leaves of the whole."""
    a = QuotaNode("a", "root/d/a", {GPU: 8})
    division = QuotaNode("d", "root/d", {GPU: 16, MAX_JOBS: 9}, children=(a,))
    b = QuotaNode("b", "root/b", {GPU: most - 16})
    return QuotaNode("root", "root", {GPU: most}, {GPU: most}, children=(division, b))


def test_who_precedes_those_that_have_its_leafs_min_gets_back_what_nodes_above_are_owed() -> None:
    mine = ("root", "root/d", "root/d/a")
    low = running("low", 1, leaf=mine)
    asked = relieve(waiting("high", priority=5, leaf=mine, why=quota("root")), low, *lent(2), tree=divided(24))
    assert [(one.job, one.lender) for one in in_rows(asked)][-1] == ("b1", 0)
    assert asked.reclaimable == (GPU,), "what its leaf guarantees, not all that the division does"
    both = [running(f"low-{number}", number, leaf=mine) for number in range(2)]
    full = relieve(waiting("high", priority=5, leaf=mine, why=quota("root")), *both, *lent(1), tree=divided(24))
    assert {one.job for one in in_rows(full)} == {"low-0", "low-1"}, "nothing is owed beyond the min of the division"


CLAIMS_NOTHING = {
    "its leaf has no min": {"tree": tree(mine=0)},
    "nobody has more than his min": {"tree": tree(theirs=24)},
    "it was not patient yet": {"tree": tree(**{"fairway.io/reclaim-after": "24h"})},
}


@pytest.mark.parametrize("view", CLAIMS_NOTHING.values(), ids=list(CLAIMS_NOTHING))
def test_nobody_is_asked_to_go_when(view: dict[str, Any]) -> None:
    assert ask(waiting("mine", why=quota("root")), *lent(), **view) == []


WAITS_OTHERWISE = {
    "others may not be evicted for its class": {"evicts": False},
    "no cluster can ever hold it": {"why": room(Code.NO_CLUSTER_EVER)},
    "it is behind the head of its queue": {"why": Reason(Code.BEHIND_HEAD, "not its turn")},
}


@pytest.mark.parametrize("more", WAITS_OTHERWISE.values(), ids=list(WAITS_OTHERWISE))
def test_a_job_claims_nothing_when(more: dict[str, Any]) -> None:
    assert ask(waiting("mine", **{"why": quota("root"), **more}), *lent()) == []


def test_a_leaf_that_uses_its_min_asks_nothing_back() -> None:
    mine = [held(f"a{number}", number) for number in range(2)]
    assert ask(waiting("mine", why=quota("root")), *mine, *lent(1)) == []


def test_a_job_that_is_never_evicted_is_no_candidate() -> None:
    fixed = held("b2", 2, leaf=THEIRS, evictable=False)
    asked = relieve(waiting("mine", why=quota("root")), *lent(2), fixed)
    assert [one.job for one in in_rows(asked)] == ["b1"]


def test_priority_claims_what_lower_ones_of_its_leaf_have_after_its_patience() -> None:
    mine = waiting("mine", why=quota("root"), priority=10)
    low = [held(f"a{number}", number, priority=number) for number in range(3)]
    claimed, asked = ask(mine, *low, tree=tree(mine=0, theirs=0))
    assert claimed.causes == (Cause.PREEMPTION,)
    assert [(one.job, one.lender) for one in in_rows(asked)] == [("a0", -1), ("a1", -1), ("a2", -1)]


SPARED = {
    "equal priority": {"priority": 10},
    "a higher one": {"priority": 11},
    "it is not to be evicted": {"evictable": False},
}


@pytest.mark.parametrize("more", SPARED.values(), ids=list(SPARED))
def test_priority_evicts_nobody_of(more: dict[str, Any]) -> None:
    mine = waiting("mine", why=quota("root"), priority=10)
    others = [held(f"a{number}", number, **more) for number in range(3)]
    assert ask(mine, *others, tree=tree(mine=0, theirs=0)) == []


def test_who_has_run_for_less_than_the_least_time_is_spared_by_priority() -> None:
    terms = {"fairway.io/min-runtime": "190s"}
    mine = waiting("mine", why=quota("root"), priority=10)
    others = [held("old", 0, priority=1), held("new", 0, priority=0)]
    late = held("late", 0, priority=0).then(wire.Dispatched, after=0, cluster="c1")
    asked = relieve(mine, *others, late, tree=tree(mine=0, theirs=0, **terms))
    assert {one.job for one in in_rows(asked)} == {"old", "new", "late"}
    assert ask(mine, *others, tree=tree(mine=0, theirs=0, **{"fairway.io/min-runtime": "24h"})) == []


def claiming(name: str = "mine", **more: Any) -> Life:
    life = waiting(name, **{"why": quota("root"), **more})
    place = {"causes": (Cause.RECLAIM,), "level": 2, "guarantor": "root/a", "until": NOW + 30 * S}
    return life.then(wire.Claimed, claim=1, **place)


def nominated(name: str = "mine", **more: Any) -> Life:
    life = claiming(name, **more)
    slots = (wire.Slot("Worker", "n1", 1),)
    return life.then(wire.Nominated, claim=1, cluster="c1", slots=slots, victims=1, until=NOW + 60 * S)


def test_one_claim_at_a_time() -> None:
    assert ask(claiming(), *lent()) == []


def test_a_claim_that_came_to_nothing_is_followed_by_another_one_later() -> None:
    over = claiming().then(wire.Unclaimed, claim=1, why=Reason(Code.NO_VICTIMS, "none"), again=NOW + 1)
    assert ask(over, *lent()) == []
    over = claiming().then(wire.Unclaimed, claim=1, why=Reason(Code.NO_VICTIMS, "none"), again=NOW)
    assert [one.claim for one in ask(over, *lent())] == [2, 2]


def test_quota_that_is_claimed_is_used_for_everybody_else() -> None:
    """16 of 24 are in use and 8 are claimed: who comes now does not get them."""
    late = waiting("late", 100, leaf=THEIRS)
    view = of(claiming(), late, *lent(2), tree=tree(), usage=used(*lent(2)))
    said = decide(view, told(late.said[-1][1]), NOW)
    assert verbs(said) == ["blocked"]


LENDS = QuotaNode("a", "root/a", {GPU: 16}, attributes={"alibabacloud.com/lendlimit": f'{{"{GPU}": 6}}'})
BORROWS = QuotaNode("b", "root/b", {GPU: 8})
LENDING = QuotaNode("root", "root", {GPU: 24}, {GPU: 24}, children=(LENDS, BORROWS))


def test_what_a_leaf_claims_of_what_it_does_not_lend_counts_once() -> None:
    """It does not lend 10 of its 16, and claims 8 of these: 14 are left to others."""
    late = waiting("late", 100, leaf=THEIRS)
    said = decide(of(nominated(), late, tree=LENDING, usage={}), told(late.said[-1][1]), NOW)
    assert verbs(said) == ["dequeued"]


def test_a_claim_lets_its_own_job_go() -> None:
    view = of(claiming(), *lent(2), tree=tree(), usage=used(*lent(2)))
    said = decide(view, told(freed(8)), NOW)
    assert verbs(said) == []  # quota is what it waited for, and nobody gave any back
    said = decide(view, told(wire.Queue(job="b9", tenant="t", queue="gold", rev=1)), NOW)
    assert verbs(said) == []


def test_a_nominated_job_goes_when_its_room_is_free_and_not_before() -> None:
    mine = nominated()
    view = of(mine, *lent(2), tree=tree(), usage=used(*lent(2)))
    assert verbs(decide(view, told(freed(8, "c2")), NOW)) == ["blocked"]
    view.active.freed(mine.now, "c1")
    (said,) = events(decide(view, told(freed(8, ready=("mine",))), NOW))
    assert (said.verb, said.room, said.kept) == ("dequeued", "c1", True)


def test_it_says_for_whom_it_waits() -> None:
    mine = nominated()
    view = of(mine, *lent(2), tree=tree(), usage=used(*lent(2)))
    (said,) = events(decide(view, told(mine.said[-1][1]), NOW))
    assert said.why.code is Code.WAITING_FOR_EVICTIONS
    assert said.why.text == "waits for 1 attempt to leave c1, until 22:17:40Z at the latest"


def test_a_nominated_job_goes_where_room_is_before_its_own_is_free() -> None:
    """Others may have come to its nodes. What the scheduler has had none for is not tried again."""
    mine = nominated()
    news = freed(8, "c2")
    view = of(mine, *lent(2), tree=tree(), usage=used(*lent(2)), room={"c2": news})
    (said,) = events(decide(view, told(news), NOW))
    assert (said.verb, said.room, said.kept) == ("dequeued", "c2", False)
    view.queued.asked[for_room(view.queued.entries["mine"]).key[1]] = view.freed
    assert verbs(decide(view, told(news), NOW)) == ["blocked"]
