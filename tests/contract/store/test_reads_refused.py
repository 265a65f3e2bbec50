"""What a server refuses of a read is told, and the next read on the same connection is answered its own answers."""

import pytest
from redis.exceptions import ResponseError

from fairway.adapters.valkey.reads import at_once
from fairway.adapters.valkey.store import RedisStore
from fairway.domain.decision import Put, Step
from fairway.runtime.ports import Commit, Wanted
from tests.support.twins import opened_store


async def test_after_a_read_that_is_refused_the_next_is_answered(valkey_url: str) -> None:
    async with opened_store("redis", valkey_url) as store:
        assert isinstance(store, RedisStore)
        assert await store.commit(Commit((Step((Put("jobs", "a", 1, rev=3),)),))) == [True]
        await store._do("SET", f"{store._prefix}:t:odd", "no table")
        with pytest.raises(ResponseError, match="WRONGTYPE"):
            await store.read(Wanted(rows={"odd": ["a"], "jobs": ["a"]}))
        assert (await store.read(Wanted(rows={"jobs": ["a"]}))).rows["jobs", "a"].rev == 3


async def test_changes_are_read_from_a_server_that_has_forgotten_its_scripts(valkey_url: str) -> None:
    async with opened_store("redis", valkey_url) as store:
        assert isinstance(store, RedisStore)
        assert await store.commit(Commit((Step((Put("clusters", "a", 1, rev=3),)),))) == [True]
        for _ in range(2):
            found = await store.read(Wanted(since=0))
            assert [(table, key, row and row.rev) for table, key, row in found.changes] == [("clusters", "a", 3)]
            await store._do("SCRIPT", "FLUSH")


async def test_a_command_that_is_refused_before_exec_is_the_cause_that_is_told(valkey_url: str) -> None:
    async with opened_store("redis", valkey_url) as store:
        assert isinstance(store, RedisStore)
        pool = store._redis.connection_pool
        with pytest.raises(ResponseError, match="wrong number of arguments"):
            await at_once(pool, [("HMGET", "alone"), ("GET", "a"), ("GET", "b")])
        assert await at_once(pool, [("ECHO", "own answer")]) == [b"own answer"]
