"""Which events count when the working set was made anew: those stored before its rebuild began, and its own."""

import pytest

from fairway.domain.working_sets import WorkingSets, late
from fairway.wire import jobs as wire


def event(epoch: int, rev: int = 3) -> wire.JobMessage:
    return wire.Running(job="a", tenant="t", rev=rev, attempt=1, cluster="c1", epoch=epoch)


@pytest.mark.parametrize(
    ("epoch", "sequence", "is_late"),
    [
        pytest.param(10, 60, True, id="of the former set, stored when the new one had begun"),
        pytest.param(10, 40, False, id="of the former set, and in what the new one was made of"),
        pytest.param(50, 60, False, id="its own"),
    ],
)
def test_an_event_is_late_by_where_it_was_stored(epoch: int, sequence: int, is_late: bool) -> None:
    assert late(event(epoch), sequence, born=50) is is_late


def test_a_command_is_never_late() -> None:
    assert not late(wire.Cancel(job="a", tenant="t"), 60, born=50)


def heard(*said: tuple[int, int]) -> WorkingSets:
    """`(place, begun)` of each word on a rebuild."""
    sets = WorkingSets()
    for sequence, begun in said:
        sets.hear(wire.Rebuild(owner="o", begun=begun), sequence)
    return sets


def test_the_record_alone_tells_what_was_late() -> None:
    sets = heard((10, 0), (11, 10), (50, 0), (55, 50), (90, 0), (99, 90))
    assert sets.late(event(10), 60), "its set was followed by that of 50"
    assert sets.late(event(10), 95)
    assert sets.late(event(50), 91)
    assert not sets.late(event(10), 49)
    assert not sets.late(event(50), 89)
    assert not sets.late(event(90), 1_000)


def test_a_rebuild_that_never_ended_voids_nothing() -> None:
    assert not heard((10, 0), (11, 10), (50, 0)).late(event(10), 60)


def test_a_rebuild_that_another_began_before_it_ended_voids_nothing() -> None:
    sets = heard((10, 0), (11, 10), (50, 0), (52, 0), (53, 50), (54, 52))
    assert not sets.late(event(10), 51), "that of 50 had lost its lock"
    assert sets.late(event(10), 55)
