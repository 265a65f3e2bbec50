"""A member's API that is gone while its jobs run on, and agents that fall silent and come back."""

from pathlib import Path

import pytest

from fairway.process.pipeline import STAGES
from tests.faults.arena.scene import Scene, Setup, under_load

# The agents by themselves, so that they alone can be hit.
APART = Setup(groups=(("agent",), STAGES))


@pytest.mark.slow
async def test_jobs_of_a_member_whose_api_is_gone_run_on_and_their_ends_are_known_when_it_is_back(
    tmp_path: Path,
) -> None:
    async def cut(scene: Scene) -> None:
        await scene.until(lambda: scene.arena.members.running("c0") > 0, "jobs run in c0")
        scene.arena.cut("c0")
        await scene.until(lambda: scene.arena.members.running("c0") == 0, "they have ended unseen")
        await scene.flows()
        scene.arena.mend("c0")

    assert (await under_load(tmp_path, cut)).wrong == ()


@pytest.mark.slow
async def test_killed_agents_stop_new_work_and_running_jobs_go_on_until_they_are_back(tmp_path: Path) -> None:
    async def silence(scene: Scene) -> None:
        await scene.flows()
        await scene.arena.processes["agent"].kill()
        await scene.says(b"CapacityStale")
        await scene.arena.start_process(["agent"])

    assert (await under_load(tmp_path, silence, APART)).wrong == ()


@pytest.mark.slow
async def test_reports_that_agents_made_before_they_fell_silent_do_no_harm_when_they_come(tmp_path: Path) -> None:
    """What they had said stands in their connection, and comes half a minute late, before what they say anew."""

    async def silence(scene: Scene) -> None:
        await scene.flows()
        scene.arena.links["agent>nats"].hang()
        await scene.says(b"CapacityStale")
        scene.arena.links["agent>nats"].mend()

    assert (await under_load(tmp_path, silence, APART)).wrong == ()
