"""What is removed is gone from the disk of the server, too."""

from pathlib import Path

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.system_clock import SystemClock
from fairway.lab.processes.embedded_servers import nats_server
from tests.spec.builders.told_record import SECRET, LaterClock, ToldRecord


def _files_with(text: str, folder: Path) -> list[str]:
    return [one.name for one in folder.rglob("*") if one.is_file() and text.encode() in one.read_bytes()]


async def test_nats_writes_over_it(tmp_path: Path) -> None:
    async with await nats_server(tmp_path, sync_interval="always") as server:
        bus = await NatsBus.connect(server.url, "disk")
        await bus.provision()
        record = ToldRecord(bus, LaterClock(SystemClock()))
        await record.over(await record.admitted("train", "c1"))
        assert _files_with(SECRET, tmp_path)
        record.clock.days = 31
        assert await record.keeper().round() == 1
        assert _files_with(SECRET, tmp_path) == []
        await bus.close()
    assert _files_with(SECRET, tmp_path) == []
