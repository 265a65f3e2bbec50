"""A store that comes back as it was some time ago counts as lost: the last writes are gone, and nothing shows it."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import redis.asyncio as redis

from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.valkey.store import RedisStore
from fairway.domain.decision import Put, Step
from fairway.lab.processes.embedded_servers import EmbeddedServer, valkey_server
from fairway.runtime.ports import Commit, Store, StoreWiped, Unreachable, Wanted


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[EmbeddedServer]:
    async with await valkey_server(tmp_path / "first") as started:
        yield started


async def filled(store: Store) -> None:
    assert await store.begin_rebuild("test", 1_000)
    await store.finish_rebuild("1-test")
    await wrote(store, "early")


async def wrote(store: Store, key: str) -> None:
    assert await store.commit(Commit((Step((Put("jobs", key, 1),)),))) == [True]


async def is_lost(store: Store) -> None:
    """For whoever knew it, until it is made anew."""
    with pytest.raises(StoreWiped):
        await answered(store)
    assert not await store.open()
    assert await store.begin_rebuild("test", 1_000)
    await store.finish_rebuild("2-test")
    await wrote(store, "new")
    assert ("jobs", "late") not in (await store.read(Wanted(rows={"jobs": ["late"]}))).rows


async def answered(store: Store) -> None:
    """The connection that was there is broken; the next call has another one."""
    try:
        await store.read(Wanted())
    except Unreachable:
        await store.read(Wanted())


async def test_a_restart_from_an_old_file(server: EmbeddedServer) -> None:
    store = RedisStore(server.url)
    await filled(store)
    async with redis.Redis.from_url(server.url) as client:
        await client.save()
    await wrote(store, "late")
    server.kill()
    await server.restart()
    await is_lost(store)
    await store.close()


async def test_a_replica_that_was_behind_when_it_was_promoted(server: EmbeddedServer, tmp_path: Path) -> None:
    async with await valkey_server(tmp_path / "second") as second:
        store = RedisStore(server.url)
        await filled(store)
        async with (
            redis.Redis.from_url(second.url) as client,
            redis.Redis.from_url(server.url, socket_timeout=30) as first,
        ):
            await first.config_set("repl-diskless-sync-delay", 0)
            await client.replicaof("127.0.0.1", str(server.port))
            assert await first.execute_command("WAIT", 1, 20_000) == 1
            await client.replicaof("NO", "ONE")
        await wrote(store, "late")
        pool = store._redis.connection_pool
        pool.connection_kwargs["port"] = second.port  # as an address does that moves
        await pool.disconnect()
        pool.reset()
        await is_lost(store)
        await store.close()


async def test_a_server_that_only_breaks_its_connections_is_the_same(server: EmbeddedServer) -> None:
    store = RedisStore(server.url)
    await filled(store)
    async with redis.Redis.from_url(server.url) as client:
        await client.client_kill_filter(_type="normal", skipme=True)
    await answered(store)
    await wrote(store, "late")
    await store.close()


async def test_a_rebuild_that_was_under_way_is_not_finished_from_an_old_file(server: EmbeddedServer) -> None:
    """What it had loaded may be gone; its lock is, too."""
    store = RedisStore(server.url)
    assert await store.begin_rebuild("test", 60_000)
    async with redis.Redis.from_url(server.url) as client:
        await client.save()
    server.kill()
    await server.restart()
    with contextlib.suppress(Unreachable):  # the connection is broken; the next call has another one
        await store.open()
    with pytest.raises(Unreachable, match="took over"):
        await store.load("jobs", {"a": (1, b"{}")})
    with pytest.raises(Unreachable, match="took over"):
        await store.finish_rebuild("1-test")
    await store.close()


async def test_the_store_in_memory_promises_the_same() -> None:
    store = MemoryStore()
    await filled(store)
    kept = store.keep()
    await wrote(store, "late")
    store.fail_over(kept)
    await is_lost(store)
