"""What was said is acknowledged when the store was seen once more: by the next batch's read, or by one for that alone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from fairway.adapters.memory.store import MemoryStore
from fairway.runtime.ports import ReadRows, Wanted
from tests.spec.runtime.test_loop import Bench, Memory, bench
from tests.support.memory.clock import settle


@asynccontextmanager
async def one_by_one() -> AsyncIterator[Bench]:
    """A service whose batches have one message each, so that the second waits while the first is handled."""
    async with bench() as one:
        await one.crash()
        one.service = msgspec.structs.replace(one.service, most=1)
        one.start()
        await settle()
        yield one


async def test_the_store_is_not_read_for_that_alone_while_another_batch_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = 0
    read = MemoryStore.read

    async def counted(store: MemoryStore, wanted: Wanted) -> ReadRows:
        nonlocal reads
        reads += not wanted.whole  # the outbox is looked through now and then
        return await read(store, wanted)

    async with one_by_one() as one:
        monkeypatch.setattr(MemoryStore, "read", counted)
        await one.say("a", "b", "c")
        await settle()
        assert (one.words(), one.bus.waiting) == (["a-done", "b-done", "c-done"], 0)
        assert 4 <= reads < 6, "one for each batch, and one when nobody waits"


async def test_what_was_said_before_the_store_was_lost_is_decided_again_with_the_batch_that_notices() -> None:
    async with one_by_one() as one:

        def wiped(stream: str, delivery: object) -> None:
            if one.words():
                one.bus.told = lambda stream, delivery: None
                Memory.word = "other"
                one.store.wipe()

        one.bus.told = wiped
        await one.say("a", "b")
        await one.clock.advance(5)
        assert one.words() == ["a-done", "a-other", "b-other"]
        assert (one.notes(), one.bus.waiting) == (["a", "b"], 0)
