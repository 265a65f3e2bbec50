"""A replica of Valkey that is made primary is no working set: what was committed last may not have come to it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import redis.asyncio as redis

from fairway.adapters.valkey.store import RedisStore
from fairway.domain.decision import Put, Step
from fairway.lab.processes.embedded_servers import valkey_server
from fairway.runtime.ports import Commit, StoreWiped, Unreachable, Wanted


async def filled(store: RedisStore, epoch: str) -> None:
    assert not await store.open()
    assert await store.begin_rebuild("o1", 5_000)
    await store.finish_rebuild(epoch)
    assert await store.open()


async def test_a_replica_that_was_promoted_is_rebuilt_and_its_primary_goes_on_being_one(tmp_path: Path) -> None:
    async with await valkey_server(tmp_path / "a") as first, await valkey_server(tmp_path / "b") as second:
        here = RedisStore(first.url)
        there = RedisStore(second.url)
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


async def short_of_memory(server: redis.Redis) -> None:
    await server.config_set("maxmemory", "1mb")


async def not_primary_yet(server: redis.Redis) -> None:
    await server.execute_command("REPLICAOF", "127.0.0.1", 1)


@pytest.mark.parametrize("trouble", [short_of_memory, not_primary_yet])
async def test_a_server_that_takes_no_writes_for_now_is_waited_for(
    trouble: Callable[[redis.Redis], Awaitable[None]], tmp_path: Path
) -> None:
    async with await valkey_server(tmp_path) as server, redis.Redis(port=server.port) as admin:
        store = RedisStore(server.url)
        await filled(store, "7-o1")
        step = Step((Put("notes", "a", "x"),))
        assert await store.commit(Commit(steps=(step,))) == [True]
        await trouble(admin)
        with pytest.raises(Unreachable, match="takes no writes"):
            await store.commit(Commit(steps=(step,)))
        await admin.config_set("maxmemory", "0")
        await admin.execute_command("REPLICAOF", "NO", "ONE")
        assert await store.commit(Commit(steps=(step,))) == [True]
        await store.close()
