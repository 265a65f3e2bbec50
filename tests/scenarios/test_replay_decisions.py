"""Every decision of the scheduler is the same again, on what it saw: in fair weather and in foul."""

import pytest
from memory_fleet import Fleet, running
from test_weather import KINDS
from weather import storm

from fairway.app.replay_decisions import Asked, Report, replay


async def replayed(fleet: Fleet, asked: Asked = Asked()) -> Report:
    await fleet.quiet(1)
    return await replay(fleet.bus, asked)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kinds", KINDS.values(), ids=list(KINDS))
async def test_every_decision_is_the_same_again(kinds: tuple[str, ...], seed: int) -> None:
    async with running(views=True, c1=(8, 8), c2=(8,)) as fleet:
        await storm(fleet, seed, kinds)
        report = await replayed(fleet)
    assert report.identical > 0
    assert (report.different, report.unknown) == ([], [])
