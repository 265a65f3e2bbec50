"""The bus in memory as a user has it: a loop that says what is not its own ends."""

import asyncio

import msgspec
import pytest

from fairway.adapters.logins import RightsRefused
from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.memory.user_bus import UserBus
from fairway.adapters.system_clock import SystemClock
from fairway.domain.decision import Decision, Heard, Say, Step
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Outgoing, World
from fairway.runtime.service import Consumer, Service
from fairway.runtime.views.jobs import JobsMemory
from fairway.wire import flow, subjects
from fairway.wire import jobs as wire


async def test_a_service_that_says_what_is_anothers_ends() -> None:
    bus = MemoryBus(SystemClock())

    def decide(view: JobsMemory, heard: Heard, now: int) -> Decision:
        message = wire.Cancel(job="j", tenant="t")
        return Decision((Step(events=(Say("forged", "fairway.job.succeeded.t", message),)),))

    consumer = Consumer(*flow.consumer("quota"), msgspec.json.Decoder(wire.Cancel))
    world = World(UserBus(bus, "quota"), MemoryStore(), SystemClock(), "me")
    loop = asyncio.create_task(Loop(Service("quota", (consumer,), decide, JobsMemory), world, Meter()).run())
    word = msgspec.json.encode(wire.Cancel(job="j", tenant="t"))
    await bus.publish([Outgoing("one", "fairway.job.admitted.t", word)])
    with pytest.raises(BaseExceptionGroup) as ended:
        async with asyncio.timeout(10):
            await loop
    assert ended.group_contains(RightsRefused, match="quota may not publish fairway.job.succeeded.t")
    said = [one.id async for one in bus.history(subjects.JOBS)]
    assert "one" in said and "forged" not in said


async def test_what_is_not_its_own_is_neither_heard_nor_read() -> None:
    bus = UserBus(MemoryBus(SystemClock()), "quota")
    with pytest.raises(RightsRefused):
        await bus.consume(subjects.JOBS, "queue", ())
    with pytest.raises(RightsRefused):
        await bus.fetch(subjects.JOBS, 1)
    with pytest.raises(RightsRefused):
        bus.history(subjects.DLQ)
    with pytest.raises(RightsRefused):
        await bus.answer("fairway.ask.queue", lambda data: asyncio.sleep(0, data))
