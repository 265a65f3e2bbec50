"""Jobs of one leaf that claim at the same time: who waits until it is known what the victims of another leave over."""

import pytest

from fairway.domain.quota.charge import Share
from fairway.queue.decide import decide
from fairway.queue.preemption import claiming
from fairway.wire import jobs as wire
from fairway.wire.preemption.claims import Cause
from tests.spec.builders.lives import GPU, Life, S
from tests.spec.builders.views import events, of, told
from tests.spec.builders.waiting import freed, held, quota, room, waiting
from tests.spec.queue.preemption.test_claims import MINE, NOW, THEIRS, ask, lent, nominated, tree, used
from tests.spec.queue.preemption.test_claims import claiming as claims_of


@pytest.mark.parametrize(
    ("first", "claims"),
    [
        pytest.param(waiting("a", gpus=8, why=quota("root")), ["a", "b"], id="victims give what one needs: both claim"),
        pytest.param(waiting("a", gpus=4, why=quota("root")), ["a"], id="a victim may give more than the first needs"),
        pytest.param(claims_of("a", gpus=4), [], id="the claim of the first has no answer yet"),
        pytest.param(nominated("a", gpus=4), ["b"], id="the first has its victims, and more is needed"),
    ],
)
def test_jobs_of_one_leaf_do_not_each_have_a_victim_whose_room_they_could_share(first: Life, claims: list[str]) -> None:
    second = waiting("b", 1, gpus=first.now.spec.workload.pod_sets[0].requests[GPU], why=quota("root"))
    assert [one.job for one in ask(first, second, *lent()) if one.verb == "claimed"] == claims


def test_who_is_within_a_min_claims_before_a_better_one_of_its_leaf_that_is_not() -> None:
    """The better one keeps back who claims after it until it is answered, and its claim may come to nothing."""
    best = held("best", priority=9)
    better = waiting("better", 1, gpus=4, priority=8, why=quota("root"))
    within = waiting("within", 2, gpus=2, priority=7, why=quota("root"))
    low = held("low", 3, priority=0)
    said = ask(best, better, within, low, *lent(1), tree=tree(mine=10))
    assert [(one.job, one.guarantor) for one in said if one.verb == "claimed"] == [("within", "root/a")]


def test_what_the_victims_of_one_give_back_is_not_asked_for_by_the_next() -> None:
    """Claims without an answer count as charged: the second would ask for the first one's quota beside its own."""
    said = ask(*(waiting(name, at, why=quota("root")) for at, name in enumerate("ab")), *lent())
    assert [one.short for one in said if one.verb == "relieve"] == [{f"root|{GPU}": 8}] * 2


@pytest.mark.parametrize(("ago", "claims"), [(1, []), (2, ["b"])])
def test_nobody_claims_until_it_was_heard_who_leaves_for_a_claim_that_was_answered(ago: int, claims: list[str]) -> None:
    """They are charged until then beside what the claim keeps, and would be made up for by others. It is not waited for
    longer: they may have gone by now."""
    first = claims_of("a")
    place = {"cluster": "c1", "slots": (wire.Slot("Worker", "n1", 1),), "victims": 1, "until": NOW + 60 * S}
    first.then(wire.Nominated, after=NOW - first.at - ago * S, claim=1, **place)
    second = waiting("b", 1, why=quota("root"))
    assert [one.job for one in ask(first, second, *lent()) if one.verb == "claimed"] == claims


def test_who_needs_more_than_the_first_ones_give_back_names_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would never claim: each time it is its first claim."""
    monkeypatch.setattr(claiming, "_FIRST_CANDIDATES", 1)
    said = ask(waiting("a", gpus=16, why=quota("root")), *lent())
    assert [len(one.candidates.attempts) for one in said if one.verb == "relieve"] == [2]


def test_what_a_message_gives_back_that_was_read_with_this_one_is_not_asked_for() -> None:
    """Rows of jobs are as they are after it, and quota is as it was before."""
    given_back = Share(("root", "root/b"), {GPU: 8})
    said = ask(waiting("a", gpus=16, why=quota("root")), *lent(2), usage=used(*lent(3)), owed={"m9": given_back})
    assert [one.short for one in said if one.verb == "relieve"] == [{f"root|{GPU}": 8}]


def test_a_claim_does_not_make_its_own_leaf_one_that_has_borrowed() -> None:
    """Leaf a uses its min of 8, and its urgent job claims by priority; leaf b is within its min, and nobody borrows."""
    low = held("low", leaf=MINE, priority=0)
    urgent = waiting("urgent", leaf=MINE, priority=9, why=room())
    other = waiting("other", 1, leaf=THEIRS, why=room())
    said = ask(low, urgent, other, *lent(1), tree=tree(mine=8, theirs=16))
    assert [one.job for one in said if one.verb == "claimed"] == ["urgent"]


def test_all_go_whose_room_is_free() -> None:
    """Who goes is charged: what was claimed for him counts no more."""
    names = ("m1", "m2")
    view = of(*map(nominated, names), *lent(1), tree=tree(), usage=used(*lent(1)))
    for name in names:
        view.active.freed(view.jobs[name], "c1")
    said = events(decide(view, told(freed(16, ready=names)), NOW))
    assert [one.job for one in said if one.verb == "dequeued"] == [*names]


def beside(other: Life, usage: int) -> list[str]:
    """Who goes of two with a claim, of which the first one's room is free, when quota was given back."""
    first = nominated("mine")
    view = of(first, other, tree=tree(), usage={f"{node}|{GPU}": usage for node in ("root", "root/a")})
    view.active.freed(first.now, "c1")
    over = wire.Unclaimed(job="b9", tenant="t", rev=1, claim=1, why=quota("root"))
    view.jobs["b9"] = other.now
    return [one.job for one in events(decide(view, told(over), NOW)) if one.verb == "dequeued"]


def short(amount: int) -> Life:
    return waiting("other", why=quota("root")).then(
        wire.Claimed, claim=1, causes=(Cause.RECLAIM,), level=2, until=NOW + 30 * S, short={f"root|{GPU}": amount}
    )


@pytest.mark.parametrize(
    ("other", "goes"),
    [
        pytest.param(short(8), ["mine"], id="others still have what the other one claimed"),
        pytest.param(short(4), [], id="half of what it asks for was free when it claimed"),
        pytest.param(nominated("other"), [], id="that was given back, or may have been"),
    ],
)
def test_whose_room_is_free_goes_with_what_its_own_victims_gave_back(other: Life, goes: list[str]) -> None:
    """8 of 24 are free. What others have yet to give back for a claim is not its yet, and keeps nobody back."""
    assert beside(other, usage=16) == goes
