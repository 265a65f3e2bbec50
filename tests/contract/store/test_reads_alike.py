"""Reads at random, in memory and in Valkey: the same is found; and what is found is of one moment."""

import asyncio
import random

import msgspec
import pytest

from fairway.domain.decision import Add, Put, Step, Write
from fairway.runtime.ports import Commit, ReadRows, Store, Wanted
from tests.support.twins import opened_store

TABLES = ("jobs", "nodes/c1", "ledger/c1", "ledger/c2", "clusters")
COUNTERS = ("quota", "freed")
KEYS = "abcdef"
FOLLOWS = (("",), ("ledger/",), ("nodes/", "clusters"), ("ledger/c2", "clusters"))
GONE = ((), ("ledger/",), ("ledger/c1", "nodes/"))
# In concurrent commits: so many writers, each with so many commits.
WRITERS = 3
EACH = 100


def write(rng: random.Random) -> Write:
    if rng.random() < 0.3:
        return Add(rng.choice(COUNTERS), rng.choice(KEYS), rng.randrange(-3, 4))
    return Put(rng.choice(TABLES), rng.choice(KEYS), rng.choice((None, 1, "x|y")), rev=rng.randrange(1, 4))


def wanted(rng: random.Random, versions: list[int]) -> Wanted:
    tables = rng.sample((*TABLES, "empty"), rng.randrange(4))
    return Wanted(
        rows={table: rng.sample(KEYS, rng.randrange(4)) for table in tables},
        whole=tuple(rng.sample((*TABLES, *COUNTERS, "empty"), rng.randrange(3))),
        since=rng.choice((None, *versions)),
        follow=rng.choice(FOLLOWS),
        gone=rng.choice(GONE),
    )


def told(found: ReadRows) -> object:
    """A counter of 0 may as well be none."""
    counters = {table: {key: n for key, n in each.items() if n} for table, each in found.counters.items()}
    filled = {table: each for table, each in counters.items() if each}
    return found.rows, {table: each for table, each in found.whole.items() if each}, filled, found.changes


@pytest.mark.parametrize("seed", range(10))
async def test_both_find_the_same_rows_tables_counters_and_changes(seed: int, valkey_url: str) -> None:
    rng = random.Random(seed)
    async with opened_store("memory", valkey_url) as memory, opened_store("redis", valkey_url) as valkey:
        versions = [0]
        for number in range(60):
            one = Commit(tuple(Step((write(rng), write(rng))) for _ in range(rng.randrange(4))))
            assert await memory.commit(one) == await valkey.commit(one)
            asked = wanted(rng, versions)
            here = await memory.read(asked)
            there = await valkey.read(asked)
            assert told(there) == told(here), (number, asked)
            assert there.version == here.version, (number, asked)
            versions = [*versions, here.version][-4:]


async def write_all(store: Store) -> None:
    """One step writes a row of each table and counts; as often as it is taken, so far are the rows."""
    for _ in range(EACH):
        taken = False
        while not taken:
            now = await store.read(Wanted(rows={"jobs": ["a"]}))
            rev = now.rows["jobs", "a"].rev if now.rows else 0
            puts = [Put(table, "a", rev + 1, rev=rev + 1, expect=rev) for table in ("jobs", "nodes/c", "ledger/c")]
            (taken,) = await store.commit(Commit((Step((*puts, Add("quota", "a", 1))),)))


async def test_what_is_read_during_commits_is_of_one_moment(store: Store) -> None:
    """Rows, whole tables, counters, changes and their version: who decides by two of them must not see one before and
    one after a commit."""
    writers = [asyncio.create_task(write_all(store)) for _ in range(WRITERS)]
    rows = {"jobs": ["a"], "nodes/c": ["a"], "ledger/c": ["a"]}
    since = last = 0
    try:
        while last < WRITERS * EACH:
            found = await store.read(Wanted(rows=rows, whole=("quota", "ledger/c"), since=since))
            seen = {row.rev for row in found.rows.values()} | {one.rev for one in found.whole["ledger/c"].values()}
            seen |= {row.rev for *_, row in found.changes if row} | set(found.counters.get("quota", {}).values())
            assert len(seen) <= 1, found
            now = max(seen, default=0)
            assert found.version == 2 * now, "two followed rows a commit"
            assert [table for table, *_ in found.changes] == (["nodes/c", "ledger/c"] if now > last else [])
            assert all(msgspec.json.decode(row.data) == now for row in found.rows.values())
            since = found.version
            last = now
            await asyncio.sleep(0)
        await asyncio.gather(*writers)
    finally:
        for one in writers:
            one.cancel()
