"""kill -9 of every service, of NATS and of Valkey, in turn and under load: nothing is lost, nothing runs twice."""

import asyncio
import random
from pathlib import Path

import pytest

from fairway.app.fleet import Fleet, equal_clusters
from fairway.app.pipeline import STAGES
from fairway.app.replay_run import Plan, replay
from fairway.app.replay_trace import GPU, TraceJob

SERVERS = ("nats", "valkey")
EVERYBODY = ("gateway", "agent", *STAGES)


def load(seed: int, count: int, seconds: float) -> list[TraceJob]:
    """Gangs of one to four pods, spread evenly over `seconds`; each pod takes one to eight GPUs of a node."""
    chance = random.Random(seed)
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


async def kill(fleet: Fleet, name: str) -> None:
    """SIGKILL, and start it again, as a supervisor would."""
    if name in SERVERS:
        server = fleet.nats if name == "nats" else fleet.valkey
        server.kill()
        await server.restart()
        return
    await fleet.processes[name].kill()
    await fleet.start_process([name])


@pytest.mark.parametrize("seed", [1, 2])
async def test_killing_each_process_in_turn_loses_and_doubles_no_job(seed: int, tmp_path: Path) -> None:
    victims = [*EVERYBODY, *SERVERS, *SERVERS]
    random.Random(seed).shuffle(victims)
    killed: list[str] = []

    async def rampage(fleet: Fleet) -> None:
        for name in victims:
            await asyncio.sleep(0.5)  # the load goes on for a moment between two murders
            await kill(fleet, name)
            killed.append(name)

    plan = Plan(
        name=f"kill-{seed}",
        dir=tmp_path,
        clusters=equal_clusters(3, nodes=4, gpus=8),
        speedup=1,
        groups=tuple((name,) for name in EVERYBODY),
        patience_s=45,
    )
    jobs = load(seed, count=150, seconds=20)
    report = await replay(plan, jobs, while_running=rampage)

    assert killed == victims
    assert report.findings.violations == ()
    assert report.figures.jobs["accepted"] == len(jobs)
    assert report.figures.jobs["succeeded"] == len(jobs)
