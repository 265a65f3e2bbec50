"""Kept room that others took while the victims left: it is chosen anew in the cluster, or the claim ends at once."""

from typing import Any

import pytest

from fairway.domain.reservations import Hold
from fairway.reserver.decide import decide
from fairway.reserver.view import Expire
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot
from fairway.wire.reasons import Code
from tests.spec.builders.lives import GPU, S
from tests.spec.builders.views import events, node, of, puts, told
from tests.spec.queue.preemption.test_claims import claiming
from tests.spec.reserver.preemption.test_evict import HALF, KEY, NOW, WHOLE, mine, there

UNTIL = NOW + 60 * S
KEPT = node("n1", used=HALF, holds={KEY: WHOLE})


def expire(*nodes: Any, leaving: tuple[str, ...] | None = ("v/1",), **info: Any) -> Any:
    slots = (Slot("Worker", "n1", 1),)
    life = mine().then(wire.Nominated, after=195 * S, claim=1, cluster="c1", slots=slots, victims=1, until=UNTIL)
    view = of(life, clusters={"c1": there(*nodes, **info)}, freed={})
    view.ledger = view.claims = {"c1": {KEY: Hold(slots, {"Worker": WHOLE}, UNTIL, "team-a", leaving)}}
    return decide(view, told(Expire(at=NOW)), NOW)


def test_other_nodes_of_the_cluster_are_kept_instead() -> None:
    made = expire(KEPT, node("n2"))
    nominated, freed = events(made)
    assert (nominated.verb, nominated.claim, nominated.victims, nominated.until) == ("nominated", 1, 0, UNTIL)
    slots = (Slot("Worker", "n2", 1),)
    assert (nominated.cluster, nominated.slots, freed.ready) == ("c1", slots, ("mine",))
    assert puts(made, "ledger/c1") == {KEY: Hold(slots, {"Worker": WHOLE}, UNTIL, "team-a", leaving=())}
    assert {name: one.holds for name, one in puts(made, "nodes/c1").items()} == {"n1": {}, "n2": {KEY: WHOLE}}


def test_where_there_are_none_the_claim_ends_and_says_whose_doing_it_is() -> None:
    (said,) = events(expire(KEPT, node("n2", used={GPU: 1})))
    assert (said.verb, said.claim, said.why.code, said.again) == ("unclaimed", 1, Code.CLAIM_OVERTAKEN, NOW + 2 * S)
    assert said.why.text == "c1: others took room of n1, which was kept for it, and no other node there has it"
    assert "n1" in said.why.remedy


CORDONED = {
    "others have the room": (KEPT, node("n2")),
    "the room is free": (node("n1", holds={KEY: WHOLE}),),
    "a victim is still there": (node("n1", holds={KEY: WHOLE, "v/1": HALF}),),
}


@pytest.mark.parametrize("nodes", CORDONED.values(), ids=list(CORDONED))
def test_nothing_is_kept_in_a_cluster_that_is_cordoned(nodes: tuple[Any, ...]) -> None:
    (said,) = events(expire(*nodes, cordoned=True))
    assert (said.verb, said.claim, said.why.code) == ("unclaimed", 1, Code.CLAIM_OVERTAKEN)
    assert said.why.text == "c1 was cordoned while room was kept there"


WAITS: dict[str, dict[str, Any]] = {
    "a victim is seen there": {"nodes": (node("n1", holds={KEY: WHOLE, "v/1": HALF}), node("n2"))},
    "a victim is seen on another node": {"nodes": (KEPT, node("n2", holds={"v/1": HALF}), node("n3"))},
    "the room is free": {"nodes": (node("n1", holds={KEY: WHOLE}), node("n2"))},
    "it is not known who leaves": {"nodes": (KEPT, node("n2")), "leaving": None},
}


def test_it_is_waited_while_somebody_leaves_its_node_for_another_claim() -> None:
    """What is kept for both is more than the node has until then."""
    other = "other/1-claim-1"
    slots = (Slot("Worker", "n1", 1),)
    life = mine().then(wire.Nominated, after=195 * S, claim=1, cluster="c1", slots=slots, victims=1, until=UNTIL)
    full = node("n1", 16, holds={KEY: WHOLE, other: WHOLE, "w/1": WHOLE})
    view = of(life, clusters={"c1": there(full, node("n2"))}, freed={})
    held = [Hold(slots, {"Worker": WHOLE}, UNTIL, "team-a", (f"{name}/1",)) for name in "vw"]
    view.ledger = view.claims = {"c1": dict(zip((KEY, other), held, strict=True))}
    assert decide(view, told(Expire(at=NOW)), NOW).steps == ()


@pytest.mark.parametrize("given", WAITS.values(), ids=list(WAITS))
def test_it_is_waited_while(given: dict[str, Any]) -> None:
    more = {name: one for name, one in given.items() if name != "nodes"}
    assert expire(*given["nodes"], **more).steps == ()


def test_a_kept_node_that_takes_no_pods_is_not_waited_for() -> None:
    nominated, freed = events(expire(node("n1", holds={KEY: WHOLE}, schedulable=False), node("n2")))
    assert (nominated.verb, nominated.slots, freed.ready) == ("nominated", (Slot("Worker", "n2", 1),), ("mine",))


def test_of_several_in_one_moment_each_is_told() -> None:
    """The bus takes two words of one id for one."""
    lives = [claiming(name) for name in "ab"]
    kept = {}
    for name, life in zip(("n1", "n2"), lives, strict=True):
        slots = (Slot("Worker", name, 1),)
        life.then(wire.Nominated, claim=1, cluster="c1", slots=slots, victims=1, until=UNTIL)
        kept[f"{life.name}/1-claim-1"] = Hold(slots, {"Worker": WHOLE}, UNTIL, "team-a", ("v/1",))
    nodes = [node(f"n{number}", used=HALF, holds={key: WHOLE}) for number, key in enumerate(kept, 1)]
    view = of(*lives, clusters={"c1": there(*nodes, node("n3"), node("n4"))}, freed={})
    view.ledger = view.claims = {"c1": kept}
    said = [one for step in decide(view, told(Expire(at=NOW)), NOW).steps for one in step.events]
    freed = {one.id: one.message.ready for one in said if one.message.verb == "freed"}
    assert sorted(freed.values()) == [("a",), ("b",)]


TICK = NOW - NOW % 10_000
AGAIN = {
    "it does not come": (TICK, S, ["freed"]),
    "it was told a moment ago": (TICK, 195 * S, []),
    "that was said already": (TICK + 2_000, S, []),
}


@pytest.mark.parametrize(("at", "kept_after", "said"), AGAIN.values(), ids=list(AGAIN))
def test_that_room_is_free_is_told_again_where(at: int, kept_after: int, said: list[str]) -> None:
    """The queue that heard it may have ended."""
    slots = (Slot("Worker", "n1", 1),)
    life = mine().then(wire.Nominated, after=kept_after, claim=1, cluster="c1", slots=slots, victims=1, until=UNTIL)
    view = of(life, clusters={"c1": there(node("n1", holds={KEY: WHOLE}))}, freed={})
    view.ledger = view.claims = {"c1": {KEY: Hold(slots, {"Worker": WHOLE}, UNTIL, "team-a", ("v/1",))}}
    found = events(decide(view, told(Expire(at=at)), at))
    assert [one.verb for one in found] == said
    assert {one.ready for one in found} <= {("mine",)}
