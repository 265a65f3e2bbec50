"""What no bus would ever store is a dead letter, and everybody else's words go on; a bus that is away is waited for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from nats.js.api import DiscardPolicy

from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.system_clock import SystemClock
from fairway.domain.decision import Decision, Heard, Say, Step
from fairway.domain.events import message_id
from fairway.lab.processes.embedded_servers import nats_server
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Bus, Commit, Outgoing, Unreachable, Wanted, World
from fairway.runtime.publishing import Publishing
from fairway.runtime.record.publishable import Unsayable
from fairway.runtime.service import Consumer, Service
from fairway.runtime.views.jobs import JobsMemory
from fairway.wire import fleet, subjects
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason
from tests.support.twins import BUSES, made_for, opened_bus

LARGEST = 8 << 20
GOOD = Outgoing("good", "fairway.job.queue.good", b"{}")
BAD = {
    "a subject with a line feed": Outgoing("b1", "fairway.job.queue.a\n", b"{}"),
    "a subject with a space": Outgoing("b2", "fairway.job.queue.a b", b"{}"),
    "a subject with a wildcard": Outgoing("b3", "fairway.job.queue.*", b"{}"),
    "a subject with an empty word": Outgoing("b4", "fairway.job..a", b"{}"),
    "a subject without end": Outgoing("b5", f"fairway.job.queue.{'a' * 5_000}", b"{}"),
    "half a character": Outgoing("b6", "fairway.job.queue.\ud800", b"{}"),
    "no stream's": Outgoing("b7", "fairway.elsewhere.a", b"{}"),
    "an id with a line feed": Outgoing("b8\r\nX: y", "fairway.job.queue.a", b"{}"),
    "an id without end": Outgoing("b9" * 9_000, "fairway.job.queue.a", b"{}"),
    "a kind that is no header": Outgoing("b10", "fairway.job.queue.a", b"{}", kind="a\nb"),
    "larger than the server takes": Outgoing("b11", "fairway.job.queue.a", b"x" * (LARGEST + 1)),
    "larger only with its headers": Outgoing("b12", "fairway.job.queue.a", b"x" * (LARGEST - 10)),
}


@pytest.fixture(params=BUSES)
async def bus(request: pytest.FixtureRequest, nats_url: str) -> AsyncIterator[Bus]:
    async with opened_bus(request.param, nats_url) as opened:
        yield opened


async def record(bus: Bus) -> list[str]:
    return [one.id async for one in bus.history("JOBS")]


async def letters(bus: Bus, service: str) -> list[fleet.DeadLetter]:
    past = bus.history("DLQ", (subjects.dead_letter(service),))
    return [msgspec.json.decode(one.data, type=fleet.DeadLetter) async for one in past]


async def test_of_a_batch_those_that_cannot_be_said_are_named_and_all_others_are_stored(bus: Bus) -> None:
    behind = Outgoing("behind", "fairway.job.queue.good", b"{}", order="j")
    async with asyncio.timeout(20):
        with pytest.raises(Unsayable) as caught:
            await bus.publish([GOOD, *BAD.values(), behind], tries=1)
    assert [one.message for one in caught.value.refused] == list(BAD.values())
    assert {one.why.code for one in caught.value.refused} == {Code.UNSAYABLE}
    assert [one.message.id for one in caught.value.refused if one.too_large] == ["b11", "b12"]
    assert await record(bus) == ["good", "behind"]


async def test_whoever_insists_says_the_rest_and_one_letter_for_each(bus: Bus, request: pytest.FixtureRequest) -> None:
    service = message_id("insists", request.node.name)
    saying = Publishing(service, World(bus, MemoryStore(), SystemClock(), "me"))
    async with asyncio.timeout(20):
        await saying.insist([*BAD.values(), GOOD])
    kept = await letters(bus, service)
    assert await record(bus) == ["good"]
    assert sorted(one.size for one in kept) == sorted(len(one.data) for one in BAD.values())
    assert all(one.why.code is Code.UNSAYABLE and len(one.data) <= 4_096 and one.sha256 for one in kept)
    assert (saying.waiting, len({one.sha256 + one.id for one in kept})) == ("", len(BAD))


async def test_a_letter_that_is_too_large_keeps_the_beginning_of_what_it_holds(
    bus: Bus, request: pytest.FixtureRequest
) -> None:
    """Base64 makes a message a third longer: of one that the server just takes no letter can hold all."""
    service = message_id("large", request.node.name)
    why = Reason(Code.UNDECODABLE, "odd")
    letter = fleet.DeadLetter(service=service, subject="s", why=why, data=b"x" * (LARGEST - 1_000))
    data = msgspec.json.encode(letter)
    saying = Publishing(service, World(bus, MemoryStore(), SystemClock(), "me"))
    async with asyncio.timeout(20):
        await saying.insist([Outgoing(service, subjects.dead_letter(service), data, "fairway.dlq"), GOOD])
    (kept,) = await letters(bus, service)
    assert (kept.size, kept.data, kept.why.code) == (LARGEST - 1_000, b"x" * 4_096, Code.UNDECODABLE)
    assert await record(bus) == ["good"]


def talker(name: str) -> Service:
    """Says twice what it heard: once well, and once where nothing can be said."""

    def decide(view: JobsMemory, heard: Heard, now: int) -> Decision:
        message = wire.Cancel(job=heard.message.job, tenant="t")
        good = Say(f"{heard.id}-good", "fairway.job.recall.t", message)
        bad = Say(f"{heard.id}-bad", "fairway.job.recall.t\n", message)
        return Decision((Step(events=(bad, good) if heard.id == "poison" else (good,)),))

    consumer = Consumer(subjects.JOBS, name, ("fairway.job.cancel.>",), msgspec.json.Decoder(wire.Cancel))
    return Service(name, (consumer,), decide, JobsMemory)


@asynccontextmanager
async def running(service: Service, world: World) -> AsyncIterator[Loop]:
    await made_for(world.bus, service)
    loop = Loop(service, world, Meter())
    task = asyncio.create_task(loop.run())
    yield loop
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def said_in_time(bus: Bus, name: str) -> None:
    async with asyncio.timeout(20):
        while not any(one.startswith(f"{name}-good") for one in await record(bus)):
            await asyncio.sleep(0.05)


def cancels(*names: str) -> list[Outgoing]:
    data = msgspec.json.encode(wire.Cancel(job="j", tenant="t"))
    return [Outgoing(name, "fairway.job.cancel.t", data) for name in names]


async def test_a_stage_that_decided_what_cannot_be_said_goes_on(bus: Bus, request: pytest.FixtureRequest) -> None:
    name = message_id("stage", request.node.name)
    store = MemoryStore()
    async with running(talker(name), World(bus, store, SystemClock(), "me")) as loop:
        await bus.publish(cancels("poison", "next"))
        await said_in_time(bus, "poison")
        await bus.publish(cancels("later"))
        await said_in_time(bus, "later")
        assert loop.ready
    (letter,) = await letters(bus, name)
    assert (letter.why.code, letter.subject) == (Code.UNSAYABLE, "fairway.job.recall.t\n")
    assert len((await store.read(Wanted(whole=(f"outbox/{name}",)))).whole.get(f"outbox/{name}", {})) <= 1


async def test_what_a_crashed_instance_left_that_cannot_be_said_stops_no_later_one(
    bus: Bus, request: pytest.FixtureRequest
) -> None:
    name = message_id("crashed", request.node.name)
    store = MemoryStore()
    await store.open()
    assert await store.begin_rebuild("x", 1_000)
    await store.finish_rebuild("e")
    left = msgspec.msgpack.encode([BAD["a subject with a line feed"], GOOD])
    await store.commit(Commit((Step(),), f"outbox/{name}", "dead.1", (left,)))
    assert (await store.read(Wanted(whole=(f"outbox/{name}",)))).whole[f"outbox/{name}"]
    async with running(talker(name), World(bus, store, SystemClock(), "me")):
        await bus.publish(cancels("later"))
        await said_in_time(bus, "later")
    assert len(await letters(bus, name)) == 1
    assert "dead.1" not in (await store.read(Wanted(whole=(f"outbox/{name}",)))).whole.get(f"outbox/{name}", {})


def large(name: str) -> Outgoing:
    return Outgoing(name, "fairway.job.queue.f", b"x" * 9_000)


@pytest.mark.parametrize("bulk", [True, False], ids=["nats", "nats without internals"])
async def test_a_stream_that_is_full_is_away_and_readiness_says_so_until_it_has_room(
    tmp_path: Path, bulk: bool
) -> None:
    async with await nats_server(tmp_path) as server:
        bus = await NatsBus.connect(server.url, "full", bulk)
        await bus.provision()
        config = (await bus.client.jetstream().stream_info("JOBS")).config
        config.discard = DiscardPolicy.NEW
        config.max_bytes = 100_000
        await bus.client.jetstream().update_stream(config)
        async with running(talker("full"), World(bus, MemoryStore(), SystemClock(), "me")) as loop:
            await bus.publish(cancels("first"))
            await said_in_time(bus, "first")
            with pytest.raises(Unreachable, match="maximum bytes exceeded"):
                await bus.publish([large(f"fills-{number}") for number in range(20)], tries=1)
            async with asyncio.timeout(20):
                waiting = asyncio.create_task(loop.outbox.saying.insist([large("waits")]))
                while loop.ready:
                    await asyncio.sleep(0.05)
                assert "maximum bytes exceeded" in loop.waiting
                config.max_bytes = 400_000
                await bus.client.jetstream().update_stream(config)
                await waiting
            assert loop.ready
            assert [one async for one in bus.history("DLQ")] == []
        await bus.close()


async def test_what_a_stream_refuses_for_its_size_is_a_letter_and_a_bundle_of_it_is_taken_apart(tmp_path: Path) -> None:
    async with await nats_server(tmp_path) as server:
        bus = await NatsBus.connect(server.url, "sizes")
        await bus.provision()
        config = (await bus.client.jetstream().stream_info("JOBS")).config
        config.max_msg_size = 2_000
        await bus.client.jetstream().update_stream(config)
        words = [
            Outgoing(f"w{n}", "fairway.job.queue.f", b'"%b"' % (b"x" * size), "k", "s", "j")
            for n, size in enumerate((900, 3_000, 900, 900))
        ]
        with pytest.raises(Unsayable, match="message size exceeds maximum allowed") as caught:
            await bus.publish(words, tries=1)
        assert [one.message.id for one in caught.value.refused] == ["w1"]
        assert sorted(await record(bus)) == ["w0", "w2", "w3"]
        await bus.close()


async def test_a_server_that_takes_little_gets_bundles_that_it_takes(tmp_path: Path) -> None:
    """More than its max_payload, and it would end the connection of all who speak over it."""
    async with await nats_server(tmp_path, max_payload=20_000) as server:
        bus = await NatsBus.connect(server.url, "small")
        await bus.provision()
        words = [
            Outgoing(f"w{n}", "fairway.job.queue.f", b'"%b"' % (b"x" * 900), "k", "s", f"j{n}") for n in range(100)
        ]
        exact = Outgoing("exact", "fairway.job.queue.f", b"x" * 19_900)
        with pytest.raises(Unsayable):
            await bus.publish([*words, exact], tries=1)
        assert await record(bus) == [one.id for one in words]
        assert bus.client.stats["reconnects"] == 0
        await bus.close()
