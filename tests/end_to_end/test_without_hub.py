"""All services in one process where there is no hub."""

from pathlib import Path

import httpx

from fairway.lab.fleet.fleet import FleetPlan, running
from fairway.process.pipeline import EVERYTHING


async def test_the_service_hub_is_not_among_those_that_run(tmp_path: Path) -> None:
    async with running(tmp_path, FleetPlan((), groups=(EVERYTHING,), stub_clusters=True)) as fleet:
        (process,) = fleet.processes.values()
        want = [name for name in EVERYTHING if name != "hub"]
        assert process.said["services"] == want
        async with httpx.AsyncClient(trust_env=False) as client:
            told = (await client.get(f"{process.said['http']}/readyz")).json()
        assert (told["ready"], told["services"]) == (True, want)
