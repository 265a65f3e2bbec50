"""Jobs of one leaf that claim at the same time: who waits until it is known what the victims of another leave over."""

import pytest

from fairway.queue.decide import decide
from fairway.queue.preemption import claiming
from fairway.wire import jobs as wire
from tests.spec.builders.lives import GPU, Life, S
from tests.spec.builders.views import events, of, told
from tests.spec.builders.waiting import freed, quota, waiting
from tests.spec.queue.preemption.test_claims import NOW, ask, lent, nominated, tree, used
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


def test_all_go_whose_room_is_free() -> None:
    """Who goes is charged: what was claimed for him counts no more."""
    names = ("m1", "m2")
    view = of(*map(nominated, names), *lent(1), tree=tree(), usage=used(*lent(1)))
    view.active.ready |= dict.fromkeys(names)
    said = events(decide(view, told(freed(16, ready=names)), NOW))
    assert [one.job for one in said if one.verb == "dequeued"] == [*names]
