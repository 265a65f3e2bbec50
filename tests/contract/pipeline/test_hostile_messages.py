"""Poison on the bus of real servers: each is a dead letter or a refusal of its own, and every later job goes on."""

import asyncio

import msgspec

from fairway.runtime.ports import Outgoing
from fairway.wire import fleet, subjects
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code
from tests.contract.pipeline.test_flood import catalog, pipeline, said_of, submission
from tests.support.raw_client import block, raw_client
from tests.support.twins import opened_bus

TENANTS = ("team-data\n", "team data", "a.b", ">", "", "\x00", "ü" * 400)


async def test_what_is_poison_on_the_bus_stops_no_later_job(nats_url: str, valkey_url: str) -> None:
    async with (
        asyncio.timeout(60),
        opened_bus("nats", nats_url) as bus,
        raw_client(nats_url) as raw,
        pipeline(bus, valkey_url, catalog(), "{poison}"),
    ):
        good = submission("team-b", 0)
        known = [one.sequence async for one in bus.history("DLQ")]
        for number, tenant in enumerate(TENANTS):
            message = msgspec.structs.replace(msgspec.json.decode(good.data, type=wire.Submitted), tenant=tenant)
            data = msgspec.json.encode(message)
            await bus.publish([Outgoing(f"own-{number}", subjects.job("submitted", tenant), data)])
            await bus.publish([Outgoing(f"other-{number}", "fairway.job.submitted.team-data", data)])
        await raw.publish(b"fairway.job.submitted.team-data", good.data, block(b"Nats-Msg-Id: \xff"))
        await raw.publish(b"fairway.job.submitted.\xff", good.data)
        await raw.publish(b"fairway.job.submitted.large", b"x" * ((8 << 20) - 200), block(b"Nats-Msg-Id: large"))
        # Under the id that the next submission will have.
        await raw.publish(b"fairway.job.cancel.team-a", b"{}", block(b"Nats-Msg-Id: " + good.id.encode()))
        await bus.publish([good])
        await said_of(bus, "dispatched", "team-b")
        past = bus.history("DLQ", (subjects.dead_letter("admission"),), start=max(known, default=0) + 1)
        letters = [msgspec.json.decode(one.data, type=fleet.DeadLetter) async for one in past]
    codes = [one.why.code for one in letters]
    assert codes == [Code.WRONG_SUBJECT] * len(TENANTS) + [Code.UNDECODABLE] * 3
    assert (letters[-1].size, len(letters[-1].data)) == ((8 << 20) - 200, 4_096)
