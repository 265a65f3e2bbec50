"""queue: what is recorded of a waiting job names every gate that is shut, and is said again when others are."""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from fairway.queue import wake_ups
from fairway.queue.decide import decide
from fairway.queue.position import answer
from fairway.queue.view import SWEEP_EVERY_MS, Sweep
from fairway.wire import jobs as wire
from fairway.wire.asks import QueueAsk
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import GPU, T0, Life, S
from tests.spec.builders.views import Given, events, gone, heard, of, told, tree
from tests.spec.builders.waiting import BLOCK, flying, freed, held, quota, room, waiting
from tests.spec.queue.test_order import removing

NOW = T0 + 900 * S
FULL = {"tree": tree(), "usage": {"root/a|nvidia.com/gpu": 32}}
QUOTA = Code.WAITING_FOR_QUOTA
TURN = Code.BEHIND_HEAD
ROOM = Code.WAITING_FOR_ROOM
REMOVAL = Code.WAITING_FOR_REMOVAL
BEHIND = Reason(TURN, "not its turn")


def recorded(life: Life, *gates: Reason) -> Life:
    """The last that was said of it is that these are shut."""
    return life.then(wire.Blocked, why=msgspec.structs.replace(gates[0], text="all of it"), gates=gates)


def asked(*lives: Life, **view: Any) -> Given:
    """The scheduler had room for none of them when it was last freed."""
    given = of(*lives, **{"freed": 3, **view})
    for life in lives:
        given.queued.found_none(life.name, 3)
    return given


def freed_since(*lives: Life, **view: Any) -> Given:
    given = asked(*lives, **view)
    given.freed = 4
    return given


@dataclass
class Case:
    given: Life
    want: list[Code]  # the gates that are said to be shut; none: nothing is said
    others: list[Life] = field(default_factory=list)
    view: dict[str, Any] = field(default_factory=dict)


HEAD = [waiting("a", why=quota())]
CASES = {
    "no room for it, and its quota was taken meanwhile": Case(waiting("x", 1, why=room()), [QUOTA, ROOM], view=FULL),
    "no room for it, as was recorded when it came back": Case(waiting("x", 1, why=room()), []),
    "behind another, with a quota that is full as well": Case(
        waiting("x", 1), [QUOTA, TURN], HEAD, {**FULL, "queues": BLOCK}
    ),
    "behind another alone": Case(waiting("x", 1), [TURN], HEAD, {"queues": BLOCK}),
    "behind another, and there was no room": Case(waiting("x", 1, why=room()), [TURN, ROOM], HEAD, {"queues": BLOCK}),
    "behind another, without quota, and there was no room": Case(
        waiting("x", 1, why=room()), [QUOTA, TURN, ROOM], HEAD, {**FULL, "queues": BLOCK}
    ),
    "its last attempt is being removed, as was recorded with its end": Case(removing("x"), []),
    "its last attempt is being removed, and its quota is full": Case(removing("x"), [REMOVAL, QUOTA], view=FULL),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_a_job_that_comes_says_every_gate_that_is_shut(case: Case) -> None:
    view = asked(case.given, *case.others, **case.view)
    said = [one for one in events(decide(view, heard(case.given), NOW)) if (one.job, one.verb) == ("x", "blocked")]
    assert [gate.code for one in said for gate in one.gates or (one.why,)] == case.want
    for one in said:
        assert one.why.code == case.want[0]
        assert all(gate.text in one.why.text for gate in one.gates)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_what_is_recorded_is_what_is_answered(case: Case) -> None:
    view = asked(case.given, *case.others, **case.view)
    said = [one for one in events(decide(view, heard(case.given), NOW)) if (one.job, one.verb) == ("x", "blocked")]
    place = answer(view, QueueAsk("x"), NOW)
    job = case.given.now
    told = said[-1] if said else wire.Blocked(job="x", tenant="team-a", attempt=1, rev=1, at=NOW, why=job.why)
    assert (place.lacks, place.text) == (told.why.code, told.why.text)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_it_is_not_said_again_while_the_same_gates_are_shut(case: Case) -> None:
    view = asked(case.given, *case.others, **case.view)
    come = heard(case.given)
    said = [one for one in events(decide(view, come, NOW)) if (one.job, one.verb) == ("x", "blocked")]
    if said:
        life = deepcopy(case.given).then(wire.Blocked, why=said[0].why, gates=said[0].gates)
        view = asked(life, *case.others, **case.view)
        assert [one for one in events(decide(view, come, NOW)) if one.job == "x"] == []
        assert [one for one in events(decide(view, told(Sweep()), NOW)) if one.job == "x"] == []


BOTH = recorded(waiting("x", 1, why=room()), quota(), room())
STANDS = {
    "no room, and its quota was taken since": (waiting("x", 1, why=room()), FULL, [QUOTA, ROOM]),
    "no room, and its quota was given back since": (BOTH, {"tree": tree()}, [ROOM]),
    "behind another, and its quota was taken since": (
        waiting("x", 1, why=BEHIND),
        {**FULL, "queues": BLOCK},
        [QUOTA, TURN],
    ),
    "as the record says": (BOTH, FULL, []),
}


@pytest.mark.parametrize(("life", "view", "want"), STANDS.values(), ids=list(STANDS))
def test_a_sweep_says_how_a_job_stands_by_now_and_lets_nobody_go(
    life: Life, view: dict[str, Any], want: list[Code]
) -> None:
    head = waiting("a", why=room())
    said = [one for one in events(decide(asked(head, life, **view), told(Sweep()), NOW)) if one.job == "x"]
    assert [gate.code for one in said for gate in one.gates or (one.why,)] == want
    assert {one.verb for one in said} <= {"blocked"}


@pytest.mark.parametrize("first", range(5))
def test_a_sweep_looks_at_so_many_and_the_next_one_at_those_behind_them_until_it_was_everybodys_turn(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wake_ups, "LOOKED_AT", 2)
    lives = [waiting(name, index, why=room(), queue="gold") for index, name in enumerate("abc")]
    lives += [waiting(name, index, why=room(), queue="other") for index, name in enumerate("de")]
    named = [
        {one.job for one in events(decide(asked(*lives, **FULL), told(Sweep()), NOW + sweep * SWEEP_EVERY_MS))}
        for sweep in range(first, first + 3)
    ]
    assert all(len(names) <= 2 for names in named)
    assert set().union(*named) == set("abcde")


def test_a_sweep_says_no_more_than_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wake_ups, "TOLD", 1)
    lives = [waiting(name, index, why=room()) for index, name in enumerate("abc")]
    assert len(events(decide(asked(*lives, **FULL), told(Sweep()), NOW))) == 1


def test_without_quota_and_room_it_is_woken_by_room_and_then_waits_for_quota_alone() -> None:
    (said,) = events(decide(freed_since(BOTH, **FULL), told(freed(8)), NOW))
    assert (said.verb, said.why.code, said.gates) == ("blocked", QUOTA, ())


def test_with_quota_again_it_goes_where_room_is_freed() -> None:
    assert gone(decide(freed_since(BOTH, tree=tree()), told(freed(8)), NOW)) == ["x"]


def test_quota_that_is_given_back_does_not_send_it_where_there_is_no_room() -> None:
    ended = held("y").then(wire.Dispatched, cluster="c1").then(wire.Succeeded, cluster="c1")
    assert gone(decide(asked(ended, BOTH, tree=tree()), heard(ended), NOW)) == []


def test_who_was_behind_others_without_quota_is_looked_at_when_it_is_the_head() -> None:
    life = recorded(waiting("x", 1), quota(), BEHIND)
    head = held("a")
    assert gone(decide(of(head, life, tree=tree(), queues=BLOCK), heard(head), NOW)) == ["x"]
    (said,) = events(decide(of(head, life, queues=BLOCK, **FULL), heard(head), NOW))
    assert (said.why.code, said.gates) == (QUOTA, ())


def test_quota_that_is_given_back_passes_over_those_behind_a_head() -> None:
    ended = held("y", queue="other").then(wire.Dispatched, cluster="c1").then(wire.Succeeded, cluster="c1")
    life = recorded(waiting("x", 1), quota(), BEHIND)
    view = of(ended, flying("a"), life, tree=tree(), queues=BLOCK, usage={f"root/a|{GPU}": 8})
    assert events(decide(view, heard(ended), NOW)) == []
