"""A store that is made anew from the record: by one at a time, told to all, and gone for who knew the one before."""

import asyncio

import pytest

from fairway.adapters.memory.store import MemoryStore
from fairway.adapters.valkey.store import RedisStore
from fairway.domain.decision import Put, Step
from fairway.runtime.ports import Commit, Store, StoreWiped, Unreachable, Wanted


async def without_epoch(store: Store) -> None:
    """As a wipe leaves it."""
    if isinstance(store, MemoryStore):
        store.wipe()
    else:
        await store._do("DEL", f"{store._prefix}:epoch")  # type: ignore[attr-defined]  # the port has no wipe


async def test_of_what_is_listed_a_rebuild_leaves_the_keys_that_it_loads_in_order(store: Store) -> None:
    """Whoever keeps what no record tells of, such as the objects that the hub holds, puts it there again."""
    assert await store.commit(Commit((Step((Put("jobs", "old", 1), Put("held", "old", 1))),))) == [True]
    await without_epoch(store)
    assert await store.begin_rebuild("test", 1_000)
    await store.load("jobs", {"b": (1, b"{}"), "a": (1, b"{}")})
    await store.finish_rebuild("epoch-2")
    assert (await store.keys("jobs", "", 5), await store.keys("held", "", 5)) == (["a", "b"], [])


async def test_a_lease_that_its_owner_lets_run_out_is_the_next_ones_and_stays_so(
    valkey_url: str,
) -> None:
    store = RedisStore(valkey_url, prefix="{ends}")
    other = RedisStore(valkey_url, prefix="{ends}")
    token = await store.lease("queue", "me", 60_000)
    assert await other.lease("queue", "another", 60_000) == 0
    assert await store.lease("queue", "me", 1) == token
    await asyncio.sleep(0.05)
    assert await other.lease("queue", "another", 60_000) == token + 1
    assert await store.lease("queue", "me", 1) == 0, "who ends late takes it from nobody"
    assert await other.lease("queue", "another", 60_000) == token + 1
    for one in (store, other):
        await one.close()


async def test_a_lease_is_renewed_while_a_rebuild_has_cleared_half_of_it(valkey_url: str) -> None:
    """Key by key: of one owner the lease may be there still, and its fence gone."""
    store = RedisStore(valkey_url, prefix="{half}")
    for kept in ("fence", "lease"):
        assert await store.lease("queue", "me", 60_000)
        await store._do("DEL", *{"{half}:fence:queue", "{half}:lease:queue"} - {f"{{half}}:{kept}:queue"})
        token = await store.lease("queue", "me", 60_000)
        assert token > 0 and await store.lease("queue", "me", 60_000) == token
        assert await store.lease("queue", "another", 60_000) == 0
    await store.close()


async def test_what_a_rebuild_loads_is_told_as_a_change(store: Store) -> None:
    await without_epoch(store)
    assert await store.begin_rebuild("test", 1_000)
    await store.load("ledger/c", {"job/1": (3, b"{}")})
    await store.load_counters("quota", {"root|gpu": 4})
    await store.finish_rebuild("epoch-2")
    found = await store.read(Wanted(whole=("quota",), since=0))
    assert [(table, key, row and row.rev) for table, key, row in found.changes] == [("ledger/c", "job/1", 3)]
    assert found.counters["quota"] == {"root|gpu": 4}


async def test_a_voided_working_set_is_gone_for_all_who_had_opened_it_and_for_them_alone(valkey_url: str) -> None:
    first, second = (RedisStore(valkey_url, prefix="{voided}") for _ in range(2))
    assert await first.begin_rebuild("first", 60_000)
    await first.load("jobs", {f"j{number}": (1, b"{}") for number in range(5_000)})
    await first.load_counters("quota", {"root|gpu": 4})
    await first.finish_rebuild("1-first")
    assert await second.open() and await second.tables() == ["jobs", "quota"]
    assert (await second.size("jobs"), len(await second.table("jobs"))) == (5_000, 5_000)
    assert await second.table("quota") == {"root|gpu": b"4"}
    assert await second.void()
    with pytest.raises(StoreWiped):
        await first.commit(Commit((Step((Put("jobs", "a", 1),)),)))
    assert await first.begin_rebuild("first", 60_000)
    assert await first.tables() == []
    await first.finish_rebuild("2-first")
    assert not await second.void(), "it has not opened this one"
    assert await first.read(Wanted()) is not None
    await first.close()
    await second.close()


async def test_only_one_rebuilds_and_a_filled_store_is_not_rebuilt(valkey_url: str) -> None:
    first, second = (RedisStore(valkey_url, prefix="{rebuilt}") for _ in range(2))
    assert await first.begin_rebuild("first", 60_000)
    assert not await second.begin_rebuild("second", 60_000)
    await first.finish_rebuild("epoch-1")
    assert not await second.begin_rebuild("second", 60_000)
    assert await second.open()
    await first.close()
    await second.close()


async def test_whoever_lost_the_rebuild_can_no_longer_load(valkey_url: str) -> None:
    slow, quick = (RedisStore(valkey_url, prefix="{taken over}") for _ in range(2))
    assert await slow.begin_rebuild("slow", 60_000)
    await slow._do("DEL", "{taken over}:rebuilding")
    assert await quick.begin_rebuild("quick", 60_000)
    with pytest.raises(Unreachable):
        await slow.load("jobs", {"a": (1, b"{}")})
    with pytest.raises(Unreachable):
        await slow.finish_rebuild("epoch-slow")
    await slow.close()
    await quick.close()
