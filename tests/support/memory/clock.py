"""A clock that stands still until it is told to go on, and ids that count."""

import asyncio
import heapq
from itertools import count


class ManualClock:
    """`advance` wakes, in order, whoever sleeps no longer than until the new time."""

    def __init__(self, now: int = 0) -> None:
        self._now = now
        self._count = count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._slept = asyncio.Event()

    def now(self) -> int:
        return self._now

    async def sleep(self, seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds * 1000, next(self._count), woken))
        self._slept.set()
        await woken

    async def advance(self, seconds: float) -> None:
        """Each sleeper wakes at its own time and runs until it waits again, before the next one wakes."""
        end = self._now + round(seconds * 1000)
        await settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            at, _, woken = heapq.heappop(self._sleepers)
            self._now = max(self._now, round(at))
            if not woken.done():
                woken.set_result(None)
            await settle()
        self._now = end

    async def asleep(self, least: int = 1) -> None:
        """Returns when at least `least` tasks sleep."""
        while sum(not woken.done() for _, _, woken in self._sleepers) < least:
            self._slept.clear()
            await self._slept.wait()


class CountingIds:
    """`<prefix>-1`, `<prefix>-2`, ..."""

    def __init__(self, prefix: str = "id") -> None:
        self._prefix = prefix
        self._count = count(1)

    def new(self) -> str:
        return f"{self._prefix}-{next(self._count)}"


async def settle(turns: int = 50) -> None:
    """Lets every task that can run, run: enough turns of the loop for chains of awaits that touch no socket."""
    for _ in range(turns):
        await asyncio.sleep(0)
