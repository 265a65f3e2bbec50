"""A real nats-server with the accounts of deploy/nats/members.conf: three members, two tenants, and the services."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from fairway.lab.processes.embedded_servers import nats_program
from tests.paths import ROOT

CONF = ROOT / "deploy/nats/members.conf"
_MEMBER = re.compile(r"^  member-north \{\n.*?^  \}\n", re.DOTALL | re.MULTILINE)
_TENANT = re.compile(r"^  # tenant-team-a \{\n.*?^  # \}\n", re.DOTALL | re.MULTILINE)


_SERVICES = re.compile(r"^    include \"\S+/services\.conf\"$", re.MULTILINE)


def rules(*more_members: str) -> str:
    """As an operator has it who copied the block of the member for these, and that of the tenant out of its comment
    for two. Every password is `secret`. In the place of the services' users there is one with all rights, `fairway`."""
    text = CONF.read_text()
    (member,) = _MEMBER.findall(text)
    (tenant,) = _TENANT.findall(text)
    tenant = tenant.replace("  # ", "  ")
    blocks = [member.replace("north", name) for name in more_members]
    blocks += [tenant, tenant.replace("team-a", "team-b")]
    text = _SERVICES.sub(
        "    users: [ { user: fairway, password: secret } ]", _TENANT.sub(lambda _: "".join(blocks), text)
    )
    return re.sub(r"\$\w+_PASSWORD", "secret", text)


@asynccontextmanager
async def server(folder: Path, jetstream: str = "") -> AsyncIterator[str]:
    """`jetstream` stands in its block besides. Gives host and port."""
    conf = folder / "nats.conf"
    conf.write_text(f'jetstream {{ store_dir: "{folder}/data"\n{jetstream}\n}}\n{rules("west", "m1")}')
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


async def without_streams(where: str) -> str:
    """The same server, with nothing left of the tests before."""
    async with connected(where, "fairway") as (client, _):
        for stream in await client.jetstream().streams_info():
            await client.jetstream().delete_stream(stream.config.name)
    return where


def at(url: str, user: str) -> str:
    """The address for one of the users."""
    return f"nats://{user}:secret@{url.removeprefix('nats://')}"


@asynccontextmanager
async def connected(where: str, user: str) -> AsyncIterator[tuple[Client, list[str]]]:
    """And what the server complained of."""
    refused: list[str] = []

    async def complained(error: Exception) -> None:
        refused.append(str(error))

    client = await nats.connect(at(where, user), inbox_prefix=f"_INBOX_{user}", error_cb=complained)
    try:
        yield client, refused
    finally:
        await client.close()


async def settled(client: Client) -> None:
    """Returns when the server has complained of all that was said before: it answers what is asked behind. The client
    sends the first question of the two before what it has collected."""
    await client.flush()
    await client.flush()


async def until_heard(subscription: Subscription, say: Callable[[], Awaitable[None]]) -> Msg:
    """What comes on a subscription across accounts. Core NATS stores nothing: said once, it is lost where the interest
    of the other account is not known yet, so it is said again."""
    for _ in range(20):
        await say()
        with contextlib.suppress(nats.errors.TimeoutError):
            return await subscription.next_msg(0.5)
    raise AssertionError("said twenty times, and never heard")
