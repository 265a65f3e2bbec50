"""kill -9 of who evicts, between each pair of the messages of an eviction: at each that is said, and with each of its
own on the way."""

from pathlib import Path

import pytest

from tests.faults.arena.scene import Scene, under_load
from tests.faults.evictions.demand import BORROWED
from tests.faults.evictions.rounds import VERBS, killed_when_heard, killed_while_saying, rounds

OWN_WORDS = {
    "queue": ("job.claimed", "relief.relieve", "job.dequeued"),
    "global-scheduler": ("relief.evict", "job.placed"),
    "reserver": ("job.nominated", "job.evicted", "cluster.freed", "job.reserved"),
    "propagator": ("job.removed", "job.dispatched"),
}


@pytest.mark.slow
@pytest.mark.parametrize("service", OWN_WORDS)
async def test_whoever_is_killed_at_each_message_nobody_is_evicted_for_nothing_and_all_run(
    tmp_path: Path, service: str
) -> None:
    async def kill(scene: Scene) -> None:
        async with rounds(scene) as played:
            for verb in VERBS:
                await killed_when_heard(played, service, verb)
            await played.all_end()

    verdict = await under_load(tmp_path, kill, BORROWED)
    print(verdict.evictions)
    assert verdict.wrong == ()
    assert verdict.evictions.wasted == {}
    assert verdict.evictions.evicted.keys() == {"Reclaim", "Preemption"}


@pytest.mark.slow
@pytest.mark.parametrize("service", OWN_WORDS)
async def test_whoever_is_killed_with_a_message_on_its_way_nobody_is_evicted_for_nothing_and_all_run(
    tmp_path: Path, service: str
) -> None:
    async def kill(scene: Scene) -> None:
        async with rounds(scene) as played:
            for words in OWN_WORDS[service]:
                await killed_while_saying(played, service, f"fairway.{words}")
            await played.all_end()

    verdict = await under_load(tmp_path, kill, BORROWED)
    print(verdict.evictions)
    assert verdict.wrong == ()
    assert verdict.evictions.wasted == {}
    assert verdict.evictions.evicted.keys() == {"Reclaim", "Preemption"}
