"""kill -9 of every service, of NATS and of Valkey, in turn and under load: nothing is lost, nothing runs twice."""

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairway.adapters.kubernetes.cluster import KubernetesCluster
from fairway.adapters.nats.bus import NatsBus
from fairway.lab.fleet.cluster_shapes import equal_clusters
from fairway.lab.fleet.decided_again import differing, hardly_known, summaries
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan, running
from fairway.lab.traces.replay import ReplayPlan, replay
from fairway.lab.traces.trace import GPU, TraceJob
from fairway.process.pipeline import HUB, STAGES
from fairway.wire import jobs as wire

SERVERS = ("nats", "valkey")
EVERYBODY = ("agent", *STAGES)


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


async def kill(fleet: EmbeddedFleet, name: str) -> None:
    """SIGKILL, and start it again, as a supervisor would."""
    if name in SERVERS:
        server = fleet.nats if name == "nats" else fleet.valkey
        server.kill()
        await server.restart()
        return
    await fleet.processes[name].kill()
    await fleet.start_process([name])


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
async def test_killing_each_process_in_turn_loses_and_doubles_no_job(seed: int, tmp_path: Path) -> None:
    victims = [*EVERYBODY, *SERVERS, *SERVERS]
    random.Random(seed).shuffle(victims)
    killed: list[str] = []

    async def rampage(fleet: EmbeddedFleet) -> None:
        for name in victims:
            await asyncio.sleep(0.5)  # the load goes on for a moment between two murders
            await kill(fleet, name)
            killed.append(name)

    plan = ReplayPlan(
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
    assert report.decided is not None
    assert [*differing(report.decided), *hardly_known(report.decided)] == [], summaries(report.decided)


def hub_job(number: int) -> dict[str, Any]:
    main = {"name": "main", "image": "x", "resources": {"limits": {GPU: "1"}}}
    pod = {"restartPolicy": "Never", "containers": [main]}
    template = {"metadata": {"annotations": {"fairway.test/run-for": "300ms"}}, "spec": pod}
    meta = {"name": f"hub-{number}", "namespace": "team-a"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": template}}


POLICY = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "ClusterPropagationPolicy",
    "metadata": {"name": "all"},
    "spec": {"resourceSelectors": [{"apiVersion": "batch/v1", "kind": "Job"}], "placement": {"clusterAffinity": {}}},
}


async def test_killing_the_hubs_service_while_jobs_are_applied_on_the_hub_loses_and_doubles_none(
    tmp_path: Path,
) -> None:
    plan = FleetPlan(equal_clusters(1, nodes=4, gpus=8), groups=((HUB,), ("agent", *STAGES)))
    async with running(tmp_path, plan) as fleet:
        hub = await KubernetesCluster.from_kubeconfig("hub", fleet.hub_kubeconfig)
        bus = await NatsBus.connect(fleet.nats.url, "test")
        try:
            await hub.create("ClusterPropagationPolicy.policy.karmada.io/v1alpha1", POLICY)
            for number in range(12):
                if number in (3, 7):
                    await kill(fleet, HUB)
                await hub.create("Job.batch/v1", hub_job(number))
            ends = [one async for one in up_to(bus, "succeeded", 12)]
        finally:
            await bus.close()
            await hub.close()
    assert sorted(ends) == sorted(f"hub-{number}" for number in range(12))


async def up_to(bus: NatsBus, verb: str, count: int) -> AsyncIterator[str]:
    """The names of the first `count` jobs that this is said of, one for each time it is said."""
    async with asyncio.timeout(60):
        history = bus.history("JOBS", [f"fairway.job.{verb}.>"], live=True)
        async for delivery in history:
            if delivery.subject:
                yield msgspec.json.decode(delivery.data, type=wire.Message).job.rpartition("-")[0]
                count -= 1
            if not count:
                return
