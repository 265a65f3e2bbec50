"""Ends attempts for a claim: those that are still needed, for whose room is kept first."""

from typing import Any

import msgspec
import pytest

from fairway.domain.decision import Put
from fairway.domain.reservations import Hold
from fairway.placement.cluster import ClusterView
from fairway.reserver.decide import decide
from fairway.wire import jobs as wire
from fairway.wire.capacity import Slot
from fairway.wire.preemption.claims import Cause
from fairway.wire.preemption.evictions import Borrowed, Evict, Victim
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, T0, Life, S
from tests.spec.builders.views import cluster, events, node, of, puts, told, verbs
from tests.spec.builders.waiting import held, quota, waiting

NOW = T0 + 200 * S
KEY = "mine/1-claim-1"
WHOLE = {GPU: 8, "pods": 1}
HALF = {GPU: 4, "pods": 1}


def mine(pods: int = 1, **more: Any) -> Life:
    """It waits with a claim, for pods of 8 GPUs."""
    life = waiting("mine", why=quota("root"), pods=pods, gang=pods, **more)
    return life.then(wire.Claimed, claim=1, causes=(Cause.RECLAIM,), level=2, until=NOW + 30 * S)


def on(name: str, **holds: dict[str, int]) -> Any:
    return node(name, holds={f"{job}/1": held for job, held in holds.items()})


def there(*nodes: Any, **info: Any) -> ClusterView:
    return cluster("c1", nodes, NOW, **info)


def command(*victims: str, nodes: tuple[str, ...] = ("n1",), quota: tuple[str, ...] = (), claim: int = 1) -> Evict:
    named = tuple(Victim(one, 1, "c1", Cause.RECLAIM, 0, 3, quota=one in quota) for one in victims)
    slots = tuple(Slot("Worker", name, 1) for name in nodes)
    head = {"job": "mine", "tenant": "team-a", "attempt": 1}
    return Evict(**head, claim=claim, cluster="c1", slots=slots, victims=named, level=2, looked=4)


def evict(message: Evict, *lives: Life, nodes: tuple[Any, ...], **info: Any) -> Any:
    view = of(*lives, clusters={"c1": there(*nodes, **info)}, freed={})
    return decide(view, told(message), NOW)


def evicted(decision: Any) -> list[str]:
    return [one.job for one in events(decision) if one.verb == "evicted"]


def test_first_the_room_is_kept_then_each_attempt_ends() -> None:
    made = evict(command("v"), mine(), held("v"), nodes=(on("n1", v=WHOLE),))
    assert verbs(made) == ["nominated", "freed", "evicted", "recall", "queue"]
    nominated, _, said, _, back = events(made)
    assert (nominated.cluster, nominated.victims, nominated.evicted, nominated.claim) == ("c1", 1, 1, 1)
    kept = Hold(command().slots, {"Worker": WHOLE}, nominated.until, "team-a", leaving=("v/1",))
    assert puts(made, "ledger/c1") == {KEY: kept}
    assert puts(made, "nodes/c1")["n1"].holds == {"v/1": WHOLE, KEY: WHOLE}
    assert (said.why.code, said.right, said.leaf, said.level, said.own_priority) == (
        Code.RECLAIMED,
        Cause.RECLAIM,
        "root/a",
        2,
        3,
    )
    assert (back.job, back.attempt, back.enqueued_at) == ("v", 2, T0)


def test_it_says_what_was_borrowed() -> None:
    victim = Victim("v", 1, "c1", Cause.RECLAIM, borrowed=Borrowed("root/b", GPU, 40, 24))
    message = msgspec.structs.replace(command(), victims=(victim,))
    made = evict(message, mine(), held("v"), nodes=(on("n1", v=WHOLE),))
    (said,) = [one for one in events(made) if one.verb == "evicted"]
    assert said.why.text.endswith("; it was borrowed: root/b used 40 of its min of 24 nvidia.com/gpu")


def test_an_attempt_ends_only_if_the_room_is_kept() -> None:
    """Its step is guarded by the row of the job for which it is."""
    life = mine()
    made = evict(command("v"), life, held("v"), nodes=(on("n1", v=WHOLE),))
    kept, ends = made.steps
    (row,) = [one for one in kept.writes if isinstance(one, Put) and one.key == "mine"]
    (guard,) = [one for one in ends.writes if isinstance(one, Put) and one.key == "mine"]
    assert (row.expect, guard.expect, guard.rev) == (life.now.rev, row.rev, row.rev)


def gone(name: str) -> Life:
    return held(name).then(wire.Dispatched, cluster="c1").then(wire.Succeeded, cluster="c1")


def leaving(name: str) -> Life:
    why = Reason(Code.VANISHED, "gone")
    life = held(name).then(wire.Lost, cluster="c1", why=why).then(wire.Recall, cluster="c1", why=why)
    return life.then(wire.Queue, attempt=2, queue="gold", leaf=("root", "root/a"), enqueued_at=T0, why=why)


def test_who_has_ended_meanwhile_is_left_alone_and_so_is_whoever_is_not_needed_then() -> None:
    nodes = (on("n1", w=HALF), on("n2", x=WHOLE))
    lives = (mine(), gone("v"), held("w"), held("x"))
    assert evicted(evict(command("v", "w", "x"), *lives, nodes=nodes)) == ["w"]


def test_the_dearest_of_several_stays_if_the_others_are_enough() -> None:
    nodes = (node("n1", 16, holds={"v/1": WHOLE, "w/1": WHOLE}),)
    assert evicted(evict(command("v", "w"), mine(), held("v"), held("w"), nodes=nodes)) == ["v"]


def test_who_goes_for_quota_goes_wherever_he_is() -> None:
    nodes = (on("n1"), on("n2", v=WHOLE))
    assert evicted(evict(command("v", quota=("v",)), mine(), held("v"), nodes=nodes)) == ["v"]


def test_other_nodes_of_the_cluster_do_as_well_where_somebody_took_those_that_were_chosen() -> None:
    nodes = (on("n1", other=WHOLE), on("n2"), on("n3", v=WHOLE))
    made = evict(command("v", quota=("v",)), mine(), held("v"), nodes=nodes)
    assert (events(made)[0].slots, evicted(made)) == ((Slot("Worker", "n2", 1),), ["v"])
    assert evicted(evict(command("v"), mine(), held("v"), nodes=nodes)) == []


def test_who_leaves_a_node_for_another_claim_does_not_count_beside_what_is_kept_for_that() -> None:
    """Two claims of one moment, each with a victim of its own on the node."""
    nodes = (node("n1", 16, holds={"v/1": WHOLE, "w/1": WHOLE, "other/1-claim-1": WHOLE}),)
    view = of(mine(), leaving("v"), held("w"), clusters={"c1": there(*nodes)}, freed={})
    view.claims = {"c1": {"other/1-claim-1": Hold(command().slots, {"Worker": WHOLE}, NOW, "team-b", ("v/1",))}}
    assert evicted(decide(view, told(command("w")), NOW)) == ["w"]


def test_room_that_is_about_to_be_free_is_waited_for() -> None:
    made = evict(command("v"), mine(), leaving("v"), nodes=(on("n1", v=WHOLE),))
    assert (verbs(made), evicted(made)) == (["nominated", "freed"], [])
    nominated, freed = events(made)
    assert (nominated.victims, nominated.evicted, freed.ready) == (1, 0, ())


def test_room_that_is_free_already_is_ready_at_once() -> None:
    made = evict(command("v"), mine(), gone("v"), nodes=(on("n1"),))
    assert [one.ready for one in events(made) if one.verb == "freed"] == [("mine",)]


IN_VAIN: dict[str, tuple[dict[str, Any], Code]] = {
    "others have the room": ({"nodes": (on("n1", v=HALF, other=HALF),)}, Code.CLAIM_OVERTAKEN),
    "the cluster is silent": ({"nodes": (on("n1", v=WHOLE),), "observed_at": NOW - 60 * S}, Code.CAPACITY_STALE),
    "the cluster is cordoned": ({"nodes": (on("n1", v=WHOLE),), "cordoned": True}, Code.CORDONED),
}


@pytest.mark.parametrize(("given", "code"), IN_VAIN.values(), ids=list(IN_VAIN))
def test_nobody_is_evicted_in_vain(given: dict[str, Any], code: Code) -> None:
    (said,) = events(evict(command("v"), mine(), held("v"), **given))
    assert (said.verb, said.why.code, said.again) == ("unclaimed", code, NOW + 2 * S)


NO_NEWS = {
    "the claim is over": mine().then(wire.Unclaimed, claim=1, why=Reason(Code.NO_VICTIMS, "none")),
    "another claim followed": mine().then(wire.Claimed, claim=2, causes=(), until=NOW),
    "the job is held": mine().then(wire.Held, held=True),
    "the job has gone": mine().then(wire.Dequeued),
    "the job is cancelled": mine().then(wire.Cancelled),
}


@pytest.mark.parametrize("life", NO_NEWS.values(), ids=list(NO_NEWS))
def test_nothing_happens_when(life: Life) -> None:
    assert evict(command("v"), life, held("v"), nodes=(on("n1", v=WHOLE),)).steps == ()


def test_a_command_that_was_half_carried_out_is_carried_out() -> None:
    kept = mine().then(wire.Nominated, claim=1, cluster="c1", slots=command().slots, victims=2, until=NOW + 60 * S)
    nodes = (node("n1", holds={KEY: WHOLE, "v/1": HALF, "w/1": HALF}),)
    made = evict(command("v", "w"), kept, leaving("v"), held("w"), nodes=nodes)
    assert (verbs(made), evicted(made)) == (["evicted", "recall", "queue"], ["w"])


def placed(life: Life) -> Life:
    life.then(wire.Nominated, claim=1, cluster="c1", slots=command().slots, victims=0, until=NOW + 60 * S)
    return life.then(wire.Dequeued).then(wire.Placed, cluster="c1", slots=command().slots)


def test_what_is_kept_becomes_the_jobs_own_in_one_step() -> None:
    life = placed(mine())
    view = of(life, clusters={"c1": there(node("n1", holds={KEY: WHOLE}))}, freed={})
    view.ledger = view.claims = {"c1": {KEY: Hold(command().slots, {"Worker": WHOLE})}}
    made = decide(view, told(life.said[-1][1]), NOW)
    assert verbs(made) == ["reserved"]
    assert puts(made, "ledger/c1")[KEY] is None
    assert puts(made, "nodes/c1")["n1"].holds == {"mine/1": WHOLE}


@pytest.mark.parametrize(
    ("leaving", "verb"),
    [
        pytest.param(("w/1",), "reserved", id="whose victim still has it: that stands for it"),
        pytest.param(("gone/1",), "queue", id="whose victims have gone: it is there, and is not taken"),
        pytest.param(None, "queue", id="of which nobody knows who leaves for it"),
    ],
)
def test_beside_what_is_kept_for_another_claim(leaving: tuple[str, ...] | None, verb: str) -> None:
    """Of 16 GPUs one has 8 who leaves for the other claim or stays."""
    life = placed(mine())
    other = "other/1-claim-1"
    full = node("n1", 16, holds={KEY: WHOLE, other: WHOLE, "w/1": WHOLE})
    view = of(life, clusters={"c1": there(full)}, freed={})
    kept = [Hold(command().slots, {"Worker": WHOLE}, NOW + 60 * S, "t", one) for one in (("v/1",), leaving)]
    view.ledger = view.claims = {"c1": dict(zip((KEY, other), kept, strict=True))}
    assert verbs(decide(view, told(life.said[-1][1]), NOW)) == [verb]


@pytest.mark.parametrize(
    ("own", "others", "ready"),
    [
        pytest.param(("gone/1",), ("w/1",), ("mine",), id="its victim has gone, and that of the other has not"),
        pytest.param(("w/1",), ("gone/1",), ("other",), id="its victim has not, and that of the other has"),
        pytest.param(("w/1",), ("w/1",), (), id="one victim is to leave for both"),
    ],
)
def test_kept_room_is_told_to_be_free(own: tuple[str, ...], others: tuple[str, ...], ready: tuple[str, ...]) -> None:
    """Of 16 GPUs one attempt has 8, and another one has just left."""
    other = "other/1-claim-1"
    full = node("n1", 16, holds={KEY: WHOLE, other: WHOLE, "w/1": WHOLE, "z/1": WHOLE})
    view = of(clusters={"c1": there(full)}, freed={})
    kept = [Hold(command().slots, {"Worker": WHOLE}, NOW + 60 * S, "t", one) for one in (own, others)]
    view.claims = {"c1": dict(zip((KEY, other), kept, strict=True))}
    view.ledger = {"c1": {**view.claims["c1"], "z/1": Hold(command().slots, {"Worker": WHOLE})}}
    said = decide(view, told(wire.Removed(job="z", tenant="t", attempt=1, cluster="c1")), NOW)
    assert [one.ready for one in events(said)] == [ready]


def test_nothing_is_kept_for_a_claim_that_is_over() -> None:
    life = mine().then(wire.Unclaimed, claim=1, why=Reason(Code.CLAIM_WITHDRAWN, "held"))
    view = of(life, clusters={"c1": there(node("n1", holds={KEY: WHOLE}))}, freed={})
    view.ledger = view.claims = {"c1": {KEY: Hold(command().slots, {"Worker": WHOLE})}}
    made = decide(view, told(life.said[-1][1]), NOW)
    assert (puts(made, "ledger/c1"), puts(made, "nodes/c1")["n1"].holds, verbs(made)) == ({KEY: None}, {}, ["freed"])
