"""Messages that anybody may have published byte by byte: each is one that cannot be read, and its neighbours arrive."""

import asyncio
import random
import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.nats.bundle import delivered
from fairway.adapters.nats.connection import Arrived
from fairway.adapters.system_clock import SystemClock
from fairway.domain.decision import NOTHING, Decision, Heard
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Bus, Delivery, Outgoing, World
from fairway.runtime.record.rebuild import rebuild
from fairway.runtime.service import Consumer, Service
from fairway.runtime.views.jobs import JobsMemory
from fairway.wire import fleet, subjects
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from tests.support.raw_client import block, raw_client
from tests.support.twins import consumed, made_for, opened_bus, said

GOOD = msgspec.json.encode(wire.Queue(job="a", tenant="odd", queue="q"))
SUBJECT = b"fairway.job.queue.odd"
FAULTS = {
    "an id that is no text": (SUBJECT, block(b"Nats-Msg-Id: \xff")),
    "an id that moves the cursor": (SUBJECT, block(b"Nats-Msg-Id: a\x1b[2J")),
    "an id without an end": (SUBJECT, block(b"Nats-Msg-Id: " + b"x" * 20_000)),
    "two ids": (SUBJECT, block(b"Nats-Msg-Id: one-id", b"Nats-Msg-Id: another")),
    "two bundles": (SUBJECT, block(b"Fairway-Bundle: a b", b"Fairway-Bundle: c")),
    "a bundle that is no text": (SUBJECT, block(b"Fairway-Bundle: \xff\xfe")),
    "a subject that is no text": (b"fairway.job.queue.\xff", b""),
}
SOUND = {
    "many headers": block(*(b"X-%d: %b" % (number, b"y" * 60) for number in range(900))),
    "a header of another that is no text": block(b"X-\xff: \xff"),
    "a status of a server's": b"NATS/1.0 503\r\n\r\n",
    "headers that are none": b"\r\n",
    "no end": b"NATS/1.0\r\nNats-Msg-Id: cut",
    "a bundle of nothing": block(b"Fairway-Bundle: a b c"),
}
WIRES = pytest.mark.parametrize("wire_of", ["nats", "nats without internals"])


async def read(bus: Bus, count: int) -> list[Delivery]:
    source = await consumed(bus, "JOBS", "odd", ("fairway.job.queue.>",))
    found: list[Delivery] = []
    async with asyncio.timeout(10):
        while len(found) < count:
            found += await source.batch(100)
    source.ack(found)
    await source.close()
    return found


@WIRES
async def test_what_cannot_be_read_arrives_without_data_among_its_neighbours(nats_url: str, wire_of: str) -> None:
    async with opened_bus(wire_of, nats_url) as bus, raw_client(nats_url) as raw:
        await bus.publish([said("before", 1)])
        for subject, headers in FAULTS.values():
            await raw.publish(subject, GOOD, headers)
        for headers in SOUND.values():
            await raw.publish(SUBJECT, GOOD, headers)
        await bus.publish([said("behind", 1)])
        found = await read(bus, 2 + len(FAULTS) + len(SOUND))
        odd = found[1 : 1 + len(FAULTS)]
        assert [found[0].id, found[-1].id] == ["before-1", "behind-1"]
        assert all(one.fault and one.data == b"" for one in odd), [one.fault for one in odd]
        assert not any(one.fault for one in (found[0], found[-1]))
        started = time.monotonic()
        past = [one async for one in bus.history("JOBS")]
        assert (len(past), time.monotonic() - started < 20) == (len(found), True)
        for one in found:
            assert await bus.fetch("JOBS", one.sequence) in (GOOD, one.data)


@WIRES
async def test_each_is_one_dead_letter_and_the_jobs_around_it_are_heard(nats_url: str, wire_of: str) -> None:
    name = wire_of.replace(" ", "-")
    heard = list[str]()

    def decide(view: JobsMemory, one: Heard, now: int) -> Decision:
        heard.append(one.id)
        return NOTHING

    async with opened_bus(wire_of, nats_url) as bus, raw_client(nats_url) as raw:
        consumer = Consumer(subjects.JOBS, "hostile", ("fairway.job.queue.>",), msgspec.json.Decoder(wire.Queue))
        world = World(bus, MemoryStore(), SystemClock(), "me")
        service = Service(name, (consumer,), decide, JobsMemory)
        await made_for(bus, service)
        loop = asyncio.create_task(Loop(service, world, Meter()).run())
        await bus.publish([Outgoing("first", SUBJECT.decode(), GOOD)])
        for subject, headers in FAULTS.values():
            await raw.publish(subject, GOOD, headers)
        await bus.publish([Outgoing("last", SUBJECT.decode(), GOOD)])
        async with asyncio.timeout(10):
            while "last" not in heard:
                await asyncio.sleep(0.02)
        letters = [
            msgspec.json.decode(one.data, type=fleet.DeadLetter)
            async for one in bus.history("DLQ", (subjects.dead_letter(name),))
        ]
        loop.cancel()
    assert heard == ["first", "last"]
    assert [one.why.code for one in letters] == [Code.UNDECODABLE] * len(FAULTS)
    assert len({one.sequence for one in letters}) == len(FAULTS)


@WIRES
async def test_what_is_no_message_of_a_stream_is_passed_over_by_its_reader(nats_url: str, wire_of: str) -> None:
    """Who knows the inbox of a reader can write to it."""
    async with opened_bus(wire_of, nats_url) as bus, raw_client(nats_url) as raw:
        source = await consumed(bus, "JOBS", "inbox", ("fairway.job.queue.>",))
        inbox = source._requests.inbox.encode()  # type: ignore[attr-defined]  # of a NatsSource
        for reply in (b"$JS.ACK", b"$JS.ACK.a.b", b"$JS.ACK.a.b.c.d.e.f.g", b"$JS.ACK.\xff.b.1.1.1.1.1", b"elsewhere"):
            await raw.publish(inbox, b"[]", block(b"Fairway-Bundle: a"), reply)
        await raw.publish(inbox, b"", b"NATS/1.0 \xff\r\n\r\n")
        await bus.publish([said("behind", 1)])
        async with asyncio.timeout(10):
            assert [one.id for one in await source.batch(10)] == ["behind-1"]
        await source.close()


async def test_a_rebuild_passes_over_what_stands_where_rebuilds_are_told(nats_url: str) -> None:
    """Every service reads that place when it starts."""
    async with opened_bus("nats", nats_url) as bus, raw_client(nats_url) as raw:
        await raw.publish(subjects.job("rebuild", "").encode(), b"no rebuild", block(b"Nats-Msg-Id: \xff"))
        store = MemoryStore()
        await store.open()
        assert await store.begin_rebuild("me", 10_000)
        async with asyncio.timeout(10):
            assert await rebuild(bus, store, "me") == 0


@WIRES
async def test_a_reader_goes_on_whatever_bytes_come(nats_url: str, wire_of: str) -> None:
    """Two hundred blocks of random bytes, among which a message of ours."""
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    rng = random.Random(seed)
    async with opened_bus(wire_of, nats_url) as bus, raw_client(nats_url) as raw:
        for _ in range(200):
            words = [b"Nats-Msg-Id: ", b"Fairway-Bundle: ", b"\r\n", b": ", b"\xff", b"a b", rng.randbytes(3)]
            headers = b"NATS/1.0" + b"".join(rng.choices(words, k=rng.randrange(9))) + b"\r\n\r\n"
            await raw.publish(SUBJECT, rng.choice((b"", b"[1,2]", b"\xff", GOOD)), headers)
        await bus.publish([said("behind", 1)])
        seen = [one.id async for one in bus.history("JOBS")]
        assert seen[-1] == "behind-1"
        source = await consumed(bus, "JOBS", "fuzz", ("fairway.job.queue.>",))
        found: list[str] = []
        async with asyncio.timeout(10):
            while "behind-1" not in found:
                found += [one.id for one in await source.batch(100)]
        await source.close()


@given(st.binary(max_size=200), st.binary(max_size=40), st.binary(max_size=60), st.binary(max_size=60))
def test_an_arrival_of_any_bytes_is_read(headers: bytes, subject: bytes, rest: bytes, data: bytes) -> None:
    for reply in (b"$JS.ACK.JOBS.queue.1.77.5.1234.9", b"$JS.ACK." + rest):
        for block_of in (headers, b"NATS/1.0\r\nFairway-Bundle: " + headers, b"NATS/1.0\r\nNats-Msg-Id: " + headers):
            for one in delivered(Arrived(subject, reply, block_of, data)):
                assert one.id.isprintable() and (not one.fault or one.data == b"")
