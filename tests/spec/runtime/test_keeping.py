"""What a service tells itself, what it keeps, and what runs beside it; how that begins anew with a working set."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import Decision, Heard, Put, Reminder, Step
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ports import Outgoing, World
from fairway.runtime.service import Consumer, LocalMessages, Service
from fairway.wire import jobs as wire
from fairway.wire import subjects
from tests.spec.runtime.test_lease import OwnedNotes
from tests.support.memory.clock import ManualClock, settle


class Said(msgspec.Struct, frozen=True):
    """Local."""

    job: str


class Bench:
    """A service with one owner. `heard` is all that was decided on; a message `keep-...` is kept until `done-...`
    comes, `remind-<ms>` reminds of itself, and `again-<ms>` is heard twice. What is beside it counts how often that
    began."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore(clock=self.clock)
        self.bus = MemoryBus(self.clock)
        self.heard: list[str] = []
        self.begun = 0
        consumer = Consumer(subjects.JOBS, "s", ("fairway.job.cancel.>",), msgspec.json.Decoder(wire.Cancel))
        self.service = Service("s", (consumer,), self.decide, OwnedNotes, single=True, beside=self.beside)
        self._lives = 0
        self.start()

    def decide(self, memory: OwnedNotes, heard: Heard[Any], now: int) -> Decision:
        name = heard.message.job
        self.heard.append(name)
        what, _, rest = name.partition("-")
        match what:
            case "keep":
                return Decision(kept=True)
            case "done":
                return Decision((Step((Put("notes", rest, name),)),), done=(f"keep-{rest}", "keep-nobody"))
            case "remind":
                return Decision(reminders=(Reminder(Said("reminded"), int(rest)),))
            case "again" if self.heard.count(name) < 2:
                return Decision(again_in=int(rest))
        return Decision()

    async def beside(self, inbox: LocalMessages) -> None:
        self.begun += 1
        inbox.put(Said(f"seen{self.begun}"))
        await asyncio.Event().wait()

    def start(self) -> None:
        self._lives += 1
        world = World(bus=self.bus, store=self.store.beside(), clock=self.clock, owner=f"o{self._lives}")
        self._task = asyncio.create_task(Loop(self.service, world, Meter()).run())

    async def crash(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self.bus.crashed("s")

    async def say(self, *names: str) -> None:
        words = [wire.Cancel(tenant="t", job=name) for name in names]
        await self.bus.publish([Outgoing(one.job, "fairway.job.cancel.t", msgspec.json.encode(one)) for one in words])
        await settle(50)

    async def later(self, seconds: float) -> None:
        await self.clock.advance(seconds)
        await settle(50)


@asynccontextmanager
async def bench() -> AsyncIterator[Bench]:
    one = Bench()
    await one.store.begin_rebuild("test", 60_000)
    await one.store.finish_rebuild("1-a")
    await one.later(1)
    yield one
    await one.crash()
    await one.bus.close()


async def test_what_is_kept_is_acknowledged_with_the_decision_that_says_so() -> None:
    async with bench() as one:
        await one.say("keep-a", "keep-b")
        assert one.bus.waiting == 2
        await one.say("done-a")
        assert one.bus.waiting == 1
        await one.say("done-b")
        assert one.bus.waiting == 0
        assert one.heard == ["seen1", "keep-a", "keep-b", "done-a", "done-b"]


async def test_in_one_batch_too() -> None:
    async with bench() as one:
        await one.say("keep-a", "done-a", "keep-b")
        assert one.bus.waiting == 1


async def test_what_is_kept_comes_again_when_its_process_has_died() -> None:
    async with bench() as one:
        await one.say("keep-a")
        await one.crash()
        one.heard.clear()
        one.start()
        for _ in range(20):  # until the lease of the dead one is over
            await one.later(0.5)
        assert sorted(one.heard) == ["keep-a", "seen2"]
        await one.say("done-a")
        assert one.bus.waiting == 0


@pytest.mark.parametrize("ms", [0, 500])
async def test_a_reminder_is_heard_when_its_time_has_come(ms: int) -> None:
    async with bench() as one:
        await one.say(f"remind-{ms}")
        assert ("reminded" in one.heard) == (ms == 0)
        await one.later(ms / 1_000)
        assert one.heard.count("reminded") == 1
        assert one.bus.waiting == 0


async def test_what_is_to_be_heard_again_is_acknowledged_when_it_was() -> None:
    async with bench() as one:
        await one.say("again-500")
        assert one.heard.count("again-500") == 1
        await one.later(1)
        assert one.heard.count("again-500") == 2
        assert one.bus.waiting == 0


async def anew(one: Bench) -> None:
    """Another working set, which is found with the next message."""
    one.store.wipe()
    await one.store.begin_rebuild("test", 60_000)
    await one.store.finish_rebuild("2-b")
    one.heard.clear()
    await one.say("x")
    await one.later(1)


async def test_with_a_new_working_set_what_runs_beside_it_tells_all_once_more() -> None:
    async with bench() as one:
        assert (one.begun, one.heard) == (1, ["seen1"])
        await anew(one)
        assert one.begun == 2
        assert one.heard.count("seen2") == 1
        assert "seen1" not in one.heard


async def test_with_a_new_working_set_what_was_kept_is_heard_again_and_can_be_let_go() -> None:
    async with bench() as one:
        await one.say("keep-a")
        await anew(one)
        assert one.heard.count("keep-a") == 1
        assert one.bus.waiting == 1
        await one.say("done-a")
        assert one.bus.waiting == 0


async def test_with_a_new_working_set_what_it_reminded_itself_of_is_not_so_any_more() -> None:
    async with bench() as one:
        await one.say("remind-5000")
        await anew(one)
        await one.later(10)
        assert "reminded" not in one.heard


async def test_what_it_had_in_hand_when_its_working_set_went_is_not_so_any_more() -> None:
    """Of its own; it had been told by what ran beside it before."""
    async with bench() as one:
        await one.say("remind-500")
        one.store.wipe()
        await one.store.begin_rebuild("test", 60_000)
        await one.store.finish_rebuild("2-b")
        await one.later(1)
        assert one.begun == 2, "it was in hand, and met another working set"
        assert "reminded" not in one.heard


async def test_a_message_of_the_bus_that_was_put_off_comes_all_the_same() -> None:
    async with bench() as one:
        await one.say("again-3000")
        await anew(one)
        await one.later(10)
        assert "again-3000" in one.heard
        assert one.bus.waiting == 0


async def test_of_a_service_with_many_owners_what_runs_beside_it_goes_on() -> None:
    async with bench() as one:
        await one.crash()
        one.service = msgspec.structs.replace(one.service, single=False)
        one.start()
        await one.later(1)
        begun = one.begun
        await anew(one)
        assert one.begun == begun
