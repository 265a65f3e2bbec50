"""Whoever has nothing to do notices that the store is away, and that it is back."""

import asyncio

import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.runtime.outbox import Outbox
from fairway.runtime.ports import ReadRows, StoreWiped, Unreachable, Wanted, World
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
    sweeping = asyncio.create_task(outbox.sweep())
    await clock.advance(2)
    assert outbox.reached
    with monkeypatch.context() as patch:
        patch.setattr(MemoryStore, "read", troubled)
        await clock.advance(2)
        assert outbox.reached is reached
    await clock.advance(2)
    assert outbox.reached
    sweeping.cancel()
