"""A service passes over what came too late for its working set, also when others have been in use since."""

import asyncio

import msgspec

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import NOTHING, Decision, Heard
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Outgoing, World
from fairway.runtime.service import Consumer, Service
from fairway.runtime.views.jobs import JobsMemory
from fairway.wire import jobs as wire
from fairway.wire import subjects
from tests.spec.builders.lives import T0
from tests.support.memory.clock import ManualClock


def event(job: str, epoch: int) -> wire.Dequeued:
    return wire.Dequeued(job=job, tenant="t", at=T0, rev=3, attempt=1, epoch=epoch)


# In the record at 1 to 9: three working sets, and what was decided in them.
SAID: tuple[wire.JobMessage, ...] = (
    wire.Rebuild(owner="a"),
    wire.Rebuild(owner="a", begun=1),
    event("in-time", 1),
    wire.Rebuild(owner="b"),
    wire.Rebuild(owner="b", begun=4),
    event("late-for-the-second", 1),
    wire.Rebuild(owner="c"),
    wire.Rebuild(owner="c", begun=7),
    event("late-for-the-third", 4),
)


async def test_a_word_that_came_too_late_for_a_set_between_is_passed_over_though_the_latest_is_younger() -> None:
    clock = ManualClock()
    store = MemoryStore()
    heard = list[str]()
    bus = MemoryBus(clock)
    await bus.publish(
        [
            Outgoing(f"m{at}", subjects.job(one.verb, one.tenant), msgspec.json.encode(one))
            for at, one in enumerate(SAID)
        ]
    )
    await store.begin_rebuild("c", 1)
    await store.finish_rebuild("7-c")

    def decide(view: JobsMemory, one: Heard, now: int) -> Decision:
        heard.append(one.message.job)
        return NOTHING

    consumer = Consumer(subjects.JOBS, "s", ("fairway.job.dequeued.>",), msgspec.json.Decoder(wire.Message))
    world = World(bus=bus, store=store.beside(), clock=clock, owner="o")
    loop = asyncio.create_task(Loop(Service("s", (consumer,), decide, JobsMemory), world, Meter()).run())
    await clock.advance(2)
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)
    await bus.close()
    assert heard == ["in-time"]
