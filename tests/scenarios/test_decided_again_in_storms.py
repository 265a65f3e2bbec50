"""Every decision of the scheduler is the same again, on what it saw: in fair weather and in foul."""

import pytest
from memory_fleet import running
from test_weather import KINDS
from weather import storm

from fairway.app.replay_decisions import Asked, replay


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kinds", KINDS.values(), ids=list(KINDS))
async def test_every_decision_is_the_same_again(kinds: tuple[str, ...], seed: int) -> None:
    async with running(views=True, c1=(8, 8), c2=(8,)) as fleet:
        await storm(fleet, seed, kinds)
        await fleet.quiet(1)
        report = await replay(fleet.bus, Asked())
    assert report.identical > 0
    assert (report.different, report.unknown) == ([], [])
