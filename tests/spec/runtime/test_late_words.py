"""What was decided in a working set that was lost, and said when another was in use already, counts for nobody."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import Decision, Heard, Put, Say, Step
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Outgoing, ReadRows, Wanted, World
from fairway.runtime.service import Consumer, Service
from fairway.wire import jobs as wire
from fairway.wire import subjects
from fairway.wire.reasons import Code, Reason
from tests.support.memory.clock import ManualClock, settle


class Memory:
    def wants(self, heard: Sequence[Heard], now: int) -> Wanted:
        return Wanted()

    def take(self, found: ReadRows, heard: Sequence[Heard], now: int) -> None: ...
    def apply(self, step: Step) -> None: ...
    def make_up(self, heard: Heard, decided: Decision, now: int) -> Decision:
        return decided

    def refused(self, step: Step) -> None: ...
    def begin(self) -> None: ...
    def first(self, found: ReadRows | None) -> Wanted | None:
        return None


def decide(memory: Memory, heard: Heard, now: int) -> Decision:
    """A row for each message, and a word on its job."""
    message = heard.message
    said = wire.Blocked(job=message.job, tenant="t", rev=message.rev + 1, why=Reason(Code.WAITING_FOR_QUOTA, "full"))
    say = Say(f"{heard.id}-blocked", subjects.job("blocked", "t"), said)
    return Decision((Step((Put("notes", heard.id, ""),), (say,)),))


class Bench:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore()
        self.bus = MemoryBus(self.clock)
        consumer = Consumer(subjects.JOBS, "s", ("fairway.job.queue.>",), msgspec.json.Decoder(wire.Message))
        world = World(bus=self.bus, store=self.store.beside(), clock=self.clock, owner="o1")
        self.loop = asyncio.create_task(Loop(Service("s", (consumer,), decide, Memory), world, Meter()).run())

    @property
    def born(self) -> int:
        return int(self.store.epoch.partition("-")[0])

    async def say(self, name: str, epoch: int) -> None:
        message = wire.Queue(job=name, tenant="t", rev=2, attempt=1, queue="q", epoch=epoch)
        await self.bus.publish([Outgoing(name, subjects.job("queue", "t"), msgspec.json.encode(message))])
        await settle()

    def notes(self) -> list[str]:
        return sorted(self.store.rows.get("notes", {}))

    def words(self) -> list[tuple[str, int]]:
        """Of each word the job, and the working set in which it was decided."""
        found = [msgspec.json.decode(one.data) for one in self.bus.stored("JOBS") if "blocked" in one.subject]
        return [(one["job"], one["epoch"]) for one in found]


@asynccontextmanager
async def bench() -> AsyncIterator[Bench]:
    one = Bench()
    await settle()
    try:
        yield one
    finally:
        one.loop.cancel()
        await asyncio.gather(one.loop, return_exceptions=True)


async def test_an_event_says_in_which_working_set_it_was_decided() -> None:
    async with bench() as one:
        await one.say("a", one.born)
        assert one.words() == [("a", one.born)]


async def test_a_late_word_is_acknowledged_and_nobody_acts_on_it() -> None:
    async with bench() as one:
        former = one.born
        one.store.wipe()
        await one.say("just-in-time", former)
        await one.clock.advance(10)
        assert one.born > former
        await one.say("late", former)
        await one.say("timely", one.born)
        assert (one.notes(), one.bus.waiting) == (["just-in-time", "timely"], 0)


async def test_what_was_stored_when_the_store_had_been_lost_is_not_taken_for_said() -> None:
    """Its publish had begun before, and ended well: the message that it answers is decided upon once more."""
    async with bench() as one:
        former = one.born

        def wiped(stream: str, delivery: object) -> None:
            if one.words():
                one.bus.told = lambda stream, delivery: None
                one.store.wipe()

        one.bus.told = wiped
        await one.say("a", former)
        await one.clock.advance(10)
        assert [job for job, _ in one.words()] == ["a", "a"]
        assert one.words()[-1] == ("a", one.born)
        assert (one.notes(), one.bus.waiting) == (["a"], 0)
