"""Time that passes only when nothing is left to do: an event loop whose clock jumps to the next timer."""

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from itertools import count
from typing import Any

T0 = 1_700_000_000_000


class VirtualClock:
    """The time that nobody is wrong about."""

    def now(self) -> int:
        return T0 + round(asyncio.get_running_loop().time() * 1000)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Stuck(Exception):
    """Nobody waits for anything that will ever come."""


class _Call:
    """What is to be called, and as much of a handle as asyncio asks for."""

    __slots__ = ("_at", "args", "context", "work")

    def __init__(self, work: Callable[..., object], args: tuple[Any, ...], context: Context | None, at: float) -> None:
        self.work: Callable[..., object] | None = work
        self.args = args
        self.context = context or copy_context()
        self._at = at

    def cancel(self) -> None:
        self.work = None
        self.args = ()

    def cancelled(self) -> bool:
        return self.work is None

    def when(self) -> float:
        return self._at


class VirtualLoop(asyncio.BaseEventLoop):
    """One thread, no sockets: the order of everything follows from the order in which it was asked for. Most of what a
    simulation costs passes here, so it does no more than that. It keeps every task that has not ended: those of killed
    processes, which nobody else knows of, would be ended by the collector of garbage, at a moment of its choice."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._stopped = False
        self._calls: deque[_Call] = deque()
        self._timers: list[tuple[float, int, _Call]] = []
        self._order = count()
        self._tasks: set[asyncio.Task[Any]] = set()

    def create_task(  # type: ignore[override]  # of any result
        self, coro: Any, *, name: str | None = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=self, name=name, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def time(self) -> float:
        return self._now

    def call_soon(  # type: ignore[override]  # its arguments are not tied to the callback
        self, callback: Any, *args: Any, context: Context | None = None
    ) -> Any:
        call = _Call(callback, args, context, 0.0)
        self._calls.append(call)
        return call

    call_soon_threadsafe = call_soon  # type: ignore[assignment]  # there is one thread

    def call_later(  # type: ignore[override]  # its arguments are not tied to the callback
        self, delay: float, callback: Any, *args: Any, context: Context | None = None
    ) -> Any:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]  # its arguments are not tied to the callback
        self, when: float, callback: Any, *args: Any, context: Context | None = None
    ) -> Any:
        call = _Call(callback, args, context, when)
        heapq.heappush(self._timers, (when, next(self._order), call))
        return call

    def stop(self) -> None:
        super().stop()
        self._stopped = True

    def _run_once(self) -> None:
        """Until it is stopped."""
        calls = self._calls
        timers = self._timers
        self._stopped = False
        while not self._stopped:
            if calls:
                call = calls.popleft()
            elif timers:
                at, _, call = heapq.heappop(timers)
                self._now = max(self._now, at)
            else:
                raise Stuck("no task can run and no timer is set")
            if call.work is not None and call.context is not None:
                try:
                    call.context.run(call.work, *call.args)
                except Exception as error:
                    self.call_exception_handler({"message": f"{call.work} failed", "exception": error})


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
