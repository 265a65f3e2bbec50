"""A fleet that comes to evictions from the version before them, as docs/joining-clusters.md says: the queue last."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
import redis.asyncio as redis
from msgspec.structs import replace

from fairway.adapters.rights.bus_rights import SETUP
from tests.faults.arena.scene import Scene, under_load
from tests.faults.evictions.demand import BORROWED, GROUPS
from tests.faults.evictions.rounds import VERBS, Rounds, rounds
from tests.paths import ROOT

# The last commit without evictions.
BEFORE = "fa112ce0"
QUEUE = ("queue",)
# Agents and watchers have nothing to do with it. What another version decided is not decided so by this one.
BEGIN = replace(BORROWED, groups=GROUPS[:1], decided_again=False)


def former(dir: Path) -> Path:
    """A checkout of the version before."""
    known = subprocess.run(
        ["git", "cat-file", "-e", f"{BEFORE}^{{commit}}"], cwd=ROOT, capture_output=True, check=False
    )
    if known.returncode:
        pytest.skip("the history of this checkout does not go back to the version before evictions")
    dir.mkdir()
    parts = ("libs", "services", "proto")
    packed = subprocess.run(["git", "archive", BEFORE, *parts], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(dir)], input=packed, check=True)
    return dir


async def set_up(scene: Scene, code: Path) -> None:
    """`fairway setup` of that version; what is started from now on is of it, too."""
    scene.arena.code = code
    credentials = str(scene.arena.credentials.folder / SETUP)
    env = {**os.environ, **scene.arena.environment(), "FAIRWAY_CREDENTIALS_DIR": credentials}
    done = await asyncio.create_subprocess_exec(sys.executable, "-m", scene.arena.program, "setup", env=env)
    assert await done.wait() == 0


async def nobody_evicts(played: Rounds) -> None:
    await played.full()
    await played.ask()
    for _ in range(3):
        await played.some_end()
    assert not played.heard & {*VERBS[:5]}


async def replaced(scene: Scene, *groups: tuple[str, ...]) -> None:
    for group in groups:
        await scene.arena.processes["-".join(group)].stop()
        await scene.arena.start_process(group)


@pytest.mark.slow
async def test_nobody_is_evicted_before_the_queue_is_replaced_and_then_the_owner_gets_his_min(tmp_path: Path) -> None:
    of_before = former(tmp_path / "former")

    async def replace_all(scene: Scene) -> None:
        await set_up(scene, of_before)
        await asyncio.gather(*(scene.arena.start_process(group) for group in GROUPS[1:]))
        async with rounds(scene) as played:
            await nobody_evicts(played)
            await set_up(scene, ROOT)
            await replaced(scene, *(group for group in GROUPS if group != QUEUE))
            await nobody_evicts(played)
            await replaced(scene, QUEUE)
            await played.ask()
            await played.all_end()

    verdict = await under_load(tmp_path / "fleet", replace_all, BEGIN)
    assert verdict.wrong == ()
    assert verdict.evictions.wasted == {}
    assert verdict.evictions.evicted.keys() == {"Reclaim", "Preemption"}


@pytest.mark.slow
async def test_a_fleet_goes_back_when_no_claim_is_open_and_makes_its_working_set_anew(tmp_path: Path) -> None:
    """The record has words by then that the version before does not know."""
    of_before = former(tmp_path / "former")

    async def go_back(scene: Scene) -> None:
        async with rounds(scene) as played:
            await played.full()
            await played.ask()
            await played.answered()
            await set_up(scene, of_before)
            await replaced(scene, QUEUE, *(group for group in GROUPS if group != QUEUE))
            async with redis.Redis.from_url(scene.arena.valkey.url) as store:
                await store.flushall()
            await played.some_end()
            await played.all_end()

    verdict = await under_load(tmp_path / "fleet", go_back, replace(BORROWED, decided_again=False))
    assert verdict.wrong == ()
    assert verdict.evictions.claims.keys() == {"used"}
