"""Every bus and every store that is there, opened on nothing: the real ones and their twins in memory."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from itertools import count

from nats.js.errors import NotFoundError

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.nats.bus import NatsBus
from fairway.adapters.nats.provisioning import durable_consumer
from fairway.adapters.system_clock import SystemClock
from fairway.adapters.valkey.store import RedisStore
from fairway.domain.decision import Step
from fairway.runtime.ports import ANSWER_S, Bus, Commit, Outgoing, Source, Store
from fairway.runtime.service import AnyService

BUSES = ("memory", "nats", "nats without internals")
STORES = ("memory", "redis")
_fresh = count()


@contextlib.asynccontextmanager
async def opened_bus(kind: str, nats_url: str) -> AsyncIterator[Bus]:
    if kind == "memory":
        yield MemoryBus(SystemClock())
        return
    real = await NatsBus.connect(nats_url, "contract", bulk=kind == "nats")
    try:
        for stream in ("JOBS", "CONFIG", "IN", "DLQ"):  # what an earlier test left
            with contextlib.suppress(NotFoundError):
                await real.client.jetstream().delete_stream(stream)
        await real.provision()
        yield real
    finally:
        await real.close()


@contextlib.asynccontextmanager
async def opened_store(kind: str, valkey_url: str) -> AsyncIterator[Store]:
    if kind == "memory":
        opened: Store = MemoryStore()
    else:
        opened = RedisStore(valkey_url, prefix=f"{{t{next(_fresh)}}}")
    try:
        assert not await opened.open()
        assert await opened.begin_rebuild("test", 1_000)
        await opened.finish_rebuild("epoch-1")
        yield opened
    finally:
        await opened.close()


async def consumed(bus: Bus, stream: str, durable: str, subjects: Sequence[str], wait_s: float = ANSWER_S) -> Source:
    """A consumer that is not in the flow's table, made first."""
    if isinstance(bus, NatsBus):
        await bus.client.jetstream().add_consumer(stream, durable_consumer(durable, subjects, wait_s))
    return await bus.consume(stream, durable, subjects)


async def made_for(bus: Bus, service: AnyService) -> None:
    """The consumers of a service that is in no table of the flow."""
    if isinstance(bus, NatsBus):
        for one in service.consumers:
            config = durable_consumer(one.durable, one.subjects)
            await bus.client.jetstream().add_consumer(one.stream, config)


def said(tenant: str, number: int) -> Outgoing:
    return Outgoing(f"{tenant}-{number}", f"fairway.job.queue.{tenant}", b'{"n":%d}' % number, "fairway.job.queue")


async def taken(store: Store, *steps: Step) -> list[bool]:
    return await store.commit(Commit(steps=steps))
