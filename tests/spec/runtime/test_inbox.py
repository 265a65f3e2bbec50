"""The inbox: what waits in it while nobody can decide, and how much."""

import asyncio
from typing import Any

import msgspec
import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import NOTHING
from fairway.runtime import inbox as module
from fairway.runtime.inbox import Inbox
from fairway.runtime.ports import World
from fairway.runtime.service import Service
from fairway.runtime.views.jobs import JobsMemory
from tests.support.memory.clock import ManualClock, settle


class Tick(msgspec.Struct, frozen=True):
    pass


def opened() -> tuple[Inbox, ManualClock]:
    clock = ManualClock()
    world = World(bus=MemoryBus(clock), store=MemoryStore(), clock=clock, owner="test")
    service = Service("test", (), lambda *_: NOTHING, JobsMemory, ticks=((Tick(), 1_000),), most=4)
    return Inbox(service, world), clock


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LOCAL", 20)


async def test_while_nobody_decides_neither_who_listens_nor_the_clock_puts_in_more_than_so_many() -> None:
    inbox, clock = opened()
    put = 0

    async def listens() -> None:
        nonlocal put
        for number in range(500):
            await inbox.room()
            inbox.put(number)
            put += 1

    running = [asyncio.create_task(inbox.run()), asyncio.create_task(listens())]
    await settle()
    for _ in range(100):
        await clock.advance(1)
    # Three batches of four are on their way to whoever decides.
    assert put <= 20 + 3 * 4
    heard: list[Any] = []
    async with asyncio.timeout(10):
        while len([one for one in heard if one != Tick()]) < 500:
            heard += [item.local for item in await inbox.next()]
    assert [one for one in heard if one != Tick()] == list(range(500)), "all of it, and in its order"
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


async def test_what_was_put_in_before_it_began_anew_counts_nowhere() -> None:
    inbox, _ = opened()
    running = asyncio.create_task(inbox.run())
    for number in range(12):
        inbox.put(number)
    first = await inbox.next()
    await settle()
    inbox.begin_anew()
    inbox.put_back(first[0])
    inbox.put("new")
    heard: list[Any] = []
    while not heard:
        heard = [item.local for item in await inbox.next()]
    assert heard == ["new"]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_what_is_put_off_locally_is_forgotten_once_it_has_come_again() -> None:
    inbox, clock = opened()
    for number in range(50):
        inbox.put_later(number, 5_000, f"m{number}")
    await settle()
    await clock.advance(5)
    await settle()
    assert len(inbox._local) == 50
    assert not inbox._later
