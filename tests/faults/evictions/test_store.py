"""Valkey emptied at each message of an eviction, while claims are open and room is kept for them."""

from pathlib import Path

import pytest
import redis.asyncio as redis

from tests.faults.arena.scene import Scene, under_load
from tests.faults.evictions.demand import BORROWED
from tests.faults.evictions.rounds import VERBS, rounds


@pytest.mark.slow
async def test_emptying_valkey_with_claims_open_evicts_nobody_for_nothing_and_all_run(tmp_path: Path) -> None:
    async def wipe(scene: Scene) -> None:
        async with rounds(scene) as played:
            for verb in VERBS:
                await played.full()
                there = played.said(verb)
                await played.ask()
                await played.reached(there, f"{verb} is said")
                async with redis.Redis.from_url(scene.arena.valkey.url) as store:
                    await store.flushall()
            await played.all_end()

    verdict = await under_load(tmp_path, wipe, BORROWED)
    print(verdict.evictions)
    assert verdict.wrong == ()
    assert verdict.evictions.wasted == {}
    assert verdict.evictions.evicted.keys() == {"Reclaim", "Preemption"}
