"""What a fixture of the whole session starts in a loop of its own, for tests that each have another."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

T = TypeVar("T")


def standing(open: Callable[[], AbstractAsyncContextManager[T]]) -> Iterator[T]:
    # A loop factory of our own keeps asyncio.Runner from touching the loop that pytest-asyncio set.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        opened = open()
        yield runner.run(_entered(opened))
        runner.run(_left(opened))


async def _entered(opened: AbstractAsyncContextManager[T]) -> T:
    return await opened.__aenter__()


async def _left(opened: AbstractAsyncContextManager[T]) -> None:
    await opened.__aexit__(None, None, None)
