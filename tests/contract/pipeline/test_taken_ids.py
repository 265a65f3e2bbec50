"""Who chooses another's message id keeps nothing from being stored; what is said once more is stored once."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest
import structlog

from fairway.adapters.nats.bundle import bundled
from fairway.adapters.nats.bus import NatsBus
from fairway.runtime.ports import Bus, Outgoing
from tests.support.raw_client import block, raw_client
from tests.support.twins import BUSES, opened_bus, said

OURS = Outgoing("coming", "fairway.job.submitted.team-a", b'{"type":"submitted","at":1,"tenant":"team-a"}')
TAKEN = {
    "nothing, elsewhere": Outgoing("coming", "fairway.job.cancel.team-b", b"{}"),
    "the same words, elsewhere": Outgoing("coming", "fairway.job.submitted.team-b", OURS.data),
    "other words, in its place": Outgoing("coming", OURS.subject, b'{"type":"submitted","at":1,"tenant":"team-b"}'),
    "no words at all": Outgoing("coming", OURS.subject, b""),
}


@pytest.fixture(params=BUSES)
async def bus(request: pytest.FixtureRequest, nats_url: str) -> AsyncIterator[Bus]:
    async with opened_bus(request.param, nats_url) as opened:
        yield opened


async def stored(bus: Bus, message: Outgoing = OURS) -> list[bytes]:
    return [one.data async for one in bus.history("JOBS", (message.subject,)) if one.data == message.data]


@pytest.mark.parametrize("taken", TAKEN.values(), ids=list(TAKEN))
async def test_a_message_whose_id_is_taken_is_stored_under_another(bus: Bus, taken: Outgoing) -> None:
    with structlog.testing.capture_logs() as lines:
        await bus.publish([taken])
        await bus.publish([OURS], tries=1)
        await bus.publish([OURS], tries=1)  # its acknowledgement was lost
    assert await stored(bus) == [OURS.data]
    if not isinstance(bus, NatsBus):
        return
    assert {(one["event"], one["message_id"]) for one in lines} == {("another message has its id", "coming")}


async def test_a_message_said_again_at_another_time_is_the_same(bus: Bus) -> None:
    """Two gateways see one object of the hub, each at its own time."""
    later = Outgoing(OURS.id, OURS.subject, OURS.data.replace(b'"at":1', b'"at":2'))
    await bus.publish([OURS])
    await bus.publish([later])
    assert len([one async for one in bus.history("JOBS")]) == 1


async def test_an_object_of_the_hub_is_submitted_once_whatever_its_policies_have_become(bus: Bus) -> None:
    one, other = (
        Outgoing("hub", OURS.subject, b'{"type":"submitted","hub":{"uid":"u"},"client":"hub:u","manifest":%d}' % number)
        for number in (1, 2)
    )
    foreign = Outgoing("hub", OURS.subject, b'{"type":"submitted","hub":{"uid":"v"},"client":"hub:v","manifest":1}')
    await bus.publish([one])
    await bus.publish([other])
    assert len([found async for found in bus.history("JOBS")]) == 1
    await bus.publish([foreign])
    assert len([found async for found in bus.history("JOBS")]) == 2


async def test_of_a_batch_only_what_is_not_there_is_stored(bus: Bus) -> None:
    words = [said("t", number) for number in range(300)]
    await bus.publish(words[:250])
    await bus.publish([Outgoing("t-260", "fairway.job.cancel.x", b"{}")])
    await bus.publish(words, tries=1)
    past = [msgspec.json.decode(one.data)["n"] async for one in bus.history("JOBS", (words[0].subject,))]
    assert sorted(past) == list(range(300))


async def test_a_bundle_whose_id_is_taken_arrives_with_all_its_messages(nats_url: str) -> None:
    words = [Outgoing(f"b-{n}", "fairway.job.queue.b", b'{"n":%d}' % n, "k", "s", f"j{n}") for n in range(5)]
    async with opened_bus("nats", nats_url) as bus, raw_client(nats_url) as raw:
        name = bundled(words)[0].id.encode()
        # An odd header besides, for whoever reads the message back.
        await raw.publish(b"fairway.job.queue.b", b"{}", block(b"Nats-Msg-Id: " + name, b"X: \xff", b"Status: 404"))
        await bus.publish(words, tries=1)
        past = [(one.id, one.data) async for one in bus.history("JOBS")]
        assert past[1:] == [(one.id, one.data) for one in words]


async def test_a_thousand_lost_acknowledgements_are_read_back_in_time(nats_url: str) -> None:
    async with opened_bus("nats", nats_url) as bus:
        words = [said("many", number) for number in range(1_000)]
        await bus.publish(words)
        async with asyncio.timeout(10):
            await bus.publish(words, tries=1)
        assert len([one async for one in bus.history("JOBS")]) == 1_000
