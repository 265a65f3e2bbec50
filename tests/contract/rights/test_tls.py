"""NATS and Valkey over TLS, with a CA of one's own that SSL_CERT_FILE names."""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import structlog

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.valkey.store import RedisStore
from fairway.lab.kubesim.http.certificate import ServerCertificate, pair
from fairway.lab.processes.embedded_servers import nats_server, valkey_server
from fairway.process.log import configure, is_news
from fairway.runtime.ports import Unreachable


@pytest.fixture
def certificate(tmp_path: Path) -> ServerCertificate:
    made = pair()
    (tmp_path / "tls.crt").write_bytes(made.certificate)
    (tmp_path / "tls.key").write_bytes(made.key)
    return made


@contextlib.asynccontextmanager
async def encrypted(folder: Path, port: int) -> AsyncIterator[int]:
    """The server behind TLS: the Valkey of the tests is built without it."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def through(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner, outer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(copy(reader, outer), copy(inner, writer))

    server = await asyncio.start_server(through, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@pytest.mark.usefixtures("certificate")
async def test_a_store_behind_a_ca_of_ones_own_is_reached_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with await valkey_server(tmp_path / "valkey") as server, encrypted(tmp_path, server.port) as port:
        for known in (False, True):
            if known:
                monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "tls.crt"))
            store = RedisStore(f"rediss://127.0.0.1:{port}/0")
            with contextlib.nullcontext() if known else pytest.raises(Unreachable, match="certificate verify failed"):
                assert not await store.open(), "it is empty"
            await store.close()


@pytest.mark.usefixtures("certificate")
async def test_a_bus_behind_a_ca_of_ones_own_is_reached_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = f'tls {{ cert_file: "{tmp_path}/tls.crt", key_file: "{tmp_path}/tls.key" }}\n'
    async with await nats_server(tmp_path / "nats", more=tls) as server:
        url = f"tls://{server.address}"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await NatsBus.connect(url, "test")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "tls.crt"))
        bus = await NatsBus.connect(url, "test")
        assert bus.connected
        await bus.close()


@pytest.mark.usefixtures("certificate")
async def test_a_bus_that_is_gone_is_left_without_a_word_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither what asyncio says when the server closes a connection, nor that what was still to be said is not."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "tls.crt"))
    tls = f'tls {{ cert_file: "{tmp_path}/tls.crt", key_file: "{tmp_path}/tls.key" }}\n'
    with news_alone():
        async with await nats_server(tmp_path / "nats", more=tls) as server:
            bus = await NatsBus.connect(f"tls://{server.address}", "test")
        async with asyncio.timeout(10):
            while bus.connected:
                await asyncio.sleep(0.01)
        await bus.tell("fairway.test")
        await bus.close()
        logging.getLogger("asyncio").warning("anything else")
    assert [record.getMessage() for record in caplog.records] == ["anything else"]


@contextlib.contextmanager
def news_alone() -> Iterator[None]:
    """As in a process, whose log is set up so."""
    before = structlog.get_config()
    configure()
    try:
        yield
    finally:
        structlog.configure(**before)
        logging.getLogger("asyncio").removeFilter(is_news)
