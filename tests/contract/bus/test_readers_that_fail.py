"""A reader whose opening fails, or is given up, leaves nothing behind: no place that another could have, no task."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import nats.errors
import pytest

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.nats.headers import Guarded
from fairway.runtime.ports import Outgoing
from tests.support.twins import consumed, opened_bus

# More than there are places for readers on one connection.
MANY = 130
SUBJECT = "fairway.job.queue.fails"


class Failing(Guarded):
    """Cannot send what it has to ask for messages: it raises `fails`, or waits for ever."""

    on = False
    fails: Exception | None = nats.errors.OutboundBufferLimitError()

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def publish(self, subject: str, *args: object, **more: object) -> None:
        if self.on and "CONSUMER.MSG.NEXT" in subject:
            self.asked.set()
            if self.fails is not None:
                raise self.fails
            await asyncio.Event().wait()
        await super().publish(subject, *args, **more)  # type: ignore[arg-type]  # whatever it is, it is handed on


@contextlib.asynccontextmanager
async def failing(nats_url: str, fails: Exception | None = Failing.fails) -> AsyncIterator[tuple[Failing, NatsBus]]:
    client = Failing()
    client.fails = fails
    await client.connect(nats_url)
    try:
        yield client, NatsBus(client)
    finally:
        await client.close()


async def first(bus: NatsBus) -> bytes:
    async with asyncio.timeout(10), contextlib.aclosing(bus.history("JOBS", [SUBJECT])) as record:
        return (await anext(record)).data


async def ended(before: set[asyncio.Task[Any]]) -> set[asyncio.Task[Any]]:
    """The tasks that are there since then, and do not end."""
    since = asyncio.all_tasks() - before
    return (await asyncio.wait(since, timeout=10))[1] if since else since


@pytest.mark.parametrize(
    ("fails", "given_up"),
    [
        pytest.param(Failing.fails, False, id="it raises"),
        pytest.param(Failing.fails, True, id="it raises, and is given up as it leaves"),
        pytest.param(None, True, id="it is cancelled"),
    ],
)
async def test_others_read_and_no_task_stays(nats_url: str, fails: Exception | None, given_up: bool) -> None:
    async with opened_bus("nats", nats_url) as writer, failing(nats_url, fails) as (client, bus):
        await writer.publish([Outgoing("one", SUBJECT, b"{}")])
        assert await first(bus) == b"{}"
        before = asyncio.all_tasks()
        client.on = True
        for _ in range(MANY):
            client.asked.clear()
            reader = asyncio.create_task(first(bus))
            await client.asked.wait()
            if given_up:
                reader.cancel()
            await asyncio.wait((reader,))
        client.on = False
        assert await first(bus) == b"{}"
        assert await ended(before) == set()


async def test_a_service_that_could_not_begin_to_hear_keeps_no_task_either(nats_url: str) -> None:
    async with opened_bus("nats", nats_url), failing(nats_url) as (client, bus):
        await (await consumed(bus, "JOBS", "whole", [SUBJECT])).close()
        before = asyncio.all_tasks()
        client.on = True
        for n in range(3):
            with pytest.raises(nats.errors.OutboundBufferLimitError):
                await consumed(bus, "JOBS", f"half-{n}", [SUBJECT])
        assert await ended(before) == set()
