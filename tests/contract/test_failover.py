"""A replica of Valkey that is made primary is no working set: what was committed last may not have come to it."""

import asyncio
from pathlib import Path

import pytest
import redis.asyncio as redis

from fairway.adapters.embedded import valkey_server
from fairway.adapters.redis_store import RedisStore
from fairway.runtime.ports import Commit, StoreWiped, Wanted


async def filled(store: RedisStore, epoch: str) -> None:
    assert not await store.open()
    assert await store.begin_rebuild("o1", 5_000)
    await store.finish_rebuild(epoch)
    assert await store.open()


async def test_a_replica_that_was_promoted_is_rebuilt_and_its_primary_goes_on_being_one(tmp_path: Path) -> None:
    async with await valkey_server(tmp_path / "a") as first, await valkey_server(tmp_path / "b") as second:
        here, there = RedisStore(first.url), RedisStore(second.url)
        await filled(here, "7-o1")
        async with redis.Redis(port=second.port) as replica:
            await replica.execute_command("REPLICAOF", "127.0.0.1", first.port)
            async with asyncio.timeout(10):
                while await replica.get("{fairway}:epoch") is None:
                    await asyncio.sleep(0.02)
            await replica.execute_command("REPLICAOF", "NO", "ONE")
        there._epoch = here._epoch  # as of one whose address now leads elsewhere
        with pytest.raises(StoreWiped):
            await there.read(Wanted())
        with pytest.raises(StoreWiped):
            await there.commit(Commit(steps=()))
        await filled(there, "9-o2")
        assert (here.born, there.born) == (7, 9)
        await here.read(Wanted())
        await here.close()
        await there.close()
