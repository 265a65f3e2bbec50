"""A process as the world sees it: what it calls outside passes a gate, where it can be late, be paused, or die.

A process that is killed is not told: whatever it awaited never comes, as with kill -9. So no `finally` of its code
runs, and every await and every gap between two effects is a place where it can end.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from fairway.lab.simulation.people.faults import FaultInjector
from fairway.lab.simulation.virtual_time import T0
from fairway.runtime.ports import Unreachable

T = TypeVar("T")


class SimulatedProcess:
    """One life of it; after a crash another one begins under the same name. `skew_ms` is how wrong its clock is."""

    def __init__(
        self, name: str, faults: FaultInjector, died: Callable[["SimulatedProcess"], None], skew_ms: int = 0
    ) -> None:
        self.name = name
        self.skew_ms = skew_ms
        self.dead = False
        self._faults = faults
        self._died = died
        self._running = asyncio.Event()
        self._running.set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """`work` runs until it is killed; that it ends or fails by itself is a fault of the code."""
        task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        if not self.dead and not task.cancelled():
            cause = task.exception()
            text = f"{self.name} ended by itself: {cause!r}"
            asyncio.get_running_loop().call_exception_handler({"message": text, "exception": cause})

    def kill(self) -> None:
        if not self.dead:
            self.dead = True
            self._died(self)

    def pause(self) -> None:
        self._running.clear()

    def resume(self) -> None:
        self._running.set()

    async def gate(self) -> None:
        """Returns while the process lives and is not paused."""
        if not self._running.is_set():
            await self._running.wait()
        if self.dead:
            await self._nothing()

    async def _nothing(self) -> None:
        await asyncio.get_running_loop().create_future()

    async def call(self, effect: Callable[[], Awaitable[T]], what: str) -> T:
        """An effect outside, with what may go wrong: late, not done, done and not answered, the end of the process."""
        faults = self._faults
        profile = self._faults.profile
        faults.steps += 1
        away, back = faults.delays()
        await self._takes(away)
        if faults.happens(profile.crash):
            await self._die()
        if faults.happens(profile.refused):
            raise Unreachable(f"{what} was not reached")
        done = await effect()
        if faults.happens(profile.crash):
            await self._die()
        if faults.happens(profile.unanswered):
            raise Unreachable(f"the answer of {what} was lost")
        await self._takes(back)
        return done

    async def _takes(self, seconds: float) -> None:
        if seconds:
            await asyncio.sleep(seconds)
        await self.gate()

    async def _die(self) -> None:
        self.kill()
        await self._nothing()


class ProcessClock:
    """The clock of one process: it stands wrong by the process' skew, and waits as long as any other."""

    def __init__(self, process: SimulatedProcess) -> None:
        self._process = process

    def now(self) -> int:
        return T0 + round(asyncio.get_running_loop().time() * 1000) + self._process.skew_ms

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self._process.gate()


class ProcessIds:
    def __init__(self, process: SimulatedProcess, life: int) -> None:
        self._prefix = f"{process.name}-{life}"
        self._count = 0

    def new(self) -> str:
        self._count += 1
        return f"{self._prefix}-{self._count}"
