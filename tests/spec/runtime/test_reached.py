"""Whoever has nothing to do notices that the store is away, and that it is back."""

import asyncio

import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.runtime.outbox import Outbox
from fairway.runtime.ports import ReadRows, StoreWiped, Unreachable, Wanted, World
from tests.spec.runtime.test_loop import Memory, bench
from tests.support.memory.clock import ManualClock


@pytest.mark.parametrize(("trouble", "reached"), [(Unreachable, False), (StoreWiped, True)])
async def test_who_sweeps_its_outbox_knows_whether_the_store_answers(
    trouble: type[Exception], reached: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def troubled(self: MemoryStore, wanted: Wanted) -> ReadRows:
        raise trouble

    clock = ManualClock()
    store = MemoryStore()
    await store.begin_rebuild("t", 1)
    await store.finish_rebuild("e")
    await store.open()
    outbox = Outbox("s", World(bus=MemoryBus(clock), store=store, clock=clock, owner="o"))
    told: list[str] = []
    sweeping = asyncio.create_task(outbox.sweep(lambda: told.append("lost")))
    await clock.advance(2)
    assert outbox.reached and not told
    with monkeypatch.context() as patch:
        patch.setattr(MemoryStore, "read", troubled)
        await clock.advance(2)
        assert outbox.reached is reached
        assert set(told) == ({"lost"} if trouble is StoreWiped else set())
    await clock.advance(2)
    assert outbox.reached
    sweeping.cancel()


async def test_who_has_nothing_to_do_begins_anew_when_the_store_is_lost_and_does_not_wait_for_a_message() -> None:
    async with bench() as one:
        await one.clock.advance(5)
        begun = Memory.opens
        one.store.wipe()
        assert not await one.store.beside().open()
        await one.clock.advance(5)
        assert await one.store.beside().open(), "it was rebuilt, and nobody has said anything"
        assert Memory.opens > begun
        again = Memory.opens
        await one.clock.advance(5)
        assert Memory.opens == again
