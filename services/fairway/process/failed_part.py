"""What a process does when a part of it fails: it ends, and whoever supervises it starts it anew."""

import asyncio
import os
from typing import Any

import structlog

from fairway.adapters.logins import RightsRefused

log = structlog.get_logger()
# What the other parts get to end in order when one has failed, in seconds.
_LAST_S = 10.0
# And when it may not do its work: nobody else would do it as long as this one tries.
_AT_ONCE_S = 0.2


def part_failed(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """The loop's exception handler, told of everything that nobody awaits. When a vital part fails, the process ends,
    whatever the other parts do."""
    if context.get("vital"):
        error = context["exception"]
        log.error("a part failed: the process ends", part=context["vital"], exc_info=error)
        loop.call_later(_AT_ONCE_S if isinstance(error, RightsRefused) else _LAST_S, os._exit, 1)
    else:
        loop.default_exception_handler(context)
