"""The stream of views takes the room that the settings give it; where NATS has less, work goes on without."""

import json
from pathlib import Path

from fairway.adapters.nats.bus import NatsBus
from fairway.lab.processes.embedded_servers import nats_server
from fairway.process.servers.streams import provisioned, views_provisioned
from fairway.process.settings import Settings


async def streams(folder: Path, most: str, settings: Settings) -> dict[str, tuple[float | None, int | None]]:
    """Age and bytes by name, of a server with so much room in all."""
    store = f"jetstream {{ store_dir: {json.dumps(str(folder))}, max_file_store: {most} }}\n"
    server = await nats_server(folder, more=store)
    bus = await NatsBus.connect(server.url, "test")
    try:
        await provisioned(bus, 1)
        await views_provisioned(bus, settings)
        infos = await bus.client.jetstream().streams_info()
        return {str(one.config.name): (one.config.max_age, one.config.max_bytes) for one in infos}
    finally:
        await bus.close()
        await server.stop()


async def test_age_and_bytes_are_settings(tmp_path: Path) -> None:
    made = await streams(tmp_path, "2GB", Settings(views_days=2, views_mib=64))
    assert made["VIEWS"] == (2 * 86_400, 64 << 20)


async def test_without_room_for_views_there_is_everything_else(tmp_path: Path) -> None:
    made = await streams(tmp_path, "64MB", Settings(views_mib=1024))
    assert set(made) == {"JOBS", "CLUSTERS", "CONFIG", "DLQ", "FOUND", "IN", "STATUS", "AUDIT", "RELIEF"}
    assert (made["DLQ"][1], made["IN"][1]) == (16 << 20, 4 << 20)
