"""NATS killed, NATS without room on its disk, and of three servers the data of one gone."""

import shutil
from pathlib import Path

import pytest
from nats.js.api import StreamConfig
from scene import Scene, Setup, under_load

from fairway.wire import subjects


@pytest.mark.slow
async def test_killing_the_only_nats_server_loses_and_doubles_no_job(tmp_path: Path) -> None:
    async def kill(scene: Scene) -> None:
        for _ in range(2):
            await scene.flows()
            scene.arena.nats.kill()
            await scene.until(lambda: scene.unready("propagator"), "the services have noticed")
            await scene.arena.nats.restart()

    await under_load(tmp_path, kill)
