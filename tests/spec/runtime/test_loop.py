"""The loop: one message never stops the others, nothing is lost after a commit, a lost store is opened anew."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import Call, Decision, Heard, Outcome, Put, Say, Step
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.outbox import Outbox
from fairway.runtime.ports import Outgoing, ReadRows, StoreWiped, Wanted, World
from fairway.runtime.service import Consumer, Service
from fairway.wire import jobs as wire
from fairway.wire import subjects
from tests.support.memory.clock import ManualClock, settle


class Memory:
    """Nothing but what the loop asks of a memory; `bad` messages cannot be looked at."""

    opens = 0
    word = "done"

    def wants(self, heard: Sequence[Heard], now: int) -> Wanted:
        if any(one.message.job == "unreadable" for one in heard):
            raise KeyError("unreadable")
        return Wanted(rows={})

    def take(self, found: ReadRows, heard: Sequence[Heard], now: int) -> None: ...
    def apply(self, step: Step) -> None: ...
    def make_up(self, heard: Heard, decided: Decision, now: int) -> Decision:
        return decided

    def refused(self, step: Step) -> None: ...
    def first(self, found: ReadRows | None) -> None: ...
    def begin(self) -> None:
        Memory.opens += 1
        if Memory.opens == 1:
            raise StoreWiped


def noted(heard: Heard, *words: str) -> Decision:
    """A row for the message, and a word about it."""
    said = tuple(Say(f"{heard.id}-{word}", "fairway.job.queue.t", {"word": word}) for word in words)
    return Decision((Step((Put("notes", heard.id, heard.message.job),), said),))


def decide(memory: Memory, heard: Heard, now: int) -> Decision:
    match heard.message.job.partition("-")[0]:
        case "raises":
            raise ValueError("a mistake")
        case "calls" | "breaks" | "hangs" if not heard.outcomes:
            return Decision(calls=(Call(heard.message.job, "c1", "", 0, "sent along"),))
        case "waits" if heard.delivered < 3:
            return Decision(again_in=1_000)
        case "moot":
            return Decision(again_in=1_000) if heard.delivered < 2 else Decision()
    return noted(heard, Memory.word)


class Bench:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore()
        self.bus = MemoryBus(self.clock)
        self.meter = Meter()
        consumer = Consumer(subjects.JOBS, "s", ("fairway.job.cancel.>",), msgspec.json.Decoder(wire.Cancel))
        self.service = Service("s", (consumer,), decide, Memory, act=self.act)
        self.acted: list[str] = []
        self.answers = asyncio.Event()
        self.loop: asyncio.Task[None] | None = None

    async def act(self, call: Call) -> Outcome:
        self.acted.append(call.verb)
        if call.verb.startswith("hangs"):
            await self.answers.wait()
        if call.verb == "breaks":
            raise OSError("a mistake outside")
        return Outcome(call, True)

    def start(self, owner: str = "o1") -> None:
        world = World(bus=self.bus, store=self.store.beside(), clock=self.clock, owner=owner)
        self.loop = asyncio.create_task(Loop(self.service, world, self.meter).run())

    async def crash(self) -> None:
        assert self.loop is not None
        self.loop.cancel()
        await asyncio.gather(self.loop, return_exceptions=True)
        self.bus.crashed("s")

    async def say(self, *whos: str) -> None:
        words = [
            Outgoing(who, "fairway.job.cancel.t", msgspec.json.encode(wire.Cancel(tenant="t", job=who)))
            if who != "garbage"
            else Outgoing(who, "fairway.job.cancel.t", b"[" * 5_000)
            for who in whos
        ]
        await self.bus.publish(words)

    def notes(self) -> list[str]:
        return sorted(self.store.rows.get("notes", {}))

    def words(self) -> list[str]:
        return [one.id for one in self.bus.stored("JOBS") if one.subject.startswith("fairway.job.queue")]

    def buried(self) -> list[Any]:
        return [msgspec.json.decode(one.data) for one in self.bus.stored("DLQ")]


@asynccontextmanager
async def bench() -> AsyncIterator[Bench]:
    Memory.opens = 0
    Memory.word = "done"
    one = Bench()
    one.start()
    await one.clock.advance(1)
    yield one
    await one.crash()
    await one.bus.close()


async def test_losing_the_store_again_while_opening_does_not_end_the_service() -> None:
    async with bench() as one:
        await one.say("a")
        await settle()
        assert (Memory.opens, one.notes()) == (2, ["a"])


@pytest.mark.parametrize("bad", ["garbage", "raises", "breaks", "unreadable"])
async def test_one_message_that_fails_does_not_stop_the_others_and_ends_among_the_dead_letters(bad: str) -> None:
    async with bench() as one:
        await one.say("a", bad, "calls", "b")
        await settle()
        assert one.notes() == ["a", "b", "calls"]
        assert len(one.buried()) == (bad == "garbage"), "at once when it will never decode, else after some tries"
        await one.clock.advance(60)
        (letter,) = one.buried()
        assert (letter["service"], letter["sequence"], letter["subject"]) == ("s", 4, "fairway.job.cancel.t")
        assert letter["why"]["code"] == ("Undecodable" if bad == "garbage" else "HandlerFailed")
        assert one.bus.waiting == 0


async def test_what_is_put_off_comes_again_when_its_time_has_come() -> None:
    async with bench() as one:
        await one.say("waits")
        await one.clock.advance(1.5)
        assert one.notes() == []
        await one.clock.advance(1)
        assert one.notes() == ["waits"]


async def test_a_publish_that_fails_is_tried_until_it_is_stored_once() -> None:
    async with bench() as one:
        await one.say("a", "b")
        one.bus.refusals = 3
        await settle()
        assert one.words() != ["a-done", "b-done"]
        await one.clock.advance(5)
        assert one.words() == ["a-done", "b-done"]


async def crash_between_commit_and_publish(one: Bench, then: Callable[[], None]) -> None:
    await one.say("a")
    one.bus.refusals = 1
    await settle()
    assert (one.notes(), one.words()) == (["a"], [])
    await one.crash()
    then()
    one.start("o2")
    await one.clock.advance(3)


async def test_what_a_crashed_instance_left_unsaid_is_said_by_the_next() -> None:
    async with bench() as one:
        await crash_between_commit_and_publish(one, lambda: None)
        assert (one.notes(), one.words()) == (["a"], ["a-done"])


async def test_what_comes_again_and_is_done_is_acknowledged_when_whoever_did_it_has_been_made_up_for() -> None:
    """Its words are in the store alone: were that lost now, the message would have to come once more."""
    async with bench() as one:
        await one.say("moot")
        await settle()
        beside = one.store.beside()
        await beside.open()
        other = Outbox("s", World(bus=one.bus, store=beside, clock=one.clock, owner="o2"))
        commit, _ = await other.pack(noted(Heard("moot", wire.Cancel(tenant="t", job="moot")), "done").steps, 0)
        await beside.commit(commit)
        await one.clock.advance(1.05)
        assert (one.words(), one.bus.waiting) == (["moot-done"], 0), "a sweep takes two seconds"


async def test_a_store_wiped_between_commit_and_publish_loses_nothing() -> None:
    async with bench() as one:
        await crash_between_commit_and_publish(one, one.store.wipe)
        assert (one.notes(), one.words()) == (["a"], ["a-done"])


async def test_what_could_not_be_said_before_the_store_was_wiped_is_decided_again_and_not_said_as_it_was() -> None:
    """In another working set it may not be so any more: the room that it speaks of may have been given away."""
    async with bench() as one:
        await one.say("a", "b")
        one.bus.connected = False
        await settle()
        assert (one.notes(), one.words()) == (["a", "b"], [])
        Memory.word = "other"
        one.store.wipe()
        one.bus.connected = True
        await one.clock.advance(5)
        assert (one.notes(), one.words()) == (["a", "b"], ["a-other", "b-other"])
        assert one.bus.waiting == 0


async def test_what_an_instance_has_in_hand_when_another_takes_its_lease_is_for_that_one() -> None:
    async with bench() as one:
        await one.crash()
        one.service = msgspec.structs.replace(one.service, single=True)
        one.start()
        await settle()
        one.store.expire("s")
        await one.store.open()
        await one.store.lease("s", "o2", 3_000)
        await one.say("a", "b")
        await settle()
        source = await one.bus.consume(subjects.JOBS, "s", ("fairway.job.cancel.>",))
        async with asyncio.timeout(1):
            taken = await source.batch(8)
        assert ([heard.id for heard in taken], one.notes()) == (["a", "b"], [])
        one.bus.crashed("s")
        one.store.expire("s")
        await one.clock.advance(1)
        assert (one.notes(), one.bus.waiting) == (["a", "b"], 0)
