"""Two queues and two schedulers: one stands still with a commit on its way, and the other takes over."""

import asyncio
import os
import signal
from hashlib import sha1
from pathlib import Path

import pytest

import fairway.adapters.valkey.store
from tests.faults.arena.scene import Scene, Setup, under_load

BESIDE = Setup(groups=(("agent", "watcher"), ("admission", "quota"), ("reserver", "propagator")))
# How Valkey's clients name a script that it has.
COMMIT = sha1((Path(fairway.adapters.valkey.store.__file__).parent / "commit.lua").read_bytes()).hexdigest().encode()


async def caught(scene: Scene, name: str) -> None:
    """The process is stopped, and its next commit is on its way to Valkey."""
    link = scene.arena.links[f"{name}>valkey"]
    link.catch(COMMIT)
    await asyncio.wait_for(link.caught.wait(), 30)
    os.kill(scene.arena.processes[name].pid, signal.SIGSTOP)


@pytest.mark.slow
async def test_a_commit_of_a_queue_that_has_lost_its_lease_is_refused_by_the_fence(tmp_path: Path) -> None:
    refused: list[bool] = []

    async def pause(scene: Scene) -> None:
        await scene.arena.start_process(["queue"], "first")
        second = asyncio.create_task(scene.arena.start_process(["queue"], "second"))  # it waits for the lease
        await scene.arena.start_process(["global-scheduler"])
        await scene.flows()
        await caught(scene, "first")
        await second
        await scene.flows()
        link = scene.arena.links["first>valkey"]
        link.mend()
        await scene.until(lambda: bool(link.answers), "Valkey has answered the late commit")
        refused.append(b"FENCED" in link.answers)
        os.kill(scene.arena.processes["first"].pid, signal.SIGCONT)
        await scene.flows()

    assert (await under_load(tmp_path, pause, BESIDE)).wrong == ()
    assert refused == [True]


@pytest.mark.slow
async def test_a_commit_of_a_scheduler_that_was_overtaken_is_refused_by_the_version_of_the_job(tmp_path: Path) -> None:
    """Schedulers share the work and need no lease: whoever commits second has decided on a job that is not so any
    more. NATS gives the work of the one that is stopped to the other after the wait for an acknowledgement."""
    refused: list[bytes] = []

    async def pause(scene: Scene) -> None:
        await scene.arena.start_process(["queue"])
        await scene.arena.start_process(["global-scheduler"], "first")
        await scene.flows()
        await caught(scene, "first")
        await scene.arena.start_process(["global-scheduler"], "second")
        await scene.all_end()
        link = scene.arena.links["first>valkey"]
        link.mend()
        await scene.until(lambda: bool(link.answers), "Valkey has answered the late commit")
        refused.append(link.answers)
        os.kill(scene.arena.processes["first"].pid, signal.SIGCONT)
        await scene.flows()

    assert (await under_load(tmp_path, pause, BESIDE)).wrong == ()
    (answer,) = refused
    # A string of one digit for each decision: 0 is refused.
    assert set(answer.split(b"\r\n")[1]) == set(b"0"), answer
