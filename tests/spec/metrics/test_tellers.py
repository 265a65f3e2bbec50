"""Of two processes that run one service one tells what is the same for both; the other takes over when it is gone."""

import asyncio
from collections.abc import Iterator

import pytest

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.store import MemoryStore
from fairway.domain.decision import NOTHING
from fairway.process.telemetry.telling_lease import TellingLease
from fairway.runtime.loop import Loop
from fairway.runtime.metrics import Meter
from fairway.runtime.metrics.accumulators import Sample
from fairway.runtime.metrics.of_loop import LoopFacts
from fairway.runtime.ports import World
from fairway.runtime.service import Service
from fairway.runtime.views.jobs import JobsMemory
from tests.support.memory.clock import ManualClock, settle


def gauges(memory: JobsMemory[object], now: int) -> Iterator[Sample]:
    yield "fairway_jobs", ("gold", "queued"), 7


class TwoProcesses:
    def __init__(self, single: bool) -> None:
        self.clock = ManualClock(1_000)
        self.store = MemoryStore()
        self.tasks: dict[str, list[asyncio.Task[None]]] = {}
        self.facts: dict[str, LoopFacts] = {}
        for owner in ("a", "b"):
            world = World(MemoryBus(self.clock), self.store.beside(), self.clock, owner)
            service = Service("s", (), lambda view, heard, now: NOTHING, JobsMemory, single=single, gauges=gauges)
            loop = Loop(service, world, Meter())
            lease = TellingLease(loop)
            self.tasks[owner] = [asyncio.create_task(loop.run())]
            if lease.extra:
                self.tasks[owner].append(asyncio.create_task(lease.keep()))
            self.facts[owner] = LoopFacts(loop, lambda lease=lease: lease.tells)

    async def wait(self, seconds: float) -> None:
        await self.clock.advance(seconds)
        await settle(50)

    async def end(self, owner: str) -> None:
        """What it had runs out."""
        for task in self.tasks.pop(owner):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        for name in ("s", "tells-s"):
            self.store.expire(name)

    def told(self, name: str) -> list[float]:
        return [value for owner in self.tasks for told, _, value in self.facts[owner]() if told == name]


@pytest.mark.parametrize("single", [pytest.param(True, id="behind a lease"), pytest.param(False, id="side by side")])
async def test_one_of_two_tells_and_the_other_after_it(single: bool) -> None:
    two = TwoProcesses(single)
    try:
        await two.wait(2)
        assert two.told("fairway_jobs") == [7]
        first = next(owner for owner in two.tasks if any(name == "fairway_jobs" for name, _, _ in two.facts[owner]()))
        if single:
            assert sorted(two.told("fairway_lease_held")) == [0, 1]
            assert sum(two.told("fairway_lease_changes_total")) == 1
        await two.end(first)
        for _ in range(10):
            await two.wait(1)
        assert two.told("fairway_jobs") == [7]
    finally:
        for owner in list(two.tasks):
            await two.end(owner)


async def test_who_has_lost_its_store_stops_telling() -> None:
    two = TwoProcesses(single=False)
    try:
        await two.wait(2)
        assert two.told("fairway_jobs") == [7]
        for facts in two.facts.values():
            facts._loop.opening.works = False
        assert two.told("fairway_jobs") == []
    finally:
        for owner in list(two.tasks):
            await two.end(owner)
