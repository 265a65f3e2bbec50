"""queue: where a job stands, who is ahead, and why it waits as of now."""

import pytest

from fairway.queue.position import place
from fairway.wire.reasons import Code, Reason
from tests.spec.builders.views import of, tree
from tests.spec.builders.waiting import BLOCK, flying, quota, room, waiting
from tests.spec.queue.test_order import removing

BEHIND = Reason(Code.BEHIND_HEAD, "not its turn")
FULL = {"tree": tree(), "usage": {"root/a|nvidia.com/gpu": 30}}


def test_the_position_counts_from_one_and_names_those_just_before() -> None:
    line = [waiting(f"j{at}", at) for at in range(7)]
    found = place(of(*line), "j6")
    assert found is not None
    assert (found.position, found.ahead, found.queue, found.policy) == (
        7,
        ("j1", "j2", "j3", "j4", "j5"),
        "gold",
        "Priority",
    )


@pytest.mark.parametrize(
    ("given", "view", "code", "says"),
    [
        pytest.param([waiting("x")], {}, Code.QUEUED, "about to be tried", id="nothing stands against it"),
        pytest.param([waiting("x", why=quota())], FULL, Code.WAITING_FOR_QUOTA, "has 2 of 32", id="quota, as of now"),
        pytest.param([waiting("x", why=room())], {}, Code.WAITING_FOR_ROOM, "no room", id="room, as it was found"),
        pytest.param(
            [waiting("x", why=room())], FULL, Code.WAITING_FOR_QUOTA, "has 2 of 32", id="no room then, no quota now"
        ),
        pytest.param([removing("x")], FULL, Code.WAITING_FOR_REMOVAL, "being removed", id="its last attempt is there"),
        pytest.param(
            [waiting("a", why=room()), waiting("x", 1)],
            {"queues": BLOCK},
            Code.BEHIND_HEAD,
            "queue gold blocks behind its head a: no room",
            id="behind a blocking head",
        ),
        pytest.param(
            [flying("a"), waiting("x", 1)],
            {"queues": BLOCK},
            Code.BEHIND_HEAD,
            "one job look for room at a time; now a",
            id="behind one on its way",
        ),
        pytest.param(
            [waiting("a"), waiting("x", 1, why=BEHIND)],
            {"queues": BLOCK},
            Code.BEHIND_HEAD,
            "behind its head a: it is about to be tried",
            id="behind one that comes to be the head",
        ),
        pytest.param(
            [waiting("x", why=BEHIND)],
            {"queues": BLOCK},
            Code.QUEUED,
            "about to be tried",
            id="it was behind one, and is the head now",
        ),
        pytest.param(
            [waiting("a", why=room(Code.NO_CLUSTER_EVER)), waiting("x", 1)],
            {"queues": BLOCK},
            Code.QUEUED,
            "about to be tried",
            id="a head that never fits is no head",
        ),
    ],
)
def test_why_it_waits(given, view, code: Code, says: str) -> None:  # type: ignore[no-untyped-def]  # of cases
    found = place(of(*given, **view), "x")
    assert found is not None
    assert (found.lacks, says in found.text) == (code, True)


def test_a_job_on_its_way_has_no_place() -> None:
    assert place(of(flying("x")), "x") is None


def test_a_queue_knows_how_many_are_on_their_way() -> None:
    found = place(of(flying("a"), flying("b"), waiting("x", 2)), "x")
    assert found is not None
    assert found.running_ahead == 2


def test_it_says_of_which_jobs_its_sentence_speaks() -> None:
    behind_both = place(of(flying("f"), waiting("a"), waiting("x", 2), queues=BLOCK), "x")
    alone = place(of(waiting("a"), waiting("x", 2)), "x")
    assert behind_both is not None
    assert alone is not None
    assert (behind_both.behind, alone.behind) == (("a", "f"), ())
    assert all(name in behind_both.text for name in behind_both.behind)
