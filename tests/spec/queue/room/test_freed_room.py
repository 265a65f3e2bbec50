"""queue: freed room is offered to one job at a time, and only in clusters that its policy selects."""

from typing import Any

import msgspec
import pytest

from fairway.queue.decide import decide
from fairway.queue.waiting.waiting_jobs import WaitingJobs
from fairway.wire import jobs as wire
from fairway.wire.policy import Affinity, Placement
from fairway.wire.workload import Expression
from tests.spec.builders.lives import GPU, T0, S
from tests.spec.builders.views import events, gone, heard, of, told
from tests.spec.builders.waiting import freed, held, room, waiting

NOW = T0 + 900 * S
FREED = 4


def placed_by(*affinities: Affinity) -> dict[str, Any]:
    return {"placement": Placement(affinities=affinities)}


def model(*values: str) -> Affinity:
    return Affinity(labels=(Expression("model", "In", values),))


SELECTED = {
    "no policy of its own": ({}, True),
    "its label": (placed_by(model("a100")), True),
    "another label": (placed_by(model("t4")), False),
    "another label first, then its own": (placed_by(model("t4"), model("a100")), True),
    "its name": (placed_by(Affinity(cluster_names=("c1",))), True),
    "another name": (placed_by(Affinity(cluster_names=("c2",))), False),
    "all but it": (placed_by(Affinity(exclude=("c1",))), False),
}


@pytest.mark.parametrize(("asks", "woken"), SELECTED.values(), ids=list(SELECTED))
def test_room_wakes_those_whose_policy_selects_the_cluster(asks: dict[str, Any], woken: bool) -> None:
    view = of(waiting("a", why=room(), **asks))
    assert gone(decide(view, told(freed(8, labels={"model": "a100"})), NOW)) == (["a"] if woken else [])


@pytest.mark.parametrize(("until", "woken"), [(NOW + S, []), (NOW, ["a"])], ids=["still", "no longer"])
def test_room_wakes_nobody_who_avoids_the_cluster_after_a_failure_there(until: int, woken: list[str]) -> None:
    life = waiting("a", why=room())
    life.job = msgspec.structs.replace(life.now, avoid={"c1": until})
    assert gone(decide(of(life), told(freed(8)), NOW)) == woken


def test_that_a_cluster_has_left_is_for_those_whose_policy_names_it() -> None:
    named = placed_by(Affinity(cluster_names=("c1", "c2")))
    other = placed_by(Affinity(cluster_names=("c2",)))
    view = of(
        *(waiting(name, at, why=room(), **asks) for at, (name, asks) in enumerate({"a": other, "b": named}.items()))
    )
    left = msgspec.structs.replace(freed(0), free={}, largest={})
    assert gone(decide(view, told(left), NOW)) == ["b"]


def test_who_is_woken_says_for_which_room() -> None:
    (said,) = events(decide(of(waiting("a", why=room())), told(freed(8)), NOW))
    assert (said.woken_by, said.room) == ("room", "c1")


def back(*others: Any, heading: dict[str, tuple[str, dict[str, int]]]) -> list[str]:
    """x was woken for the eight GPUs of c1 and found no room; who is let go next?"""
    lives = [waiting("x", why=room(), freed=FREED), *others]
    view = of(*lives, room={"c1": freed(8)}, freed=FREED)
    view.queued.woken = {"x": None}
    view.queued.heading = heading
    view.queued.found_none("x", FREED)
    return gone(decide(view, heard(lives[0]), NOW))


def test_room_that_another_is_on_the_way_to_is_not_offered_again() -> None:
    small = waiting("b", 1, gpus=4, why=room())
    assert back(small, heading={}) == ["b"]
    assert back(small, heading={"y": ("c1", {GPU: 8})}) == []
    assert back(small, heading={"y": ("c1", {GPU: 4})}) == ["b"]
    assert back(small, heading={"y": ("c2", {GPU: 8})}) == ["b"], "that is another cluster's"


def test_of_those_who_come_back_together_one_is_sent_to_the_room_that_was_freed_meanwhile() -> None:
    """Each is heard by itself; the first takes the room, in the book too."""
    lives = [waiting(name, at, why=room(), freed=FREED - 1) for at, name in enumerate("abc")]
    view = of(*lives, room={"c1": freed(8)}, freed=FREED)
    sent: list[str] = []
    for life in lives:
        decision = decide(view, heard(life), NOW)
        for said in events(decision):
            assert isinstance(said, wire.Dequeued)
            view.queued.heads_for(life.now, said.room)
        sent += gone(decision)
    assert sent == ["a"]


def test_who_has_its_room_or_is_back_is_no_longer_on_the_way() -> None:
    for name in ("reserved", "waiting"):
        queued = WaitingJobs()
        going = waiting("a", why=room())
        queued.put(going.now)
        queued.put(going.then(wire.Dequeued, room="c1").now)
        queued.heads_for(going.now, "c1")
        assert queued.heading == {"a": ("c1", {GPU: 8})}
        queued.put(held("a").now if name == "reserved" else waiting("a", why=room()).now)
        assert queued.heading == {}
