"""A service on a real bus, and the commands for its dead letters."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import msgspec
import pytest
from nats.js.errors import NotFoundError
from typer.testing import Result

from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.nats.dead_letters import NatsLetters
from fairway.adapters.system_clock import SystemClock
from fairway.domain.decision import Decision, Heard, Put, Step
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Outgoing, World
from fairway.runtime.service import Consumer, Service
from fairway.runtime.views.jobs import JobsMemory
from fairway.wire import jobs, subjects
from fairway.wire.envelope import Actor
from tests.support.commands import command
from tests.support.twins import made_for

SUBJECT = subjects.job("cancel", "t")


def decide(view: JobsMemory, heard: Heard, now: int) -> Decision:
    """A row for each message, under its id; what is said first stands at the first place of the record."""
    key = heard.id if heard.sequence == 1 else f"{heard.id} again"
    return Decision((Step((Put("notes", key, heard.message.who.user),)),))


class Bench:
    """A service on a real bus; `mended` it understands what it did not before."""

    def __init__(self, bus: NatsBus, url: str) -> None:
        self.bus = bus
        self.url = url
        self.store = MemoryStore()
        self.letters = NatsLetters(bus)

    @asynccontextmanager
    async def service(self, mended: bool) -> AsyncIterator[None]:
        decoder = msgspec.json.Decoder(jobs.Cancel if mended else jobs.Removed)
        consumer = Consumer(subjects.JOBS, "s", ("fairway.job.cancel.>",), decoder)
        own = await NatsBus.connect(self.url, "s")  # what it fetched ahead goes back when it is closed
        world = World(own, self.store.beside(), SystemClock(), "me")
        service = Service("s", (consumer,), decide, JobsMemory)
        await made_for(own, service)
        loop = asyncio.create_task(Loop(service, world, Meter()).run())
        try:
            yield
        finally:
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)
            await own.close()

    async def say(self, *names: str) -> None:
        """Several as a bundle, of which the bus knows no single id: they can be said again at once."""
        words = [
            Outgoing(
                name,
                SUBJECT,
                msgspec.json.encode(jobs.Cancel(job="llm-1", tenant="t", who=Actor(name, "http"))),
                order=name,
            )
            for name in names
        ]
        await self.bus.publish(words)

    async def lettered(self, count: int) -> list[int]:
        """The numbers of the letters, once there are so many."""
        found: list[int] = []
        async with asyncio.timeout(30):
            async for one in self.bus.history(subjects.DLQ, live=True):
                found += [one.sequence] if one.subject else []
                if len(found) == count:
                    break
        return found

    async def buried(self, *names: str) -> list[int]:
        await self.say(*names)
        async with self.service(mended=False):
            return await self.lettered(len(names))

    async def noted(self, *keys: str) -> None:
        """Returns once these rows are there."""
        async with asyncio.timeout(30):
            while not {*keys} <= {*self.store.rows.get("notes", {})}:
                await asyncio.sleep(0.02)

    async def said(self) -> list[str]:
        return [one.id async for one in self.bus.history(subjects.JOBS, (SUBJECT,))]

    async def left(self) -> list[int]:
        return [one.number async for one in self.letters.all()]

    async def run(self, *words: str) -> Result:
        """The command runs a loop of its own, beside this one."""
        return await asyncio.to_thread(partial(command, "dlq", *words, FAIRWAY_NATS_URL=self.url))

    async def asked(self, *words: str) -> Any:
        return json.loads((await self.run(*words, "-o", "json")).stdout)


@pytest.fixture
async def bench(nats_url: str) -> AsyncIterator[Bench]:
    bus = await NatsBus.connect(nats_url, "dead-letters")
    for stream in (subjects.JOBS, subjects.DLQ):
        with contextlib.suppress(NotFoundError):
            await bus.client.jetstream().delete_stream(stream)
    await bus.provision()
    yield Bench(bus, nats_url)
    for stream in (subjects.JOBS, subjects.DLQ):
        await bus.client.jetstream().delete_stream(stream)
    await bus.provision()
    await bus.close()
