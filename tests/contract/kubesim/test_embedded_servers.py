"""Embedded NATS and Valkey: they come up, stay on their port, survive a kill, leave nothing."""

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import nats
import psutil
import pytest
from redis.asyncio import Redis

from fairway.adapters.nats.bus import NatsBus
from fairway.lab.processes.embedded_servers import EmbeddedServer, StartError, nats_cluster, nats_server, valkey_server
from fairway.process.servers.streams import provisioned

Start = Callable[..., Awaitable[EmbeddedServer]]
BOTH = pytest.mark.parametrize("start", [nats_server, valkey_server], ids=["NATS", "Valkey"])


@BOTH
async def test_a_server_answers_when_start_returns_and_is_gone_when_stop_returns(start: Start, tmp_path: Path) -> None:
    server = await start(tmp_path)
    with socket.create_connection(("127.0.0.1", server.port), timeout=1):
        assert server.alive
    await server.stop()
    assert not psutil.pid_exists(server.pid)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port), timeout=1)


@BOTH
async def test_a_server_listens_on_the_loopback_address_only(start: Start, tmp_path: Path) -> None:
    async with await start(tmp_path) as server:
        listening = psutil.Process(server.pid).net_connections(kind="inet")
        assert {c.laddr.ip for c in listening if c.status == psutil.CONN_LISTEN} == {"127.0.0.1"}


@BOTH
async def test_two_servers_of_a_kind_get_two_ports(start: Start, tmp_path: Path) -> None:
    async with await start(tmp_path / "a") as one, await start(tmp_path / "b") as two:
        assert one.port != two.port


@BOTH
async def test_a_port_that_is_taken_is_refused_with_what_to_do(start: Start, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartError, match=f"Free port {port}, or ask for port 0"):
            await start(tmp_path, port)


@BOTH
async def test_a_server_of_another_on_the_same_port_is_not_ours(start: Start, tmp_path: Path) -> None:
    async with await start(tmp_path / "first") as first:
        with pytest.raises(StartError):
            await start(tmp_path / "second", first.port)


@BOTH
async def test_a_folder_name_with_a_space_and_a_quote_works(start: Start, tmp_path: Path) -> None:
    async with await start(tmp_path / 'my "fleet"') as server:
        assert server.alive


async def test_nats_killed_and_restarted_has_the_same_port_and_every_acknowledged_message(
    tmp_path: Path,
) -> None:
    async with await nats_server(tmp_path) as server:
        port = server.port
        async with await nats.connect(server.url) as client:
            js = client.jetstream()
            await js.add_stream(name="KEPT", subjects=["kept"])
            await js.publish("kept", b"before the kill")
        server.kill()
        await server.restart()
        assert server.port == port
        async with await nats.connect(server.url) as client:
            kept = await client.jetstream().get_msg("KEPT", 1)
            assert kept.data == b"before the kill"


async def test_three_servers_are_one_cluster_that_keeps_three_copies(tmp_path: Path) -> None:
    servers = await nats_cluster(tmp_path, 3)
    bus = await NatsBus.connect(servers[0].url, "cluster")
    other = await NatsBus.connect(servers[2].url, "cluster")
    try:
        await provisioned(bus, 3)
        info = await bus.client.jetstream().stream_info("JOBS")
        assert info.cluster is not None
        assert info.cluster.replicas is not None
        assert len({info.cluster.leader, *(one.name for one in info.cluster.replicas)}) == 3
        assert await other.client.jetstream().stream_info("CONFIG")
    finally:
        await other.close()
        await bus.close()
        for server in servers:
            server.kill()


async def test_nats_takes_a_message_of_eight_mebibytes(nats_url: str) -> None:
    async with await nats.connect(nats_url) as client:
        assert client.max_payload == 8 << 20


@pytest.mark.parametrize(
    ("persistent", "want"), [(False, None), (True, b"1")], ids=["a cache forgets", "persistent keeps"]
)
async def test_valkey_stopped_and_restarted(tmp_path: Path, persistent: bool, want: bytes | None) -> None:
    async with await valkey_server(tmp_path, persistent=persistent) as server:
        async with Redis.from_url(server.url) as client:
            await client.set("key", "1")
        await server.restart()
        async with Redis.from_url(server.url) as client:
            assert await client.get("key") == want


async def test_valkey_refuses_to_evict(valkey_url: str) -> None:
    async with Redis.from_url(valkey_url) as client:
        assert await client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}


_PARENT = """
import asyncio, pathlib, sys
from fairway.lab.processes.embedded_servers import nats_server, valkey_server

async def up(dir):
    servers = [await nats_server(dir / "n"), await valkey_server(dir / "v")]
    print(*[server.pid for server in servers], flush=True)
    await asyncio.Event().wait()

asyncio.run(up(pathlib.Path(sys.argv[1])))
"""


def test_no_server_outlives_a_parent_that_was_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _PARENT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        ends = [os.pidfd_open(int(pid)) for pid in parent.stdout.readline().split()]
        assert len(ends) == 2
        assert [_has_ended(end, seconds=0) for end in ends] == [False, False]
        os.kill(parent.pid, signal.SIGKILL)
        ended = [_has_ended(end, seconds=5) for end in ends]
        for end in ends:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(end, signal.SIGKILL)
            os.close(end)
        assert ended == [True, True]


def _has_ended(pidfd: int, seconds: float) -> bool:
    # pidfd_open(2): readable when the process has ended, also while nobody has reaped it.
    return bool(select.select([pidfd], [], [], seconds)[0])
