"""Only a share of each minute is recorded: the rest is said to be left out, and is no loss."""

from collections.abc import Iterator

import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.global_scheduler.decide import SERVICE
from fairway.operate.replay.decisions import DecisionFilter, replay
from fairway.operate.replay.report import lines
from fairway.runtime.views.recording_limits import RecordedShare
from fairway.wire import views
from fairway.wire.reasons import Code
from tests.spec.replay.recorded import open_house

MINUTE = 60_000
T0 = 28_333_333 * MINUTE


@pytest.mark.parametrize(
    ("percent", "second", "want"),
    [
        pytest.param(50, 0, 0, id="a minute begins with what is recorded"),
        pytest.param(50, 29.999, 0, id="half of it is half a minute"),
        pytest.param(50, 30, 60, id="then nothing is until the next"),
        pytest.param(50, 59.999, 60, id="to its last moment"),
        pytest.param(1, 0.5, 0, id="the least is six tenths of a second"),
        pytest.param(1, 0.6, 60, id="and no more"),
        pytest.param(100, 59.999, 0, id="all is recorded all the time"),
    ],
)
def test_of_each_minute_the_first_part_is_recorded(percent: int, second: float, want: int) -> None:
    rest = RecordedShare(percent).rest(T0 + round(second * 1000))
    assert rest == (T0 + want * 1000 if want else 0)


def entries(bus: MemoryBus) -> Iterator[views.Entry]:
    for one in bus.stored("VIEWS"):
        yield from views.unpacked(views.decode(one.data))


async def test_what_is_left_out_is_said_by_stage_and_all_else_is_decided_again() -> None:
    """Some three minutes of which half is recorded: no decision differs, and none is missing without a word."""
    async with open_house(7, rounds=150, share=RecordedShare(50)) as house:
        pass
    report = await replay(house.bus, DecisionFilter())
    told = [*entries(house.bus)]
    found = report.stages[SERVICE]
    assert (found.different, found.unknown, found.rows) == ([], [], [])
    assert found.identical > 100
    assert found.left_out.decisions == found.left_out.events > 100
    assert found.identical + found.left_out.events == len(house.jobs())
    assert found.left_out.seconds >= 60
    assert (report.good, report.complete) == (True, False)
    gaps = [one for one in told if isinstance(one, views.Missing)]
    assert {one.why.code for one in gaps} == {Code.VIEW_LEFT_OUT}
    assert {one.why.text for one in gaps} == {"it was not recorded: FAIRWAY_VIEWS_SHARE is 50 %"}
    assert sum(isinstance(one, views.Whole) for one in told) >= 2, "all is told whenever it goes on"
    line = next(line for line in lines(report) if line.startswith(f"{SERVICE}: "))
    assert line.endswith(
        f"; {found.left_out.decisions} in {found.left_out.seconds:.1f} s were not recorded (FAIRWAY_VIEWS_SHARE)"
    )


async def test_with_everything_recorded_nothing_is_left_out() -> None:
    async with open_house(7, rounds=60, share=RecordedShare(100)) as house:
        report = await replay(house.bus, DecisionFilter())
    assert report.complete
    assert report.left_out.seconds == 0
    assert not any(isinstance(one, views.Missing) for one in entries(house.bus))


async def test_who_ends_while_nothing_is_recorded_says_with_how_many_decisions() -> None:
    async with open_house(8, share=RecordedShare(1)) as house:
        for _ in range(10):
            await house.round()
    gaps = [one for one in entries(house.bus) if isinstance(one, views.Missing)]
    assert gaps[-1].decisions > 0
    assert gaps[0].until - gaps[0].since > 0
