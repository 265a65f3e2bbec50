"""kill -9 of each process, of all at once, and a pause that outlasts what the others trust, under load."""

import asyncio
import os
import random
import signal
from pathlib import Path

import pytest

from fairway.process.pipeline import STAGES
from tests.faults.arena.scene import EACH, FOUR, Scene, Setup, under_load

GROUPS = {"-".join(group): group for group in EACH}
PAIR = Setup(groups=(("agent",),))


@pytest.mark.slow
async def test_killing_every_process_in_turn_loses_and_doubles_no_job(tmp_path: Path) -> None:
    async def kill(scene: Scene) -> None:
        for name in random.Random(1).sample(list(GROUPS), len(GROUPS)):
            await scene.arena.processes[name].kill()
            await scene.waits(4)
            await scene.arena.start_process(GROUPS[name])
            await scene.flows(4)

    assert (await under_load(tmp_path, kill, Setup(groups=EACH))).wrong == ()


@pytest.mark.slow
async def test_killing_all_processes_at_once_loses_and_doubles_no_job(tmp_path: Path) -> None:
    async def kill(scene: Scene) -> None:
        await asyncio.gather(*(child.kill() for child in scene.arena.processes.values()))
        await scene.waits()
        await asyncio.gather(*(scene.arena.start_process(group) for group in FOUR))

    assert (await under_load(tmp_path, kill)).wrong == ()


@pytest.mark.slow
async def test_a_process_that_stands_still_until_another_has_done_its_work_does_none_of_it_again(
    tmp_path: Path,
) -> None:
    """Longer than NATS waits for an acknowledgement, and longer than the lease of the queue."""

    async def pause(scene: Scene) -> None:
        await scene.arena.start_process(STAGES, "first")
        second = asyncio.create_task(scene.arena.start_process(STAGES, "second"))  # it waits for the queue's lease
        await scene.flows()
        os.kill(scene.arena.processes["first"].pid, signal.SIGSTOP)
        await second
        await scene.all_end()
        os.kill(scene.arena.processes["first"].pid, signal.SIGCONT)

    assert (await under_load(tmp_path, pause, PAIR)).wrong == ()


@pytest.mark.slow
async def test_pausing_every_process_in_turn_for_longer_than_the_lease_of_the_queue_loses_and_doubles_no_job(
    tmp_path: Path,
) -> None:
    """With nobody beside it to take over: what it trusted is over when it goes on, and it is told so by the others'
    servers alone."""

    async def pause(scene: Scene) -> None:
        for name in GROUPS:
            await scene.flows(2)
            os.kill(scene.arena.processes[name].pid, signal.SIGSTOP)
            await scene.waits(40)
            os.kill(scene.arena.processes[name].pid, signal.SIGCONT)
            await scene.flows()

    assert (await under_load(tmp_path, pause, Setup(groups=EACH))).wrong == ()
