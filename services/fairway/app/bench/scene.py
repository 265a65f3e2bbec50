"""Where the benchmarks of the pipeline take place: an embedded fleet with stubbed clusters, and the benchmark in the
part of the agents and of those who submit."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from fairway.adapters.nats_bus import NatsBus
from fairway.app.bench import load
from fairway.app.bench.facts import cpu, peak_mib, per_job
from fairway.app.bench.journeys import Journeys
from fairway.app.fleet import Fleet
from fairway.app.fleet import Plan as FleetPlan
from fairway.app.fleet import running as fleet_running
from fairway.app.pipeline import STAGES
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
_HEARTBEAT_S = 5.0


def groups(processes: int) -> tuple[tuple[str, ...], ...]:
    """The services of each process."""
    return tuple(tuple(STAGES[at] for at in group) for group in SPLITS[processes])


class _Named(Struct):
    job: str


_named = msgspec.json.Decoder(_Named).decode


def job_of(delivery: Delivery) -> str:
    return _named(delivery.data).job


class Scene:
    """`fleet` runs, its clusters are known, and `bus` is the benchmark's own connection."""

    def __init__(self, fleet: Fleet, bus: NatsBus, size: load.Size) -> None:
        self.fleet, self.bus, self.size = fleet, bus, size

    def pids(self) -> dict[str, int]:
        """Of every process, the benchmark's own among them."""
        found = {name: child.pid for name, child in self.fleet.processes.items()}
        found |= {f"nats-{at}": one.pid for at, one in enumerate(self.fleet.nats_others, 2)}
        return found | {"nats": self.fleet.nats.pid, "valkey": self.fleet.valkey.pid, "bench": os.getpid()}

    def services(self) -> dict[str, int]:
        """Of Fairway's own processes."""
        return {name: child.pid for name, child in self.fleet.processes.items()}

    def peaks(self) -> dict[str, float]:
        return peak_mib(self.pids())


class Spent:
    """Processor time of the scene's processes from now on."""

    def __init__(self, pids: Mapping[str, int]) -> None:
        self._pids, self._before = dict(pids), cpu(pids)

    def per_job(self, jobs: int) -> dict[str, float]:
        """Seconds a job by process, and of `all` without the benchmark's own."""
        spent = per_job(self._before, cpu(self._pids), jobs)
        return spent | {"all": round(sum(spent.values()) - spent.get("bench", 0.0), 7)}


@contextlib.asynccontextmanager
async def scene(dir: Path, size: load.Size, plan: FleetPlan) -> AsyncIterator[Scene]:
    """Entered once the configuration is said and every cluster is known; agents' heartbeats go on meanwhile."""
    async with fleet_running(dir, plan) as fleet:
        bus = await NatsBus.connect(fleet.nats.url, "bench")
        try:
            await bus.publish(load.configuration(size))
            await _report(bus, size)
            async with beside(_beat(bus, size)):
                yield Scene(fleet, bus, size)
        finally:
            await bus.close()


async def _report(bus: NatsBus, size: load.Size) -> None:
    """Every cluster reports all of its nodes; returns when that was heard."""
    await bus.publish([load.report(size, at, 1) for at in range(size.clusters)])
    seen: set[str] = set()
    async for delivery in bus.history(subjects.CLUSTERS, ("fairway.cluster.freed.>",), live=True):
        seen.add(delivery.subject)
        if len(seen - {""}) == size.clusters:
            return


async def _beat(bus: NatsBus, size: load.Size) -> None:
    sequence = 1
    while True:
        await asyncio.sleep(_HEARTBEAT_S)
        sequence += 1
        await bus.publish([load.report(size, at, sequence) for at in range(size.clusters)])


@contextlib.asynccontextmanager
async def dispatching(bus: NatsBus, journeys: Journeys) -> AsyncIterator[None]:
    """Arrivals are jobs that were dispatched."""
    async with beside(journeys.listen(subjects.JOBS, "fairway.job.dispatched.>", job_of)):
        yield


@contextlib.asynccontextmanager
async def beside(work: Any) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
