"""However much a stream holds, no more of it is on the way to a connection than its server lets wait there. A server
that has more for a client than `max_pending` ends the connection, and with it whatever else goes over it."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from nats.aio.msg import Msg

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.nats.headers import Guarded
from fairway.lab.processes.embedded_servers import nats_server
from fairway.runtime.ports import Delivery, Outgoing, Unreachable
from tests.support.twins import consumed

# A server lets eight of the largest messages wait for a client, here as in deploy/nats: a sixth of what is stored.
PAYLOAD = 256 << 10
MANY = 64
SUBJECT = "fairway.job.queue.bytes"


@contextlib.asynccontextmanager
async def small_server(dir: Path) -> AsyncIterator[tuple[str, NatsBus]]:
    async with await nats_server(dir, max_payload=PAYLOAD) as server:
        bus = await NatsBus.connect(server.url, "writer")
        await bus.provision()
        yield server.url, bus
        await bus.close()


def large(count: int, size: int = 200_000, subject: str = SUBJECT) -> list[Outgoing]:
    texts = [b"%06d" % n + bytes(size) for n in range(count)]
    return [Outgoing(f"l-{size}-{n}-{subject}", subject, text, "fairway.job") for n, text in enumerate(texts)]


async def stored(bus: NatsBus, messages: list[Outgoing]) -> None:
    for at in range(0, len(messages), 4):
        await bus.publish(messages[at : at + 4])


def cuts(bus: NatsBus) -> int:
    return bus.client.stats["reconnects"]


def reading(bus: NatsBus, *only: str, **how: bool) -> AsyncGenerator[Delivery, None]:
    return cast(AsyncGenerator[Delivery, None], bus.history("JOBS", only or [SUBJECT], **how))


async def held_up(bus: NatsBus) -> None:
    """The process does other things for a while, and reads nothing; then what it missed arrives."""
    for _ in range(5):
        await asyncio.sleep(0.05)
        time.sleep(0.2)  # noqa: ASYNC251  # the point of it: nothing of this process reads meanwhile
    await bus.client.flush()


@pytest.mark.parametrize("bulk", [True, False])
async def test_a_reader_of_the_past_who_is_held_up_is_not_cut_off(tmp_path: Path, bulk: bool) -> None:
    async with small_server(tmp_path) as (url, writer):
        await stored(writer, large(MANY))
        bus = await NatsBus.connect(url, "reader", bulk)
        past = reading(bus)
        first = await anext(past)
        await held_up(bus)
        seen = [first.data[:6], *[one.data[:6] async for one in past]]
        assert cuts(bus) == 0
        assert seen == [b"%06d" % n for n in range(MANY)]
        await bus.close()


async def test_many_readers_who_take_nothing_leave_room_for_each_other(tmp_path: Path) -> None:
    """As event streams of HTTP whose clients stand still."""
    async with small_server(tmp_path) as (url, writer):
        await stored(writer, large(MANY))
        bus = await NatsBus.connect(url, "readers")
        streams = [reading(bus, live=True) for _ in range(64)]
        for one in streams:
            assert (await anext(one)).data[:6] == b"000000"
        await held_up(bus)
        assert [one async for one in reading(bus, "fairway.job.queue.none")] == [], "others still read"
        assert cuts(bus) == 0
        for one in streams:
            await one.aclose()
        await bus.close()


async def test_a_service_with_a_backlog_that_is_held_up_is_not_cut_off(tmp_path: Path) -> None:
    async with small_server(tmp_path) as (url, writer):
        await stored(writer, large(MANY))
        bus = await NatsBus.connect(url, "service")
        source = await consumed(bus, "JOBS", "heavy", [SUBJECT])
        await held_up(bus)
        seen: list[bytes] = []
        while len(seen) < MANY:
            batch = await asyncio.wait_for(source.batch(64), 10)
            seen += [one.data[:6] for one in batch]
            source.ack(batch)
        assert cuts(bus) == 0
        assert seen == [b"%06d" % n for n in range(MANY)]
        await bus.close()


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("live", [False, True])
async def test_the_largest_message_there_can_be_is_read_in_its_place(tmp_path: Path, last: bool, live: bool) -> None:
    async with small_server(tmp_path) as (url, writer):
        sizes = [10, PAYLOAD - 512, 10, PAYLOAD - 512, PAYLOAD - 512, PAYLOAD // 8, 10, PAYLOAD // 16, 100_000, 10]
        for n, size in enumerate(sizes):
            await stored(writer, large(1, size, f"{SUBJECT}-{n}"))
        bus = await NatsBus.connect(url, "reader")
        past = reading(bus, "fairway.job.queue.>", last=last, live=live)
        seen = []
        while len(seen) < len(sizes):
            seen.append(len((await asyncio.wait_for(anext(past), 10)).data) - 6)
        assert seen == sizes
        await past.aclose()
        await bus.close()


async def test_of_messages_of_any_size_a_reader_asks_for_each_once(tmp_path: Path) -> None:
    """Asked for twice, the last one is waited for in vain, while readers beside it may not ask."""
    async with small_server(tmp_path) as (url, writer):
        for n in range(5):
            await stored(writer, large(1, 10, f"{SUBJECT}-{n}"))
        bus = await NatsBus.connect(url, "reader")
        asked = await writer.client.subscribe("$JS.API.CONSUMER.MSG.NEXT.JOBS.>")
        await writer.client.flush()
        past = reading(bus, "fairway.job.queue.>", last=True, live=True)
        seen = [(await asyncio.wait_for(anext(past), 10)).id for _ in range(6)]
        await asyncio.sleep(0.2)  # as long as another request would take
        requests = [msgspec.json.decode((await asked.next_msg()).data) for _ in range(asked.pending_msgs)]
        assert (seen[5], len([one for one in requests if one["batch"] == 1])) == ("", 5)
        await past.aclose()
        await bus.close()


class Counting(Guarded):
    """Knows how many answers were asked for at once."""

    now = most = 0

    async def request(self, *args: Any, **more: Any) -> Msg:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            return await super().request(*args, **more)
        finally:
            self.now -= 1


async def test_what_is_read_back_at_once_is_less_than_may_wait(tmp_path: Path) -> None:
    """As a gateway does whose acknowledgements of many submissions were lost."""
    async with small_server(tmp_path) as (url, writer):
        words = large(64, 100_000)
        await stored(writer, words)
        client = Counting()
        await client.connect(url)
        bus = NatsBus(client)
        await bus._publisher.open()
        await bus.publish(words, tries=1)
        assert 0 < client.most * 100_000 * 4 // 3 < 8 * PAYLOAD
        assert len([one async for one in reading(bus)]) == len(words), "each is stored once"
        await bus.close()


async def test_small_messages_behind_a_large_one_reach_a_service(tmp_path: Path) -> None:
    async with small_server(tmp_path) as (url, writer):
        bus = await NatsBus.connect(url, "service")
        source = await consumed(bus, "JOBS", "mixed", [SUBJECT])
        for n, size in enumerate((10, PAYLOAD - 512, 20, 30)):
            await stored(writer, large(1, size))
            (one,) = await asyncio.wait_for(source.batch(64), 5)
            assert (n, len(one.data)) == (n, size + 6)
            source.ack([one])
        await bus.close()


async def test_a_large_message_that_is_put_off_comes_again(tmp_path: Path) -> None:
    async with small_server(tmp_path) as (url, writer):
        await stored(writer, large(3, PAYLOAD - 512))
        bus = await NatsBus.connect(url, "service")
        source = await consumed(bus, "JOBS", "later", [SUBJECT])
        seen: list[tuple[bytes, int]] = []
        while len(seen) < 6:
            for one in await asyncio.wait_for(source.batch(64), 10):
                seen.append((one.data[:6], one.delivered))
                if one.delivered == 1:
                    source.later(one, 50)
                else:
                    source.ack([one])
        assert sorted(seen) == [(b"%06d" % n, times) for n in range(3) for times in (1, 2)]
        await bus.close()


async def test_readers_have_a_connection_of_their_own_and_nobody_else_loses_his_with_it(tmp_path: Path) -> None:
    async with small_server(tmp_path) as (url, _):
        own = await NatsBus.connect(url, "own")
        readers = await NatsBus.connect(url, "readers")
        bus = own.with_past_of(readers)
        await bus.publish(large(2, 10))
        assert len([one async for one in bus.history("JOBS", [SUBJECT])]) == 2
        assert await bus.fetch("JOBS", 1) == large(2, 10)[0].data
        await readers.client.close()
        with pytest.raises(Unreachable):
            await anext(aiter(bus.history("JOBS", [SUBJECT])))
        await bus.publish(large(3, 10))
        assert bus.connected
        await readers.close()
        await own.close()
