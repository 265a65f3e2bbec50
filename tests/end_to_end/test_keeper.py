"""The keeper of manifests as a process of its own, with its own credential on a real NATS."""

import asyncio
import contextlib
from pathlib import Path

from fairway.adapters.logins import LoginFile
from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.system_clock import SystemClock
from fairway.keeper.service import Keeper
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan
from tests.end_to_end.test_credentials import told
from tests.spec.builders.told_record import DAY_MS, LaterClock, ToldRecord


class Kept(EmbeddedFleet):
    def environment(self, process: str = "") -> dict[str, str]:
        return {**super().environment(process), "FAIRWAY_MANIFESTS_KEPT": "30d"}


class Unkept(Kept):
    """Its keeper comes with a credential that does not have the keeper's rights, as that of `--process all=all`."""

    def environment(self, process: str = "") -> dict[str, str]:
        said = super().environment(process)
        other = {"FAIRWAY_CREDENTIALS_DIR": str(self.credentials.folder / "admission")} if process == "keeper" else {}
        return {**said, **other}


async def test_under_a_credential_that_may_not_delete_it_ends_at_its_start(tmp_path: Path) -> None:
    """And not at the first removal, a month later."""
    fleet = Unkept(tmp_path, FleetPlan((), groups=(), stub_clusters=True))
    try:
        await fleet.start()
        with contextlib.suppress(RuntimeError):  # whether it is ready before it tries its right is nothing here
            await fleet.start_process(("keeper",), patience_s=30)
        async with asyncio.timeout(30):
            while fleet.processes["keeper"].ended is None:
                await asyncio.sleep(0.05)
        assert fleet.processes["keeper"].ended != 0
        (said, *_) = told(tmp_path / "keeper.log", "a right is missing")
        assert (said["level"], said["server"]) == ("critical", "NATS")
        assert "$js.api.stream.msg.delete.jobs" in said["cause"].lower()
        assert "FAIRWAY_CREDENTIALS_DIR" in said["remedy"]
    finally:
        await fleet.stop()


async def test_it_needs_its_own_rights_and_no_others(tmp_path: Path) -> None:
    """The process is ready and goes on; and what it will do in a month is done under its credential."""
    fleet = Kept(tmp_path, FleetPlan((), groups=(), stub_clusters=True))
    try:
        await fleet.start()
        process = await fleet.start_process(("keeper",))
        assert process.said["services"] == ["keeper"]
        async with asyncio.timeout(30):  # first it tries whether it may delete
            while not (lines := told(tmp_path / "keeper.log", "manifests of ended jobs are removed from the record")):
                await asyncio.sleep(0.02)
        (line,) = lines
        assert line["kept_s"] == 30 * DAY_MS // 1000
        bus = await NatsBus.connect(fleet.nats.url, "test")
        clock = LaterClock(SystemClock())
        record = ToldRecord(bus, clock)
        await record.over(await record.admitted("train", "c1"))
        login = LoginFile(fleet.credentials.folder_of("keeper") / "nats")
        own = await NatsBus.connect(f"nats://{fleet.nats.address}", "keeper", login=login)
        clock.days = 31
        assert await Keeper(own, clock, 30 * DAY_MS).round() == 1
        assert await record.secrets() == 0
        assert process.ended is None and told(tmp_path / "keeper.log", "a right is missing") == []
        await own.close()
        await bus.close()
    finally:
        await fleet.stop()
