"""Commits at random, in memory and in Valkey: the same steps are taken, and the same is there afterwards."""

import random

import pytest

from fairway.domain.decision import Add, Put, Step, Write
from fairway.runtime.ports import Commit, Store, Wanted
from tests.support.twins import opened_store

TABLES = ("jobs", "ledger/c1", "names")
# Large enough that sums within one commit are more than Lua counts exactly.
AMOUNTS = (1, 2, -1, -2, 5, 2**52 + 1, -(2**52) - 1)


def write(rng: random.Random) -> Write:
    if rng.random() < 0.5:
        limit = rng.choice((None, 3))
        return Add(rng.choice(("quota", "pending")), rng.choice("ab"), rng.choice(AMOUNTS), most=limit)
    value = rng.choice((None, 1, "x"))
    expect = rng.choice((None, 0, 1, 2))
    return Put(rng.choice(TABLES), rng.choice("abc"), value, rev=rng.randrange(1, 4), expect=expect)


def commit(rng: random.Random) -> Commit:
    steps = [Step(tuple(write(rng) for _ in range(rng.randrange(1, 4)))) for _ in range(rng.randrange(1, 12))]
    return Commit(tuple(steps))


async def everything(store: Store) -> tuple[object, object]:
    found = await store.read(Wanted(whole=(*TABLES, "quota", "pending")))
    rows = {(table, key): (row.rev, row.data) for table in TABLES for key, row in found.whole.get(table, {}).items()}
    return rows, {table: {key: n for key, n in each.items() if n} for table, each in found.counters.items()}


@pytest.mark.parametrize("seed", range(30))
async def test_both_take_the_same_steps_and_have_the_same_rows_and_counters(seed: int, valkey_url: str) -> None:
    rng = random.Random(seed)
    async with opened_store("memory", valkey_url) as memory, opened_store("redis", valkey_url) as valkey:
        refused = 0
        for number in range(40):
            one = commit(rng)
            taken = await memory.commit(one)
            assert await valkey.commit(one) == taken, (number, one)
            assert await everything(valkey) == await everything(memory), (number, one)
            refused += taken.count(False)
        assert refused > 20
