"""Parts without which a process is of no use: when one fails, that is said at once, and the process is told of it.

A task group gives one cancellation to the other parts, and a wait of a library may swallow it (asyncio.wait_for before
Python 3.12 does): then nobody would ever hear of the failure.
"""

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
# What a command gets to end in order when a part of it has failed.
_LAST_S = 2.0


async def vital(name: str, work: Awaitable[None]) -> None:
    """Awaits a part; its failure goes to the loop's exception handler, with the key `vital`, before it is raised."""
    try:
        await work
    except Exception as error:
        fail(name, error)
        raise


def fail(name: str, error: BaseException) -> None:
    """Tells the process that a part has failed, wherever that was noticed."""
    context = {"message": f"{name} failed", "exception": error, "vital": name}
    asyncio.get_running_loop().call_exception_handler(context)


def heed() -> None:
    """CancelledError when this task was told to end and a library's wait has swallowed that: without it a loop would
    go on for ever, and its process would have to be killed with all that it had in hand."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def ended(work: asyncio.Task[Any], seconds: float) -> bool:
    """Cancels `work`; whether it has ended within that time. What swallows its cancellation may never end."""
    work.cancel()
    done, _ = await asyncio.wait((work,), timeout=seconds)
    return bool(done)


async def carried_out(work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives. The failure of a vital part is raised here and ends it, wherever that was noticed: for a
    command, which has no supervisor that starts it anew."""
    loop = asyncio.get_running_loop()
    failure: asyncio.Future[BaseException] = loop.create_future()

    def told(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not context.get("vital"):
            loop.default_exception_handler(context)
        elif not failure.done():
            failure.set_result(context["exception"])

    loop.set_exception_handler(told)
    task = loop.create_task(work)
    await asyncio.wait((task, failure), return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        return task.result()
    await ended(task, _LAST_S)
    raise failure.result()


class LoopTasks:
    """The group of a loop's tasks once it runs; the one of them that listens, unless another instance works, and the
    one that runs beside the service."""

    group: asyncio.TaskGroup
    listening: asyncio.Task[None] | None = None
    beside: asyncio.Task[None] | None = None

    async def end_listening(self) -> bool:
        """False where nothing listened."""
        work = self.listening
        self.listening = None
        return await _over(work)

    async def end_beside(self) -> bool:
        """False where nothing ran there."""
        work = self.beside
        self.beside = None
        return await _over(work)


async def _over(work: asyncio.Task[None] | None) -> bool:
    if work is None:
        return False
    await asyncio.sleep(0)  # a task that has not begun would leave its coroutine behind
    work.cancel()
    await asyncio.wait((work,))
    return True
