"""Where the benchmarks of the pipeline take place: an embedded fleet with stubbed clusters, and the benchmark in the
part of the agents and of those who submit."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from fairway.adapters.nats.bus import NatsBus
from fairway.lab.bench.measuring.background import beside
from fairway.lab.bench.measuring.facts import cpu, peak_mib
from fairway.lab.bench.measuring.journeys import Journeys
from fairway.lab.bench.pipeline.agents import Agents, News, ReportedNodes
from fairway.lab.fleet.fleet import EmbeddedFleet, FleetPlan
from fairway.lab.fleet.fleet import running as fleet_running
from fairway.process.pipeline import STAGES
from fairway.runtime.ports import Delivery
from fairway.wire import subjects

STUBBED = "cluster calls (apply and delete), agents (the benchmark reports in their place)"
# `tell` hears what begins and how much of it, and then 1 for each part of it that is done.
Tell = Callable[[str, int], None]
# Stages by process, for so many processes: about the same work in each.
SPLITS: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((0, 1, 2, 3, 4, 5, 6),),
    2: ((0, 1, 2), (3, 4, 5, 6)),
    3: ((0, 1), (2, 3), (4, 5, 6)),
    4: ((0,), (1, 2), (3, 5), (4, 6)),
    7: tuple((at,) for at in range(7)),
}


def groups(processes: int) -> tuple[tuple[str, ...], ...]:
    """The services of each process."""
    return tuple(tuple(STAGES[at] for at in group) for group in SPLITS[processes])


class _Named(Struct):
    job: str


_named = msgspec.json.Decoder(_Named).decode


def job_of(delivery: Delivery) -> str:
    return _named(delivery.data).job


def pids(fleet: EmbeddedFleet, **more: int) -> dict[str, int]:
    """Of its services, of `more`, of the servers under them, and the benchmark's own."""
    found = {name: child.pid for name, child in fleet.processes.items()} | more
    found |= {f"nats-{at}": one.pid for at, one in enumerate(fleet.nats_others, 2)}
    return found | {"nats": fleet.nats.pid, "valkey": fleet.valkey.pid, "bench": os.getpid()}


class PipelineScene:
    """`fleet` runs, its clusters are known, `bus` is the benchmark's own connection, and `agents` speak for the
    clusters."""

    def __init__(self, fleet: EmbeddedFleet, bus: NatsBus, agents: Agents) -> None:
        self.fleet = fleet
        self.bus = bus
        self.agents = agents

    def pids(self) -> dict[str, int]:
        """Of every process, the benchmark's own among them."""
        return pids(self.fleet)

    def addresses(self) -> list[str]:
        """Where Fairway's own processes tell their metrics; one that stands by has not said it yet."""
        return [str(child.said["metrics"]) for child in self.fleet.processes.values() if child.alive and child.said]

    def peaks(self) -> dict[str, float]:
        return peak_mib(self.pids())


class Spent:
    """Processor time of the scene's processes from now on."""

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._pids = dict(pids)
        self._before = cpu(pids)

    def per_job(self, jobs: int) -> dict[str, float]:
        """Seconds a job by process, and of `all` without the benchmark's own."""
        after = cpu(self._pids)
        spent = {name: round((after[name] - before) / jobs, 7) for name, before in self._before.items()}
        return spent | {"all": round(sum(spent.values()) - spent.get("bench", 0.0), 7)}


async def saturated(
    journeys: Journeys, jobs: int, window: int, pids: Mapping[str, int]
) -> tuple[float, dict[str, float]]:
    """The seconds that so many jobs take, as fast as they go, and what each takes of these processes."""
    since = Spent(pids)
    start = asyncio.get_running_loop().time()
    await journeys.saturate(jobs, window)
    return asyncio.get_running_loop().time() - start, since.per_job(jobs)


@contextlib.asynccontextmanager
async def scene(
    dir: Path, ground: ReportedNodes, plan: FleetPlan, every_s: float = 5.0, news: News = lambda cluster: ()
) -> AsyncIterator[PipelineScene]:
    """Entered once the configuration is said and every cluster is known; each then reports its `news` once in so many
    seconds."""
    async with fleet_running(dir, plan) as fleet:
        bus = await NatsBus.connect(fleet.nats.url, "bench")
        try:
            await bus.publish(ground.configuration)
            agents = Agents(bus, ground)
            await agents.introduce()
            async with beside(agents.beat(every_s, news)):
                yield PipelineScene(fleet, bus, agents)
        finally:
            await bus.close()


@contextlib.asynccontextmanager
async def dispatching(bus: NatsBus, journeys: Journeys) -> AsyncIterator[None]:
    """Arrivals are jobs that were dispatched."""
    async with beside(journeys.listen(subjects.JOBS, ("fairway.job.dispatched.>",), job_of)):
        yield
