"""A process that is told to end while NATS is away ends in time, and without a word that sounds like a fault."""

import asyncio
import signal
import time
from pathlib import Path

import pytest

from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan
from tests.end_to_end.test_credentials import told

# What all parts get to end (process/main.py), and what the program takes besides on a machine under load.
_END_S = 5.0 + 2.0
_AWAY = "NATS is not reached"


async def _is_away(log: Path) -> None:
    async with asyncio.timeout(30):
        while not told(log, _AWAY):
            await asyncio.sleep(0.05)


async def _ends(fleet: EmbeddedFleet) -> None:
    process = fleet.processes["quota"]
    begun = time.monotonic()
    await process.stop()
    assert time.monotonic() - begun < _END_S
    assert process.ended == 0
    assert "Traceback" not in process.log.read_text()


@pytest.mark.parametrize("away", ["it was killed", "it stands still"])
async def test_while_nats_is_away_it_ends_in_time_and_without_a_traceback(tmp_path: Path, away: str) -> None:
    fleet = EmbeddedFleet(tmp_path, FleetPlan((), groups=(("quota",),), stub_clusters=True))
    try:
        await fleet.start()
        if away == "it stands still":
            fleet.nats.process.send_signal(signal.SIGSTOP)
        else:
            fleet.nats.kill()
            await _is_away(tmp_path / "quota.log")
        await _ends(fleet)
    finally:
        fleet.nats.kill()
        await fleet.stop()
