"""Asking again until there is an answer: what is not reached now will be."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from fairway.runtime.ports import Clock, Unreachable

T = TypeVar("T")
log = structlog.get_logger()


async def until_reached(service: str, clock: Clock, ask: Callable[[], Awaitable[T]], again_s: float = 0.5) -> T:
    """What `ask` returns, once it returns. `service` is who the log says is waiting."""
    while True:
        try:
            return await ask()
        except (Unreachable, OSError, TimeoutError) as error:
            log.warning("waiting", service=service, cause=str(error))
            await clock.sleep(again_s)
