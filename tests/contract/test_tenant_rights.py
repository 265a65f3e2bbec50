"""The block for a tenant in deploy/nats/members.conf, on a real server: it speaks for itself, and hears only itself."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import nats
import pytest
from nats.aio.client import Client

from fairway.adapters.embedded import nats_program
from fairway.adapters.nats_bus import NatsBus
from fairway.wire import subjects

CONF = Path(__file__).parents[2] / "deploy/nats/members.conf"
OWN = ("fairway.in.team-a.submit", "fairway.in.team-a.cancel")
NOT_OWN = (
    "fairway.in.team-b.submit", "fairway.in.team-a.other", "fairway.job.submitted.team-a", "fairway.job.cancel.team-a",
    "fairway.config.Queue.x.y", "fairway.dlq.inbound", "$JS.API.STREAM.DELETE.IN", "$JS.API.STREAM.NAMES",
)  # fmt: skip


def rules() -> str:
    """As somebody has it who took the block out of its comment."""
    own = r"^    # (?=\{ user: team-a|    (publish|subscribe)|\} \})"
    text = re.sub(own, "    ", CONF.read_text(), flags=re.MULTILINE)
    for name in ("FAIRWAY_BUS", "FAIRWAY_NORTH", "TEAM_A"):
        text = text.replace(f"${name}_PASSWORD", "secret")
    return text


@asynccontextmanager
async def server(folder: Path) -> AsyncIterator[str]:
    conf = folder / "nats.conf"
    conf.write_text(f'jetstream {{ store_dir: "{folder}/data" }}\n{rules()}')
    ports = folder / "ports"
    ports.mkdir()
    args = ("-c", str(conf), "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", str(ports))
    process = await asyncio.create_subprocess_exec(nats_program(), *args, stderr=asyncio.subprocess.DEVNULL)
    try:
        async with asyncio.timeout(20):
            while not (found := re.search(r"127\.0\.0\.1:\d+", "".join(one.read_text() for one in ports.iterdir()))):
                await asyncio.sleep(0.05)
        yield found.group()
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def connected(where: str, user: str) -> AsyncIterator[tuple[Client, list[str]]]:
    """And what the server complained of."""
    refused: list[str] = []

    async def complained(error: Exception) -> None:
        refused.append(str(error))

    client = await nats.connect(f"nats://{user}:secret@{where}", inbox_prefix=f"_INBOX_{user}", error_cb=complained)
    try:
        yield client, refused
    finally:
        await client.close()


async def test_a_tenant_says_and_hears_its_own(tmp_path: Path) -> None:
    async with server(tmp_path) as where:
        services = await NatsBus.connect(f"nats://fairway:secret@{where}", "services")
        await services.provision()
        async with connected(where, "team-a") as (tenant, refused):
            for subject in OWN:
                stored = await tenant.jetstream().publish(subject, b"{}")
                assert stored.stream == subjects.IN
            mine = await tenant.subscribe("fairway.job.*.team-a")
            await tenant.flush()
            await services.tell("fairway.job.rejected.team-a", b"why")
            assert (await mine.next_msg(5)).data == b"why"
            assert refused == []
        await services.close()


@pytest.mark.parametrize("subject", NOT_OWN)
async def test_a_tenant_says_nothing_else(tmp_path: Path, subject: str) -> None:
    async with server(tmp_path) as where, connected(where, "team-a") as (tenant, refused):
        await tenant.publish(subject, b"{}")
        await tenant.flush()
        await asyncio.sleep(0.1)
        assert len(refused) == 1 and "permissions violation" in refused[0].lower()


@pytest.mark.parametrize("subject", ["fairway.>", "fairway.job.*.team-b", "fairway.in.team-b.submit", "_INBOX.>"])
async def test_a_tenant_hears_nobody_else(tmp_path: Path, subject: str) -> None:
    async with server(tmp_path) as where, connected(where, "team-a") as (tenant, refused):
        await tenant.subscribe(subject)
        await tenant.flush()
        await asyncio.sleep(0.1)
        assert len(refused) == 1 and "permissions violation" in refused[0].lower()
