"""queue: where a job stands, who is ahead, and every gate that is shut to it as of now."""

from typing import Any

import pytest

from fairway.queue.position import answer
from fairway.wire.asks import QueueAnswer, QueueAsk
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.lives import T0, Life, S
from tests.spec.builders.views import Given, of, tree
from tests.spec.builders.waiting import BLOCK, flying, freed, quota, room, waiting
from tests.spec.queue.test_order import removing

NOW = T0 + 900 * S
BEHIND = Reason(Code.BEHIND_HEAD, "not its turn")
FULL = {"tree": tree(), "usage": {"root/a|nvidia.com/gpu": 30}}
# How often room had been freed when the scheduler had none for the jobs that came back.
ASKED = {"freed": 3}


def place(view: Given, name: str) -> QueueAnswer:
    return answer(view, QueueAsk(name), NOW)


def looked(*lives: Life, **view: Any) -> Given:
    """Those that found no room were asked about when it was last freed."""
    given = of(*lives, **{**ASKED, **view})
    for life in lives:
        given.queued.found_none(life.name, 3)
    return given


def test_the_position_counts_from_one_and_names_those_just_before() -> None:
    found = place(of(*(waiting(f"j{at}", at) for at in range(7))), "j6")
    assert (found.position, found.ahead, found.queue, found.policy) == (
        7,
        ("j1", "j2", "j3", "j4", "j5"),
        "gold",
        "Priority",
    )


@pytest.mark.parametrize(
    ("given", "view", "codes", "says"),
    [
        pytest.param([waiting("x")], {}, [Code.QUEUED], "about to be tried", id="nothing stands against it"),
        pytest.param([waiting("x", why=quota())], FULL, [Code.WAITING_FOR_QUOTA], "has 2 of 32", id="quota, as of now"),
        pytest.param(
            [waiting("x", why=quota())], {}, [Code.QUEUED], "about to be tried", id="it lacked quota, and does not now"
        ),
        pytest.param([waiting("x", why=room())], {}, [Code.WAITING_FOR_ROOM], "no room", id="room, as it was found"),
        pytest.param(
            [waiting("x", why=room())],
            {"freed": 4, "room": {"c1": freed(8)}},
            [Code.QUEUED],
            "about to be tried",
            id="no room then, and enough was freed since",
        ),
        pytest.param(
            [waiting("x", why=room())],
            {"freed": 4, "room": {"c1": freed(4)}},
            [Code.WAITING_FOR_ROOM],
            "no room",
            id="no room then, and too little was freed since",
        ),
        pytest.param(
            [waiting("x", why=room())],
            FULL,
            [Code.WAITING_FOR_QUOTA, Code.WAITING_FOR_ROOM],
            "the job needs 8; and no room",
            id="neither quota nor room",
        ),
        pytest.param(
            [waiting("a"), waiting("x", 1, why=room())],
            {**FULL, "queues": BLOCK},
            [Code.WAITING_FOR_QUOTA, Code.BEHIND_HEAD, Code.WAITING_FOR_ROOM],
            "and it is not the turn of this one; and no room",
            id="neither quota, nor its turn, nor room",
        ),
        pytest.param([removing("x")], {}, [Code.WAITING_FOR_REMOVAL], "being removed", id="its last attempt is there"),
        pytest.param(
            [removing("x")],
            FULL,
            [Code.WAITING_FOR_REMOVAL, Code.WAITING_FOR_QUOTA],
            "being removed; and quota root/a has 2 of 32",
            id="its last attempt is there, and its quota is full",
        ),
        pytest.param(
            [waiting("x", why=room(Code.ROOM_TAKEN))], {}, [Code.ROOM_TAKEN], "no room", id="what sent it back just now"
        ),
        pytest.param(
            [waiting("a", why=room()), waiting("x", 1)],
            {"queues": BLOCK},
            [Code.BEHIND_HEAD],
            "queue gold lets one job go at a time",
            id="behind a blocking head",
        ),
        pytest.param(
            [waiting("x", why=BEHIND)],
            {"queues": BLOCK},
            [Code.QUEUED],
            "about to be tried",
            id="it was behind one, and is the head now",
        ),
        pytest.param(
            [waiting("a", why=room(Code.NO_CLUSTER_EVER)), waiting("x", 1)],
            {"queues": BLOCK},
            [Code.QUEUED],
            "about to be tried",
            id="a head that never fits is no head",
        ),
    ],
)
def test_why_it_waits(given: list[Life], view: dict[str, Any], codes: list[Code], says: str) -> None:
    found = place(looked(*given, **view), "x")
    assert ([one.code for one in found.gates], found.lacks, says in found.text) == (codes, codes[0], True)
    assert all(one.text in found.text for one in found.gates)


def test_a_job_on_its_way_has_no_place() -> None:
    assert place(of(flying("x")), "x") == QueueAnswer(queue="")


def test_a_queue_knows_how_many_are_on_their_way() -> None:
    assert place(of(flying("a"), flying("b"), waiting("x", 2)), "x").running_ahead == 2


@pytest.mark.parametrize(
    ("given", "queues", "behind", "head"),
    [
        pytest.param([waiting("q", why=room())], BLOCK, ("q",), "no room", id="the head, and what that waits for"),
        pytest.param([waiting("q")], BLOCK, ("q",), "it is about to be tried", id="a head that has its turn"),
        pytest.param([flying("f"), waiting("q")], BLOCK, ("f", "q"), "", id="who looks for room, then the head"),
        pytest.param([waiting("q")], {}, (), "", id="nobody, where nobody has to wait for another"),
    ],
)
def test_it_says_whose_turn_is_first(given: list[Life], queues: Any, behind: tuple[str, ...], head: str) -> None:
    found = place(looked(*given, waiting("x", 2), queues=queues), "x")
    assert (found.behind, found.head) == (behind, head)
    assert not any(f" {name} " in found.text for name in "qf"), "no sentence names another job"


def test_several_are_asked_about_at_once_and_of_those_only_what_they_wait_for() -> None:
    view = of(waiting("a", why=quota()), waiting("b", 1), **FULL)
    found = answer(view, QueueAsk("", ("b", "gone", "a")), NOW)
    assert [(one.lacks, one.position, one.ahead) for one in found.also] == [
        (Code.WAITING_FOR_QUOTA, 0, ()),
        ("", 0, ()),
        (Code.WAITING_FOR_QUOTA, 0, ()),
    ]
    assert found.queue == ""
