"""Of a service with one owner at a time: who stands by, and when it takes over."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec
import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import Decision, Heard, Put, Step
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.ownership import Ownership
from fairway.runtime.ports import Outgoing, ReadRows, Unreachable, Wanted, World
from fairway.runtime.service import Consumer, Service
from fairway.wire import jobs as wire
from fairway.wire import subjects
from tests.support.memory.clock import ManualClock, settle

# Longer than who stands by waits between two questions for the lease, and far less than a lease lives (s).
SOON = 0.6
LEASE = 3.0


class OwnedNotes:
    """A memory that knows nothing."""

    def begin(self) -> None: ...
    def first(self, found: ReadRows | None) -> None: ...
    def wants(self, heard: Sequence[Heard], now: int) -> Wanted:
        return Wanted()

    def take(self, found: ReadRows, heard: Sequence[Heard], now: int) -> None: ...
    def apply(self, step: Step) -> None: ...
    def make_up(self, heard: Heard, decided: Decision, now: int) -> Decision:
        return decided

    def refused(self, step: Step) -> None: ...


def note(memory: OwnedNotes, heard: Heard, now: int) -> Decision:
    return Decision((Step((Put("notes", heard.id, heard.message.job),)),))


class LeaseStore(MemoryStore):
    """Of which the leases can be away: they do not answer, or the answer is that nobody reaches them."""

    away = ""

    def beside(self) -> "LeaseStore":
        return self

    async def lease(self, name: str, owner: str, ttl_ms: int) -> int:
        if self.away == "silent":
            await asyncio.Event().wait()
        if self.away:
            raise Unreachable("the store does not answer")
        return await super().lease(name, owner, ttl_ms)


class Pair:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = LeaseStore(clock=self.clock)
        self.bus = MemoryBus(self.clock)
        consumer = Consumer(subjects.JOBS, "s", ("fairway.job.cancel.>",), msgspec.json.Decoder(wire.Cancel))
        self._consumers = (consumer,)
        self.loops: dict[str, asyncio.Task[None]] = {}
        self.sure: dict[str, Ownership] = {}
        self.each: dict[str, Loop] = {}

    def start(self, owner: str) -> None:
        world = World(bus=self.bus, store=self.store, clock=self.clock, owner=owner)
        self.sure[owner] = Ownership()
        service = Service("s", self._consumers, note, OwnedNotes, single=True, ownership=self.sure[owner])
        self.each[owner] = Loop(service, world, Meter())
        self.loops[owner] = asyncio.create_task(self.each[owner].run())

    async def end(self, owner: str) -> None:
        """As its process does when it is told to end."""
        self.loops[owner].cancel()
        await asyncio.gather(self.loops[owner], return_exceptions=True)
        self.bus.crashed("s")

    async def say(self, who: str) -> None:
        word = msgspec.json.encode(wire.Cancel(tenant="t", job=who))
        await self.bus.publish([Outgoing(who, "fairway.job.cancel.t", word)])

    def notes(self) -> list[str]:
        return sorted(self.store.rows.get("notes", {}))


@asynccontextmanager
async def pair() -> AsyncIterator[Pair]:
    """`first` works, `second` stands by."""
    one = Pair()
    for owner in ("first", "second"):
        one.start(owner)
        await settle()
    await one.clock.advance(LEASE)
    yield one
    one.store.away = ""
    for owner in list(one.loops):
        await one.end(owner)
    await one.bus.close()


async def test_who_stands_by_takes_over_at_its_next_question_when_the_owner_ends_in_order() -> None:
    async with pair() as one:
        await one.end("first")
        await one.say("a")
        await one.clock.advance(SOON)
        assert one.notes() == ["a"]


async def test_while_the_owner_works_who_stands_by_does_not_even_when_it_ends_itself() -> None:
    async with pair() as one:
        await one.end("second")
        one.start("third")
        await one.clock.advance(SOON)
        await one.say("a")
        await one.clock.advance(LEASE)
        assert one.notes() == ["a"]
        assert await one.store.lease("s", "first", 3_000) == 1, "it is the first owner's as before"


@pytest.mark.parametrize("away", ["silent", "refuses"])
async def test_an_owner_that_ends_while_the_store_is_away_does_not_wait_for_it(away: str) -> None:
    async with pair() as one:
        one.store.away = away
        async with asyncio.timeout(3):
            await one.end("first")
        one.store.away = ""
        await one.say("a")
        await one.clock.advance(LEASE + SOON)
        assert one.notes() == ["a"], "the lease has run out by itself"


async def test_an_owner_is_sure_of_it_while_its_lease_is_renewed_and_no_longer_than_that_lasts() -> None:
    """Whoever stands by is not, nor is who cannot know whether another is the owner by now."""
    async with pair() as one:
        sure = one.sure["first"]
        assert sure.lasts(one.clock.now())
        assert not one.sure["second"].lasts(one.clock.now())
        one.store.away = "refuses"
        assert sure.until <= one.clock.now() + LEASE * 1000
        await one.clock.advance(LEASE)
        assert not sure.lasts(one.clock.now())
        one.store.away = ""
        await one.clock.advance(LEASE)
        assert [who for who, of in one.sure.items() if of.lasts(one.clock.now())] in (["first"], ["second"])


async def test_who_gives_its_lease_up_is_not_sure_of_it_any_more() -> None:
    async with pair() as one:
        await one.end("first")
        assert not one.sure["first"].lasts(one.clock.now())


async def test_who_is_not_ready_says_what_is_missing() -> None:
    async with pair() as one:
        assert one.each["first"].waiting == ""
        assert one.each["second"].waiting == "another process has its lease"
        one.store.away = "refuses"
        await one.clock.advance(SOON)
        assert one.each["second"].waiting == "waits for the store or the bus: the store does not answer"
