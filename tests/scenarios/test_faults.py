"""Whatever goes wrong on the way, every job ends, once; nothing of it is left but its row and its record; and every
decision of every stage is the same again, on what it knew."""

import pytest

from fairway.operate.replay.decisions import DecisionFilter, replay
from tests.scenarios.faults import storm
from tests.scenarios.memory_fleet import running

FAIR = ("calm",)
KINDS = {
    "no faults": FAIR,
    "jobs are cancelled at any moment": ("calm", "cancel", "cancel"),
    "messages are delivered again": ("again", "calm"),
    "services are killed": ("crash", "calm"),
    "the store is wiped": ("wipe", "calm"),
    "the bus breaks between commit and publish": ("refuse", "calm"),
    "clusters are away, slow, or lose their answers": ("away", "back", "lose", "slow"),
    "all of it at once": ("calm", "cancel", "crash", "wipe", "refuse", "again", "away", "back", "lose", "slow"),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kinds", KINDS.values(), ids=list(KINDS))
async def test_every_job_ends_nothing_is_left_and_every_decision_is_the_same_again(
    kinds: tuple[str, ...], seed: int
) -> None:
    async with running(views=True, c1=(8, 8), c2=(8,)) as fleet:
        faults = await storm(fleet, seed, kinds)
        assert faults.complaints() == []
        await fleet.quiet(1)
        report = await replay(fleet.bus, DecisionFilter())
    assert report.identical > 0
    assert (report.different, report.unknown, report.rows) == ([], [], [])


# Seeds that once lost a wake-up, a message or a removal.
@pytest.mark.parametrize(
    ("kinds", "seed"),
    [
        pytest.param(FAIR, 7, id="two events of one job in answer to one message had one id"),
        pytest.param(FAIR, 4, id="room that nobody took was not offered on"),
        pytest.param(("away", "back", "lose", "slow"), 3, id="the sweep and a timer at the same moment"),
        pytest.param(KINDS["all of it at once"], 14, id="a watcher began while a cluster was away"),
    ],
)
async def test_what_was_found_once_stays_mended(kinds: tuple[str, ...], seed: int) -> None:
    async with running(c1=(8, 8), c2=(8,)) as fleet:
        faults = await storm(fleet, seed, kinds)
        assert faults.complaints() == []
