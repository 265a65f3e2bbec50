"""What one caller may take of the door, over real sockets: whoever takes all of theirs takes nobody else's."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import uvicorn
from structlog.testing import capture_logs

from fairway.gateway.callers.rate_limits import HttpLimits
from fairway.process.http_server import config
from fairway.process.settings import from_environment
from tests.support.http_door import ADMIN, TENANT_A, TENANT_B, House, opened, row

SOON = HttpLimits(headers=0.5, body=0.5, streams=3, rate=20, connections=1_000)
# Where what was half sent first is still to be there when the last of hundreds has come.
LATER = msgspec.structs.replace(SOON, headers=5, body=5)
Wire = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Server:
    """The door on a port of the loopback."""

    def __init__(self, house: House, server: uvicorn.Server) -> None:
        self.house = house
        self._server = server
        self.port: int = server.servers[0].sockets[0].getsockname()[1]
        self._open: list[asyncio.StreamWriter] = []

    async def wire(self, *lines: str, token: str = "") -> Wire:
        """A connection on which that was sent: the beginning of a request."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self._open.append(writer)
        own = [f"Authorization: Bearer {token}"] if token else []
        writer.write("\r\n".join((lines[0], "Host: 127.0.0.1", *own, *lines[1:])).encode())
        await writer.drain()
        return reader, writer

    async def ask(self, token: str, path: str = "/v1/queues") -> int:
        """The status of a whole request, on a connection of its own."""
        reader, writer = await self.wire(f"GET {path} HTTP/1.1", "Connection: close", "", "", token=token)
        status = await answered(reader)
        writer.close()
        return status

    async def idle(self) -> None:
        """Returns when the server has no connection left, and no request in hand."""
        async with asyncio.timeout(20):
            while self._server.server_state.connections or self._server.server_state.tasks:
                await asyncio.sleep(0.01)

    async def close(self) -> None:
        for writer in self._open:
            writer.close()


async def answered(reader: asyncio.StreamReader) -> int:
    """The status of an answer; 0: the connection was closed without one."""
    async with asyncio.timeout(20):
        with contextlib.suppress(ConnectionError):
            line = await reader.readline()
            return int(line.split()[1]) if line else 0
    return 0


async def ends(reader: asyncio.StreamReader) -> None:
    """Returns when the server closes the connection, and raises when it has not within 20 s."""
    async with asyncio.timeout(20):
        with contextlib.suppress(ConnectionError):
            while await reader.read(65_536):
                pass


class _Quiet(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


@contextlib.asynccontextmanager
async def serving(limits: HttpLimits = SOON) -> AsyncIterator[Server]:
    async with opened(limits) as house:
        await house.has(row("b-aaaaaaaaaa", tenant="team-b"))
        server = _Quiet(config(house.app, ("127.0.0.1", 0), limits))
        task = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        door = Server(house, server)
        try:
            yield door
        finally:
            await door.close()
            server.should_exit = server.force_exit = True
            await task


HALF = ("POST /v1/jobs HTTP/1.1", "Content-Type: application/json", "Content-Length: 1000", "", '{"manifest"')


async def test_half_sent_bodies_of_one_caller_keep_nobody_else_out_and_end() -> None:
    async with serving(LATER) as door:
        wires = [await door.wire(*HALF, token=TENANT_A) for _ in range(300)]
        assert await door.ask(TENANT_B) == 200
        assert await door.ask(ADMIN, "/v1/jobs") == 200
        statuses = [await answered(reader) for reader, _ in wires]
        assert (statuses.count(408), statuses.count(429)) == (SOON.in_hand, 300 - SOON.in_hand)
        for reader, _ in wires:
            await ends(reader)
        assert await door.house.submitted() == []


async def test_half_sent_bodies_of_strangers_are_answered_at_once_and_end() -> None:
    async with serving(LATER) as door:
        wires = [await door.wire(*HALF) for _ in range(300)]
        assert {await answered(reader) for reader, _ in wires} == {401, 429}
        assert await door.ask(TENANT_B) == 200, "a new token, from an address that sends many requests without one"
        for reader, _ in wires:
            await ends(reader)


async def test_a_body_that_goes_on_after_its_answer_is_not_read_for_ever() -> None:
    async with serving() as door:
        reader, writer = await door.wire(*HALF)
        assert await answered(reader) == 401

        async def trickle() -> None:
            with contextlib.suppress(ConnectionError):
                while True:
                    writer.write(b"x")
                    await writer.drain()
                    await asyncio.sleep(0.05)

        task = asyncio.create_task(trickle())
        await ends(reader)
        task.cancel()


@pytest.mark.parametrize("begin", ["", "G", "GET /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
async def test_headers_that_never_end_are_not_waited_for(begin: str) -> None:
    async with serving() as door:
        reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
        writer.write(begin.encode())

        async def trickle() -> None:
            with contextlib.suppress(ConnectionError):
                while begin:
                    writer.write(b"x")
                    await writer.drain()
                    await asyncio.sleep(0.05)

        task = asyncio.create_task(trickle())
        await ends(reader)
        task.cancel()
        writer.close()


async def test_headers_of_a_second_request_on_a_connection_are_not_waited_for_either() -> None:
    async with serving() as door:
        reader, writer = await door.wire("GET /v1/queues HTTP/1.1", "", "", token=ADMIN)
        assert await answered(reader) == 200
        writer.write(b"GET /v1/queues HTTP/1.1\r\nX-Slow: ")
        await ends(reader)


async def test_endless_headers_are_refused() -> None:
    async with serving() as door:
        reader, _ = await door.wire("GET /v1/queues HTTP/1.1", "X-Long: " + "x" * 200_000)
        assert await answered(reader) == 400


async def test_when_there_are_too_many_connections_the_longest_silent_one_makes_room() -> None:
    limits = HttpLimits(headers=30, connections=50)
    async with serving(limits) as door:
        wires = [await door.wire("GET /v1/jobs HTTP/1.1", "X-Slow: ") for _ in range(120)]
        assert await door.ask(ADMIN) == 200
        await ends(wires[0][0])
        assert not wires[-1][0].at_eof()


async def test_one_caller_has_so_many_streams_and_others_have_theirs() -> None:
    stream = ("GET /v1/events?namespace=team-a HTTP/1.1", "", "")
    async with serving(LATER) as door:
        mine = [await door.wire(*stream, token=TENANT_A) for _ in range(20)]
        statuses = [await answered(reader) for reader, _ in mine]
        assert (statuses.count(200), statuses.count(429)) == (SOON.streams, 20 - SOON.streams)
        assert await answered((await door.wire(*stream, token=ADMIN))[0]) == 200
        for _, writer in mine:
            writer.close()
        await door.house.clock.advance(5)
        async with asyncio.timeout(10):
            while await answered((await door.wire(*stream, token=TENANT_A))[0]) != 200:
                await door.house.clock.advance(1)
                await asyncio.sleep(0.05)


async def test_a_body_that_is_dropped_leaves_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    async with serving(LATER) as door:
        with capture_logs() as said:
            for _ in range(5):
                reader, writer = await door.wire(HALF[0], "Expect: 100-continue", *HALF[1:], token=ADMIN)
                assert await answered(reader) == 100, "the door reads the body"
                writer.transport.abort()
            await door.idle()
        assert await door.ask(ADMIN) == 200
    assert [one for one in said if one["log_level"] == "error"] == []
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HTTP_HEADER_SECONDS", "0"),
        ("HTTP_BODY_SECONDS", "soon"),
        ("HTTP_STREAMS", "0"),
        ("HTTP_STREAMS", "65"),
        ("HTTP_RATE", "-1"),
        ("HTTP_RATE", "many"),
        ("HTTP_CONNECTIONS", "0"),
        ("INSECURE", "1"),
        ("HTTP_TRUSTED_PROXIES", "proxy.example"),
        ("HTTP_TRUSTED_PROXIES", "10.0.0.1/8"),
        ("HTTP_TRUSTED_PROXIES", "10.0.0.1, 10.0.0.0/33"),
    ],
)
def test_a_limit_that_is_none_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"FAIRWAY_{name}"):
        from_environment({f"FAIRWAY_{name}": value})


def test_limits_are_settings() -> None:
    names = {"HEADER_SECONDS": "3", "BODY_SECONDS": "4", "STREAMS": "5", "RATE": "6", "CONNECTIONS": "7"}
    read = from_environment({f"FAIRWAY_HTTP_{name}": value for name, value in names.items()})
    assert read.limits == HttpLimits(3, 4, 5, 6, 7)
    assert from_environment({}).limits == HttpLimits(10, 30, 8, 20, 1_000)


def test_proxies_are_a_setting() -> None:
    assert from_environment({}).http_proxies == ()
    given = "10.0.0.7, 10.2.0.0/16,fd00::/8"
    proxies = from_environment({"FAIRWAY_HTTP_TRUSTED_PROXIES": given}).http_proxies
    assert [str(one) for one in proxies] == ["10.0.0.7/32", "10.2.0.0/16", "fd00::/8"]
