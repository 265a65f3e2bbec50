"""`python -m fairway.lab.kubesim` hosts a fleet, and leaves with its parent."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.support.kubesim import PATIENCE

Json = dict[str, Any]


@contextlib.asynccontextmanager
async def hosted(fleet: Json, folder: Path) -> AsyncIterator[tuple[Process, Json]]:
    """The process and its ready line."""
    config = folder / "fleet.json"
    config.write_text(json.dumps({"kubeconfigs": str(folder), **fleet}))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "fairway.lab.kubesim",
        "--config",
        str(config),
        "--until-eof",
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=environment,
    )
    assert process.stdout
    line = await asyncio.wait_for(process.stdout.readline(), PATIENCE)
    try:
        yield process, json.loads(line or b"{}")
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.parametrize(
    "leave",
    [
        pytest.param(lambda process: process.send_signal(signal.SIGTERM), id="at SIGTERM"),
        pytest.param(lambda process: process.send_signal(signal.SIGINT), id="at SIGINT"),
        pytest.param(lambda process: process.stdin.close(), id="when its parent's end of the pipe closes"),
    ],
)
async def test_a_fleet_answers_on_its_ports_and_ends_cleanly(leave: Callable[[Process], None], tmp_path: Path) -> None:
    nodes = [
        {"count": 2, "prefix": "gpu", "allocatable": {"cpu": "8"}, "taints": [{"key": "a", "effect": "NoSchedule"}]}
    ]
    clusters = [{"name": "hub", "controllers": False}, {"name": "m", "nodes": nodes, "labels": {"region": "eu"}}]
    async with hosted({"clusters": clusters}, tmp_path) as (process, ready):
        assert ready["ready"] is True
        assert ready["clusters"]["m"]["labels"] == {"region": "eu"}
        written = json.loads((tmp_path / "m.kubeconfig").read_text())
        url = written["clusters"][0]["cluster"]["server"]
        assert url == ready["clusters"]["m"]["url"]
        async with aiohttp.ClientSession() as client, client.get(f"{url}/api/v1/nodes") as response:
            names = [one["metadata"]["name"] for one in (await response.json())["items"]]
        assert names == ["gpu-0", "gpu-1"]
        leave(process)
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0


async def test_a_fleet_that_cannot_be_read_is_refused_with_the_field(tmp_path: Path) -> None:
    async with hosted({"clusters": [{"name": 1}]}, tmp_path) as (process, ready):
        assert ready == {}
        assert process.stderr
        told = (await process.stderr.read()).decode()
        assert await process.wait() == 2
        assert "$.clusters[0].name" in told
