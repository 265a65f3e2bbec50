"""Hundreds of jobs through real NATS, Valkey and services: what every stage decided is decided again."""

import asyncio
import json
import os
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fairway.cli.main import app
from fairway.lab.fleet.cluster_shapes import equal_clusters
from fairway.lab.fleet.fleet import EmbeddedFleet
from fairway.lab.processes.embedded_servers import EmbeddedServer, account, nats_server
from fairway.lab.traces.replay import ReplayPlan, replay
from fairway.lab.traces.trace import GPU, TraceJob
from fairway.process.pipeline import HUB, STAGES

SCHEDULER = "global-scheduler"


def load(count: int, seconds: float) -> list[TraceJob]:
    """Gangs of one to four pods, spread evenly over `seconds`: more than there is room for, so that many wait."""
    chance = random.Random(1)
    return [
        TraceJob(
            name=f"job-{number}",
            tenant=f"team-{number % 3}",
            at=number * seconds / count,
            seconds=chance.uniform(0.1, 1.5),
            pods=chance.choice((1, 1, 2, 4)),
            requests={GPU: str(chance.choice((1, 2, 4, 8))), "cpu": "2"},
        )
        for number in range(count)
    ]


async def second(fleet: EmbeddedFleet) -> None:
    await fleet.start_process([SCHEDULER], "second-scheduler")


async def command(server: EmbeddedServer, credentials: Path, *words: str) -> Result:
    """Another loop than the test's, as every command has."""
    where = {"FAIRWAY_NATS_URL": f"nats://{server.address}", "FAIRWAY_CREDENTIALS_DIR": str(credentials / "operator")}
    environment = {**os.environ, **where}
    return await asyncio.to_thread(CliRunner().invoke, app, ["replay", "decisions", *words], env=environment)


@pytest.mark.parametrize("count", [60, pytest.param(300, marks=pytest.mark.slow)])
async def test_all_jobs_on_three_clusters_are_decided_again_all_the_same(count: int, tmp_path: Path) -> None:
    plan = ReplayPlan(
        name="decisions",
        dir=tmp_path,
        clusters=equal_clusters(3, nodes=4, gpus=8),
        speedup=1,
        groups=(("agent",), *((name,) for name in STAGES)),
        patience_s=60,
        decide_again=False,  # the command does that
    )
    report = await replay(plan, load(count, seconds=count / 25), while_running=second)
    assert (report.findings.violations, report.figures.jobs["succeeded"]) == ((), count)
    credentials = tmp_path / "credentials"
    users = account(credentials / "nats" / "services.conf", tmp_path / "nats")
    server = await nats_server(tmp_path / "nats", more=users)
    try:
        done = await command(server, credentials, "-o", "json")
        one = await command(server, credentials, "--from", "2020-01-01", "--job", "no-such-job")
    finally:
        await server.stop()
    assert done.exit_code == 0, done.output
    stages = json.loads(done.stdout)["stages"]
    assert list(stages) == [*STAGES, HUB]
    assert stages.pop(HUB)["identical"] == 0, "it does not run here"
    for found in stages.values():
        assert (found["different"], found["unknown"], found["rows"]) == ([], [], [])
        assert found["identical"] >= count
    assert one.exit_code == 0
    assert one.stdout.endswith("all: 0 decisions decided again: there are none\n")


@pytest.mark.slow  # it takes more than one of the minutes of which a part is recorded
async def test_what_is_not_recorded_by_choice_is_said_of_every_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRWAY_VIEWS_SHARE", "50")
    plan = ReplayPlan(name="share", dir=tmp_path, clusters=equal_clusters(3, nodes=4, gpus=8), speedup=1)
    report = await replay(plan, load(280, seconds=70))
    assert (report.findings.violations, report.figures.jobs["succeeded"]) == ((), 280)
    assert report.decided is not None
    assert report.decided.good
    for name, found in report.decided.stages.items():
        assert (found.different, found.unknown, found.rows) == ([], [], []), name
        assert found.identical > 0, name
        assert found.left_out.seconds > 20, name
        assert found.left_out.decisions >= found.left_out.events > 0, name
