"""The bulk parser reads what the server writes, however the bytes are cut, and leaves to nats-py what is nats-py's."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.nats.connection import Arrived, BulkParser
from fairway.lab.processes.embedded_servers import nats_server
from fairway.runtime.ports import Outgoing, Unreachable
from fairway.runtime.record.publishable import Unsayable

HEADERS = b"NATS/1.0\r\nNats-Msg-Id: abc\r\nce-type: x\r\n\r\n"
SCRIPT = (
    b'INFO {"a":1}\r\n'
    b"MSG fairway.a 1 5\r\nhello\r\n"
    b"PING\r\n"
    + b"HMSG fairway.b 1 $JS.ACK.S.c.1.2.3.4.5 %d %d\r\n" % (len(HEADERS), len(HEADERS) + 9)
    + HEADERS
    + b"MSG 1 2\r\n\r\n"
    + b"MSG other 22 reply.to 0\r\n\r\n"
    + b"-ERR 'no'\r\n"
    + b"HMSG fairway.c 1 26 26\r\nNATS/1.0 408 Timed Out\r\n\r\n\r\n"
)
WANT = [
    Arrived(b"fairway.a", b"", b"", b"hello"),
    Arrived(b"fairway.b", b"$JS.ACK.S.c.1.2.3.4.5", HEADERS, b"MSG 1 2\r\n"),
    Arrived(b"fairway.c", b"", b"NATS/1.0 408 Timed Out\r\n\r\n", b""),
]


class Stock:
    """Stands where nats-py's client and its parser stand, and notes what they are given."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.messages: list[tuple[int, bytes, bytes]] = []

    def reset(self) -> None:
        self.lines.clear()

    async def parse(self, data: bytes = b"") -> None:
        self.lines.append(data)

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        self.messages.append((sid, subject, reply))


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 16, 61, 10_000], ids=lambda size: f"read {size} bytes at a time")
async def test_messages_are_read_whole_however_the_bytes_are_cut(piece: int) -> None:
    stock = Stock()
    heard = list[Arrived]()
    parser = BulkParser(stock, stock)  # type: ignore[arg-type]  # as much of a client as the parser uses
    parser.hearers[b"1"] = heard.extend
    for start in range(0, len(SCRIPT), piece):
        await parser.parse(SCRIPT[start : start + piece])
    assert heard == WANT
    assert stock.lines == [b'INFO {"a":1}\r\n', b"PING\r\n", b"-ERR 'no'\r\n"]
    assert stock.messages == [(22, b"other", b"reply.to")]


async def test_a_new_connection_voids_what_was_half_read() -> None:
    stock = Stock()
    heard = list[Arrived]()
    parser = BulkParser(stock, stock)  # type: ignore[arg-type]  # as much of a client as the parser uses
    parser.hearers[b"1"] = heard.extend
    await parser.parse(b"MSG fairway.a 1 500\r\nhel")
    parser.reset()
    await parser.parse(b"MSG fairway.a 1 5\r\nhello\r\n")
    assert heard == WANT[:1]


def test_states_are_found_in_the_headers() -> None:
    assert [one.status for one in WANT] == ["", "", "408"]


@pytest.mark.parametrize("name", ["two words", "line\r\nbreak", "", "ümlaut"])
async def test_an_id_that_would_break_the_header_is_refused_before_anything_is_written(
    nats_url: str, name: str
) -> None:
    bus = await NatsBus.connect(nats_url, "wire")
    with pytest.raises(Unsayable, match="message's id"):
        await bus.publish([Outgoing(name, "fairway.job.queue.x", b"{}")])
    await bus.close()


async def test_what_could_not_be_said_while_the_bus_was_away_is_not_said_by_itself_when_it_is_back(
    tmp_path: Path,
) -> None:
    """Whoever wanted to say it is told so, and by then it may not be true any more."""
    async with await nats_server(tmp_path) as server:
        bus = await NatsBus.connect(server.url, "wire")
        await bus.provision()
        os.kill(server.pid, signal.SIGSTOP)  # it takes the message and never gets to it
        saying = asyncio.create_task(bus.publish([Outgoing("cut", "fairway.job.queue.x", b"{}")], tries=1))
        await asyncio.sleep(0)
        server.kill()
        with pytest.raises(Unreachable):
            await saying
        waiting = asyncio.create_task(bus.publish([Outgoing("away", "fairway.job.queue.x", b"{}")], tries=1))
        await server.restart()
        with pytest.raises(Unreachable):
            await waiting
        await bus.publish([Outgoing("back", "fairway.job.queue.x", b"{}")])
        assert [one.id async for one in bus.history("JOBS")] == ["back"]
        await bus.close()


async def test_a_message_of_megabytes_arrives_whole(nats_url: str) -> None:
    bus = await NatsBus.connect(nats_url, "wire")
    await bus.provision()
    large = bytes(range(256)) * 8_000
    await bus.publish([Outgoing("large", "fairway.job.queue.large", large)])
    (got,) = [one.data async for one in bus.history("JOBS", ["fairway.job.queue.large"])]
    assert got == large
    await bus.close()
