"""How far a consumer has come, as a real nats-server tells it: what waits, what is in work, and how old it is."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.nats.provisioning import ConsumerProgress
from fairway.lab.processes.embedded_servers import nats_server
from fairway.runtime.ports import Outgoing
from fairway.wire.flow import consumer

STREAM, DURABLE, SUBJECTS = consumer("queue")
AT = (STREAM, DURABLE)
# Of a time when nothing that was stored a moment ago is young any more: each subject is looked for.
LATER = 60_000


def now() -> int:
    return time.time_ns() // 1_000_000


@pytest_asyncio.fixture
async def bus(tmp_path: Path) -> AsyncIterator[NatsBus]:
    """On a server where nobody else has said anything."""
    async with await nats_server(tmp_path) as server:
        made = await NatsBus.connect(server.url, "test")
        await made.provision()
        yield made
        await made.close()


async def until_pending(bus: NatsBus, count: int) -> None:
    """A server counts for a consumer soon after it has stored."""
    async with asyncio.timeout(10):
        while (await bus.progress(AT, SUBJECTS, now())).pending < count:
            await asyncio.sleep(0)


async def test_what_waits_and_what_is_in_work_is_told_with_its_age(bus: NatsBus) -> None:
    begun = now()
    assert await bus.progress(AT, SUBJECTS, begun) == ConsumerProgress(0, 0)
    # Nobody hears this one here: it stands before the first that counts.
    await bus.publish([Outgoing("p-0", "fairway.job.admitted.t", b"{}")])
    await bus.publish([Outgoing("p-1", "fairway.job.queue.t", b"{}")])
    await bus.publish([Outgoing("p-2", "fairway.job.removed.t", b"{}")])
    await until_pending(bus, 2)
    for at in (now(), now() + LATER):
        told = await bus.progress(AT, SUBJECTS, at)
        assert (told.pending, told.unacked) == (2, 0)
        assert begun - 1_000 <= told.oldest_at <= now() + 1_000
    source = await bus.consume(STREAM, DURABLE, SUBJECTS)
    taken = await source.batch(2)
    told = await bus.progress(AT, SUBJECTS, now() + LATER)
    assert (told.pending, told.unacked) == (0, 2)
    assert told.oldest_at
    taken += await source.batch(2) if len(taken) < 2 else []
    source.ack(taken)
    async with asyncio.timeout(10):
        while (await bus.progress(AT, SUBJECTS, now())) != ConsumerProgress(0, 0):
            await asyncio.sleep(0)  # until the server has taken the answers
    await source.close()
