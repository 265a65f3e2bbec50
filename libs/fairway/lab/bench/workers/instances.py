"""Instances of every stage, each a process of its own, so that its processor time is that stage's."""

import asyncio
from collections.abc import Sequence
from itertools import count

from fairway.domain.text.digits import is_whole
from fairway.lab.fleet.fleet import EmbeddedFleet
from fairway.process.pipeline import HUB, STAGES

GATEWAY = "gateway"
QUEUE = "queue"
# One of each works, by lease, and the others stand by.
SINGLE = (QUEUE, HUB)
EACH = (GATEWAY, *STAGES)
# Where there is a hub.
WITH_HUB = (GATEWAY, HUB, *STAGES)
# Who stands by is ready when it takes over, and a benchmark ends before this.
_FOR_EVER_S = 86_400.0


def stage_of(name: str) -> str:
    """Of the process with this name: the first of a stage has no number."""
    stage, _, number = name.rpartition("-")
    return stage if is_whole(number) else name


class Instances:
    """Begins with one of each stage."""

    def __init__(self, fleet: EmbeddedFleet, stages: Sequence[str] = EACH) -> None:
        self._fleet = fleet
        self._numbers = {stage: count(2) for stage in stages}
        self._standing_by: dict[str, asyncio.Task[object]] = {}

    def of(self, stage: str) -> list[str]:
        """By name, in the order in which they began."""
        return [name for name in self._fleet.processes if stage_of(name) == stage]

    def owner(self, stage: str) -> str:
        """The one that works: it alone has said that it is ready."""
        return next(name for name in self.of(stage) if self._fleet.processes[name].said)

    async def bring_to(self, number: int) -> None:
        """So many of each stage."""
        while len(self.of(GATEWAY)) < number:
            await asyncio.gather(*(self.add(stage) for stage in self._numbers))

    async def add(self, stage: str) -> None:
        """Returns when it is ready, or when it stands by."""
        name = f"{stage}-{next(self._numbers[stage])}"
        stands_by = stage in SINGLE and bool(self.of(stage))
        starting = self._fleet.start_process((stage,), name, _FOR_EVER_S)
        if stands_by:
            self._standing_by[name] = asyncio.create_task(starting)
        else:
            await starting

    async def take(self, name: str, killed: bool) -> None:
        """SIGKILL, or SIGTERM as of a supervisor that wants fewer of them."""
        child = self._fleet.processes.pop(name)
        await (child.kill() if killed else child.stop())

    async def taken_over(self, stage: str) -> str:
        """Returns when one of those that stand by works in the owner's place; its name."""
        waiting = {name: task for name, task in self._standing_by.items() if stage_of(name) == stage}
        done, _ = await asyncio.wait(waiting.values(), return_when=asyncio.FIRST_COMPLETED)
        name = next(name for name, task in waiting.items() if task in done)
        await self._standing_by.pop(name)
        return name

    async def forget(self) -> None:
        """Before the fleet is stopped: nobody waits any more for those that stand by."""
        for task in self._standing_by.values():
            task.cancel()
        await asyncio.gather(*self._standing_by.values(), return_exceptions=True)
