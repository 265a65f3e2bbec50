"""What is between a process and NATS, Valkey or a member's API: cut, reset, slow, and half open."""

from pathlib import Path

import pytest

from tests.faults.arena.scene import Scene, under_load


@pytest.mark.slow
@pytest.mark.parametrize("server", ["nats", "valkey", "c0"])
async def test_connections_that_break_are_made_anew(server: str, tmp_path: Path) -> None:
    async def spoil(scene: Scene) -> None:
        await scene.flows()
        for link in scene.arena.to(server):
            link.reset()
            await scene.flows(2)
        for link in scene.arena.to(server):
            link.cut()
        await scene.waits(20)
        for link in scene.arena.to(server):
            link.mend()

    assert (await under_load(tmp_path, spoil)).wrong == ()


@pytest.mark.slow
@pytest.mark.parametrize("server", ["nats", "valkey", "c0"])
async def test_slow_connections_slow_the_work_and_nothing_else(server: str, tmp_path: Path) -> None:
    async def slow(scene: Scene) -> None:
        for link in scene.arena.to(server):
            link.delay(0.15)
        await scene.flows(24)
        for link in scene.arena.to(server):
            link.mend()

    assert (await under_load(tmp_path, slow)).wrong == ()


@pytest.mark.slow
@pytest.mark.parametrize("server", ["nats", "valkey"])
async def test_connections_that_stand_and_pass_nothing_are_noticed_and_what_comes_late_does_no_harm(
    server: str, tmp_path: Path
) -> None:
    """All of them at once, and then of one process alone while the others work on."""

    async def hang(scene: Scene) -> None:
        await scene.flows()
        for link in scene.arena.to(server):
            link.hang()
        await scene.until(lambda: scene.unready("admission-quota-queue"), "its silence is noticed")
        for link in scene.arena.to(server):
            link.mend()
        await scene.flows()
        one = scene.arena.links[f"global-scheduler-reserver>{server}"]
        one.hang()
        await scene.until(lambda: scene.unready("global-scheduler-reserver"), "its silence is noticed")
        one.mend()

    assert (await under_load(tmp_path, hang)).wrong == ()
