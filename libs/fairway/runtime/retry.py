"""Asking again until there is an answer: what is not reached now will be. And saying so, not at every try."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from fairway.runtime.ports import Clock, Unreachable

T = TypeVar("T")
log = structlog.get_logger()
# The same line is told again after so many seconds: who tries several times a second would bury all others.
_AGAIN_S = 10.0
# Causes come from servers, too.
_MOST = 64


class SeldomLog:
    """Lines of somebody who tries again and again: the same event of the same cause once in ten seconds."""

    def __init__(self) -> None:
        self._again: dict[tuple[str, str], float] = {}

    def tell(self, say: Callable[..., object], event: str, cause: str, **facts: object) -> None:
        now = asyncio.get_running_loop().time()
        if now < self._again.get((event, cause), 0.0):
            return
        if len(self._again) >= _MOST:
            self._again.clear()
        self._again[event, cause] = now + _AGAIN_S
        say(event, **facts, cause=cause)

    def waits(self, service: str, error: Exception) -> None:
        """`service` is who waits."""
        self.tell(log.warning, "waiting", str(error) or type(error).__name__, service=service)


async def until_reached(service: str, clock: Clock, ask: Callable[[], Awaitable[T]], again_s: float = 0.5) -> T:
    """What `ask` returns, once it returns. `service` is who the log says is waiting."""
    lines = SeldomLog()
    while True:
        try:
            return await ask()
        except (Unreachable, OSError, TimeoutError) as error:
            lines.waits(service, error)
            await clock.sleep(again_s)
