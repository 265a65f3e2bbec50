"""What is done to a fleet is alarmed about, and the page of the alert leads to it."""

from pathlib import Path

import pytest

from tests.faults.alerts.watched import GROUPS, watching
from tests.faults.arena.scene import Scene, Setup, under_load

SETUP = Setup(groups=GROUPS)


@pytest.mark.slow
async def test_a_stage_that_nats_does_not_reach_is_not_ready(tmp_path: Path) -> None:
    name = "admission-quota-queue"

    async def play(scene: Scene) -> None:
        await scene.flows()
        async with watching(scene) as watched:
            scene.arena.links[f"{name}>nats"].cut()
            await watched.shows("fairway_ready", 0, instance=name)
            told = await watched.told("StageNotReady", name)
        scene.arena.links[f"{name}>nats"].mend()
        print(told)
        assert watched.wrong("StageNotReady", *({"service": one} for one in name.split("-"))) == ""
        assert "the bus is away" in told

    assert (await under_load(tmp_path, play, SETUP)).wrong == ()


@pytest.mark.slow
async def test_when_the_store_is_away_no_stage_is_ready(tmp_path: Path) -> None:
    async def play(scene: Scene) -> None:
        await scene.flows()
        async with watching(scene) as watched:
            scene.arena.cut("valkey")
            await watched.shows("fairway_ready", 0, instance="propagator")
            await watched.shows("fairway_ready", 0, service="queue")
            told = await watched.told("StageNotReady", "propagator")
        scene.arena.mend("valkey")
        print(told)
        assert "the store" in told
        assert watched.wrong("StageNotReady", {"service": "queue"}) == ""

    assert (await under_load(tmp_path, play, SETUP)).wrong == ()
