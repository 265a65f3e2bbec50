"""Every process replaced under load by one of the next version, which says more on the wire, and back again."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.arena.scene import EACH, Scene, Setup, under_load
from tests.paths import ROOT

# The gateway, too: all that is submitted passes through it.
ALONE = Setup(groups=(("gateway",), *EACH), over_http=True)
# What is decided by a version that says and keeps other things is not decided so by this one: nobody compares it.
BY_ANOTHER = Setup(groups=ALONE.groups, over_http=True, decided_again=False)
NEXT = "tests.faults.arena.next_version"
FORMER = "tests.faults.arena.former_version"


@pytest.mark.parametrize("program", [NEXT, FORMER])
def test_another_version_begins_as_this_one_does(program: str) -> None:
    """It replaces parts of this version by name: what is renamed or moved shows here."""
    done = subprocess.run(
        [sys.executable, "-m", program, "--help"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
async def test_replacing_every_process_by_one_that_says_more_and_back_loses_and_doubles_no_job(tmp_path: Path) -> None:
    async def replace(scene: Scene) -> None:
        for program in (NEXT, "fairway.cli.main"):
            scene.arena.program = program
            for group in ALONE.groups:
                await scene.arena.processes["-".join(group)].stop()
                await scene.arena.start_process(group)
                await scene.flows(2)
            await scene.says(b"added_since") if program == NEXT else await scene.flows()

    assert (await under_load(tmp_path, replace, ALONE)).wrong == ()


@pytest.mark.slow
async def test_what_a_version_left_that_sealed_nothing_is_adopted_and_no_job_is_lost_or_doubled(tmp_path: Path) -> None:
    async def replace(scene: Scene) -> None:
        await everything(scene, FORMER)
        adopted = asyncio.create_task(scene.says(b'"adopted":true'))
        await everything(scene, "fairway.cli.main")
        await adopted

    assert (await under_load(tmp_path, replace, BY_ANOTHER)).wrong == ()


async def everything(scene: Scene, program: str) -> None:
    scene.arena.program = program
    for group in ALONE.groups:
        await scene.arena.processes["-".join(group)].stop()
        await scene.arena.start_process(group)
    await scene.flows(4)
