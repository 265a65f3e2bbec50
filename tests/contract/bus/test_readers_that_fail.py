"""A reader whose opening fails, or is given up, leaves nothing behind: no place that another could have, no task."""

import asyncio

import nats.errors
import pytest

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.nats.headers import Guarded
from fairway.runtime.ports import Outgoing
from tests.support.twins import opened_bus

# More than there are places for readers on one connection.
MANY = 130
SUBJECT = "fairway.job.queue.fails"


class Failing(Guarded):
    """Cannot send what it has to ask for messages: it raises `fails`, or waits for ever."""

    on = False
    fails: Exception | None = nats.errors.OutboundBufferLimitError()

    async def publish(self, subject: str, *args: object, **more: object) -> None:
        if self.on and "CONSUMER.MSG.NEXT" in subject:
            if self.fails is not None:
                raise self.fails
            await asyncio.Event().wait()
        await super().publish(subject, *args, **more)  # type: ignore[arg-type]  # whatever it is, it is handed on


async def first(bus: NatsBus) -> bytes:
    async with asyncio.timeout(10):
        return (await anext(aiter(bus.history("JOBS", [SUBJECT])))).data


@pytest.mark.parametrize("fails", [Failing.fails, None], ids=["it raises", "it is cancelled"])
async def test_others_read_and_no_task_stays(nats_url: str, fails: Exception | None) -> None:
    async with opened_bus("nats", nats_url) as writer:
        await writer.publish([Outgoing("one", SUBJECT, b"{}")])
        client = Failing()
        client.fails = fails
        await client.connect(nats_url)
        bus = NatsBus(client)
        assert await first(bus) == b"{}"
        before = len(asyncio.all_tasks())
        client.on = True
        for _ in range(MANY):
            reader = asyncio.create_task(first(bus))
            await asyncio.sleep(0.01)
            reader.cancel()
            await asyncio.wait((reader,))
        client.on = False
        assert await first(bus) == b"{}"
        assert len(asyncio.all_tasks()) <= before + 1, "the subscription of the last reader may be on its way out"
        await bus.close()


async def test_a_service_that_could_not_begin_to_hear_keeps_no_task_either(nats_url: str) -> None:
    async with opened_bus("nats", nats_url):
        client = Failing()
        await client.connect(nats_url)
        bus = NatsBus(client)
        await (await bus.consume("JOBS", "whole", [SUBJECT])).close()
        before = len(asyncio.all_tasks())
        client.on = True
        for n in range(3):
            with pytest.raises(nats.errors.OutboundBufferLimitError):
                await bus.consume("JOBS", f"half-{n}", [SUBJECT])
        assert len(asyncio.all_tasks()) <= before + 1
        await bus.close()
