"""reserver: holds all or nothing on fresh data, releases on every end, and says when there is more room."""

from typing import Any

import pytest

from fairway.domain.decision import NOTHING, Call, Outcome
from fairway.domain.reservations import Hold
from fairway.reserver.decide import decide
from fairway.reserver.view import Expire, ReserverBegins
from fairway.wire import fleet
from fairway.wire import jobs as wire
from fairway.wire.capacity import Pods, Slot
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, T0, Life, S, dequeued, dispatched, failing, place, placed, reserved, running
from tests.spec.builders.views import Given, adds, cluster, events, heard, node, of, puts, told, verbs

NOW = T0 + 60 * S
WHY = Reason(Code.JOB_FAILED, "exit code 1")
HELD = {GPU: 16, "pods": 2}


def fleet_of(life: Life, *free: int, **more: Any) -> Given:
    """The life, and c1 with one node of 16 GPUs per number, so many of them free."""
    nodes = [node(f"n{index}", 16, used={GPU: 16 - left}) for index, left in enumerate(free, 1)]
    more.setdefault("freed", {})
    info = more.pop("info", {})
    return of(life, clusters={"c1": cluster("c1", nodes, NOW, **info)} if free else {}, **more)


def test_room_is_held_on_every_node_in_the_step_that_says_so_guarded_by_what_was_read() -> None:
    decision = decide(fleet_of(placed(), 16, 16, row_revs={("nodes/c1", "n1"): 7}), heard(placed()), NOW)
    (said,) = events(decision)
    assert (said.verb, said.cluster, said.expires_at) == ("reserved", "c1", NOW + 60 * S)
    assert {name: one.holds for name, one in puts(decision, "nodes/c1").items()} == {
        "n1": {"llm-1/1": HELD},
        "n2": {"llm-1/1": HELD},
    }
    assert puts(decision, "ledger/c1")["llm-1/1"].expires_at == NOW + 60 * S
    guards = {write.key: write.expect for write in decision.steps[0].writes if hasattr(write, "expect")}
    assert guards == {"llm-1": 4, "llm-1/1": 0, "n1": 7, "n2": 0}


def test_another_place_in_the_same_cluster_is_as_good() -> None:
    (said,) = events(decide(fleet_of(placed(), 0, 16, 16), heard(placed()), NOW))
    assert said.slots == (Slot("Worker", "n2", 2), Slot("Worker", "n3", 2))


@pytest.mark.parametrize(
    ("free", "info", "code"),
    [
        pytest.param((16, 8), {}, Code.ROOM_TAKEN, id="three of four pods fit: nothing is held"),
        pytest.param((), {}, Code.CAPACITY_UNKNOWN, id="the cluster has not reported"),
        pytest.param((16, 16), {"observed_at": NOW - 31 * S}, Code.CAPACITY_STALE, id="it has not for long"),
        pytest.param((16, 16), {"cordoned": True}, Code.CORDONED, id="it takes no new work any more"),
    ],
)
def test_without_room_for_all_it_goes_back_and_what_was_counted_as_taken_is_told_free(
    free: tuple[int, ...], info: dict[str, Any], code: Code
) -> None:
    decision = decide(fleet_of(placed(), *free, freed={"c1": 3}, info=info), heard(placed()), NOW)
    (said,) = events(decision)
    assert (said.verb, said.why.code, said.freed, said.enqueued_at) == ("queue", code, 3, T0 + S)
    assert puts(decision, "ledger/c1") == {"llm-1/1": None}
    assert adds(decision)["freed c1"] == 1


def test_a_job_that_is_being_cancelled_goes_back() -> None:
    life = placed().then(wire.Recall, cluster="c1", why=Reason(Code.CANCELLED, "cancelled by ann"))
    (said,) = events(decide(fleet_of(life, 16, 16), heard(life, -2), NOW))
    assert (said.verb, said.why.code) == ("queue", Code.CANCELLED)


@pytest.mark.parametrize("life", [reserved(), dequeued(), running()], ids=["reserved", "back", "running"])
def test_placed_is_heard_once(life: Life) -> None:
    assert decide(fleet_of(life, 16, 16), heard(placed()), NOW) == NOTHING


def holding(life: Life) -> Given:
    """c1 as it holds room for attempt 1, with 8 more GPUs taken by another."""
    holds = {"llm-1/1": HELD, "other/1": {GPU: 8, "pods": 1}}
    nodes = [node(name, 24, holds=holds) for name in ("n1", "n2")]
    slots = (Slot("Worker", "n1", 2), Slot("Worker", "n2", 2))
    hold = Hold(slots, {"Worker": {GPU: 8, "pods": 1}}, NOW)
    return of(life, clusters={"c1": cluster("c1", nodes, NOW)}, ledger={"c1": {"llm-1/1": hold}}, freed={"c1": 4})


ENDS = {
    "succeeded": running().then(wire.Succeeded, cluster="c1"),
    "failed for good": running(attempts=1).then(wire.Failed, cluster="c1", why=WHY, final=True),
    "lost for good": dispatched().then(wire.Lost, cluster="c1", why=WHY, final=True),
    "removed": failing(running()).then(wire.Removed, cluster="c1", attempt=1),
    "cancelled": running().then(wire.Cancelled),
}


@pytest.mark.parametrize("life", ENDS.values(), ids=list(ENDS))
def test_room_is_given_back_on_every_end_and_told_with_its_numbers(life: Life) -> None:
    decision = decide(holding(life), heard(life), NOW)
    assert puts(decision, "ledger/c1") == {"llm-1/1": None}
    assert [set(one.holds) for one in puts(decision, "nodes/c1").values()] == [{"other/1"}, {"other/1"}]
    (said,) = events(decision)
    assert said == fleet.Freed(
        at=NOW, cluster="c1", free={GPU: 32, "pods": 218}, largest={GPU: 16, "pods": 109}, count=5, labels={}
    )
    assert adds(decision) == {"freed c1": 1}


def test_room_is_given_back_once() -> None:
    life = ENDS["succeeded"]
    assert decide(fleet_of(life, 16, 16), heard(life), NOW) == NOTHING


def test_a_failed_attempt_keeps_its_room_until_it_is_removed() -> None:
    life = failing(running())
    assert decide(holding(life), heard(life, -3), NOW) == NOTHING


def test_pods_that_are_still_seen_keep_their_room_when_the_reservation_ends() -> None:
    life = ENDS["succeeded"]
    view = holding(ENDS["succeeded"])
    seen = {"llm-1/1": Pods({"Worker": 1}, {GPU: 8, "pods": 1})}
    view.clusters["c1"].put(node("n1", 24, attempts=seen, holds={"llm-1/1": HELD}))
    nodes = puts(decide(view, heard(life), NOW), "nodes/c1")
    assert (nodes["n1"].holds, "llm-1/1" in nodes["n2"].holds) == ({"llm-1/1": {GPU: 8, "pods": 1}}, False)


def test_a_reservation_that_nobody_dispatched_is_recalled_once() -> None:
    view = holding(reserved())
    view.row_revs[("ledger/c1", "llm-1/1")] = 1
    assert verbs(decide(view, told(Expire()), NOW)) == ["recall"]
    assert verbs(decide(view, told(Expire()), NOW - 1)) == []
    for life in (dispatched(), reserved().then(wire.Recall, cluster="c1", why=WHY), place(dequeued(), "c2")):
        assert verbs(decide(holding(life), told(Expire()), NOW)) == []


def test_at_the_start_it_asks_the_clusters_it_knows_nothing_of_and_only_once() -> None:
    view = fleet_of(placed(), 16, members=("c2", "c1"))
    assert decide(view, told(ReserverBegins()), NOW).calls == (Call("resync", "c2", "", 0),)
    done = (Outcome(Call("resync", "c2", "", 0), True),)
    assert decide(view, told(ReserverBegins(), outcomes=done), NOW) == NOTHING


def test_clusters_that_could_not_be_asked_because_the_bus_was_away_are_asked_again() -> None:
    view = fleet_of(placed(), 16, members=("c2",))
    failed = (Outcome(Call("resync", "c2", "", 0), False, "", "the bus is away"),)
    assert decide(view, told(ReserverBegins(), outcomes=failed), NOW).again_in == 1_000
