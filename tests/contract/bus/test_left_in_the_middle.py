"""Whoever stops waiting for an answer of the bus does not take the connection from everybody else: real nats-server."""

import asyncio
import contextlib
from itertools import count

import pytest

from fairway.adapters.nats.bus import NatsBus
from fairway.runtime.ports import Bus
from tests.support.twins import opened_bus, said

PATIENCE_S = 30
_numbers = count()


async def works(bus: Bus) -> None:
    """Something is stored, at once, on the connection that was there."""
    assert isinstance(bus, NatsBus)
    async with asyncio.timeout(PATIENCE_S):
        await bus.publish([said("team-a", next(_numbers))])
    assert bus.client.stats["reconnects"] == 0


@pytest.mark.parametrize("wire", ["nats", "nats without internals"])
async def test_a_question_that_was_given_up_is_answered_to_nobody(nats_url: str, wire: str) -> None:
    async with opened_bus(wire, nats_url) as bus:
        asked = asyncio.create_task(bus.client.flush())  # type: ignore[attr-defined]  # of the real ones
        await asyncio.sleep(0)
        asked.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asked
        await bus.client.flush()  # type: ignore[attr-defined]  # what is answered behind it
        await works(bus)


@pytest.mark.parametrize("wire", ["nats", "nats without internals"])
async def test_readers_that_leave_at_any_moment_stop_nobody(nats_url: str, wire: str) -> None:
    """As the gateway's event streams, whose readers close their connection when they like."""

    async def read() -> None:
        async with contextlib.aclosing(bus.history("JOBS", live=True)) as record:  # type: ignore[type-var]  # a generator
            async for _ in record:
                break

    async with opened_bus(wire, nats_url) as bus:
        for steps in range(60):
            reading = asyncio.create_task(read())
            for _ in range(steps):
                await asyncio.sleep(0)
            await asyncio.sleep(0.0005 * (steps % 6))
            reading.cancel()
            await asyncio.wait([reading])
        await works(bus)
