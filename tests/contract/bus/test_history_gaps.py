"""A reader of the record misses nothing: what was on its way when a connection ended, or went elsewhere, is read again.
Nothing is acknowledged by such a reader, so the server holds for delivered what it has once sent."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import cast
from urllib.parse import urlsplit

import msgspec
import pytest

from fairway.adapters.nats.bus import NatsBus
from fairway.runtime.ports import Bus, Delivery, Outgoing
from tests.support.twins import opened_bus

KINDS = ("nats", "nats without internals")


class Line:
    """Stands between a client and a server. `cut` lets the client read nothing more, `mend` ends its connections, and
    the next ones are whole."""

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._cut = False
        self._open: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.swallowed = asyncio.Event()

    async def joined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(self._host, self._port)
        self._open += [writer, back]
        for task in (self._carry(reader, back, False), self._carry(there, writer, True)):
            self._tasks.add(asyncio.create_task(task))

    async def _carry(self, source: asyncio.StreamReader, to: asyncio.StreamWriter, down: bool) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65_536):
                if down and self._cut:
                    if b"$JS.ACK" in data:
                        self.swallowed.set()
                    continue
                to.write(data)
        to.close()

    def cut(self) -> None:
        self._cut = True

    def mend(self) -> None:
        self._cut = False
        for writer in self._open:
            writer.close()
        self._open.clear()

    def end(self) -> None:
        self.mend()
        for task in self._tasks:
            task.cancel()


@contextlib.asynccontextmanager
async def line_to(url: str) -> AsyncIterator[tuple[str, Line]]:
    at = urlsplit(url)
    line = Line(at.hostname or "", at.port or 0)
    server = await asyncio.start_server(line.joined, "127.0.0.1", 0)
    yield f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}", line
    line.end()
    server.close()


def events(*numbers: int) -> list[Outgoing]:
    """They travel in bundles."""
    return [Outgoing(f"g-{n}", "fairway.job.queue.gap", b"%d" % n, "fairway.job", order=f"job-{n}") for n in numbers]


def reading(bus: Bus, **how: bool) -> AsyncGenerator[Delivery, None]:
    return cast(AsyncGenerator[Delivery, None], bus.history("JOBS", ["fairway.job.queue.gap"], **how))


async def heard(record: AsyncGenerator[Delivery, None], count: int) -> list[str]:
    async with asyncio.timeout(10):
        return [(await anext(record)).id for _ in range(count)]


@pytest.mark.parametrize("last", [False, True], ids=["of all", "of the newest of each subject, and then of all"])
@pytest.mark.parametrize("kind", KINDS)
async def test_what_was_on_its_way_when_the_connection_ended_is_read_again_and_nothing_twice(
    nats_url: str, kind: str, last: bool
) -> None:
    async with opened_bus(kind, nats_url) as other, line_to(nats_url) as (url, line):
        bus = await NatsBus.connect(url, "reader", bulk=kind == "nats")
        await other.publish(events(0))
        record = reading(bus, live=True, last=last)
        assert await heard(record, 2) == ["g-0", ""]
        await other.publish(events(1, 2, 3))
        assert await heard(record, 3) == ["g-1", "g-2", "g-3"]
        line.cut()
        await other.publish(events(4, 5))
        await asyncio.wait_for(line.swallowed.wait(), 10)
        line.mend()
        assert await heard(record, 2) == ["g-4", "g-5"]
        await other.publish(events(6))
        assert await heard(record, 1) == ["g-6"]
        await record.aclose()
        await bus.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_past_that_is_read_while_the_connection_ends_comes_whole_and_then_ends(
    nats_url: str, kind: str
) -> None:
    """As a rebuild reads it. There is more of it than a reader asks for ahead."""
    async with opened_bus(kind, nats_url) as other, line_to(nats_url) as (url, line):
        bus = await NatsBus.connect(url, "reader", bulk=kind == "nats")
        await other.publish([Outgoing(f"g-{n}", "fairway.job.queue.gap", b"{}") for n in range(1_500)])
        record = reading(bus)
        found = await heard(record, 1)
        line.cut()
        rest = asyncio.create_task(_ids(record))
        await asyncio.wait_for(line.swallowed.wait(), 10)
        line.mend()
        found += await asyncio.wait_for(rest, 20)
        assert found == [f"g-{n}" for n in range(1_500)]
        await bus.close()


async def _ids(record: AsyncGenerator[Delivery, None]) -> list[str]:
    return [one.id async for one in record]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_message_that_did_not_arrive_is_noticed_by_the_next_one(nats_url: str, kind: str) -> None:
    """As where a client gives up messages because it is too slow: another one takes one of this reader's."""
    async with opened_bus(kind, nats_url) as bus:
        assert isinstance(bus, NatsBus)
        record = reading(bus, live=True)
        assert await heard(record, 1) == [""]
        every = await bus.client.jetstream().consumers_info("JOBS")
        (consumer,) = [one for one in every if one.config.durable_name is None]
        thief = await bus.client.subscribe(inbox := bus.client.new_inbox())
        ask = f"$JS.API.CONSUMER.MSG.NEXT.JOBS.{consumer.name}"
        await bus.client.publish(ask, msgspec.json.encode({"batch": 1, "expires": 20 * 10**9}), reply=inbox)
        await bus.client.flush()
        for numbers in ((1, 2), (3, 4), (5, 6)):
            await bus.publish(events(*numbers))
        assert b"," in (await thief.next_msg(5)).data, "a whole bundle went elsewhere"
        assert await heard(record, 6) == [f"g-{number}" for number in range(1, 7)]
        await record.aclose()
