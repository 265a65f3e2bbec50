"""Time that passes only when nothing is left to do: an event loop whose clock jumps to the next timer."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any

T0 = 1_700_000_000_000


class Stuck(Exception):
    """Nobody waits for anything that will ever come."""


class _Skipping(selectors.SelectSelector):
    """Instead of waiting it moves the clock on."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Stuck("no task can run and no timer is set")
        if timeout > 0:
            self.now += timeout
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """One thread, no sockets: the order of everything follows from the order in which it was asked for. It keeps every
    task that has not ended: those of killed processes, which nobody else knows of, would be ended by the collector of
    garbage, at a moment of its choice."""

    def __init__(self) -> None:
        self._skipping = _Skipping()
        self._tasks: set[asyncio.Task[Any]] = set()
        super().__init__(self._skipping)
        self.set_task_factory(self._made)

    def _made(self, loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> asyncio.Task[Any]:
        task = asyncio.Task(work, loop=loop, **more)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def time(self) -> float:
        return self._skipping.now


def run_virtual(work: Coroutine[Any, Any, Any]) -> Any:
    """Runs `work` on a loop of its own, and then ends all that it has left running or hanging."""
    loop = VirtualLoop()
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(work)
    finally:
        loop.set_exception_handler(lambda *_: None)
        loop.run_until_complete(_end_all())
        loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        loop.close()


async def _end_all() -> None:
    """Killed processes hang in their last await. What they say when they are ended is of no interest."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=60)
