"""An API that refuses for a while, on demand."""

import asyncio
from collections.abc import Callable

from aiohttp import web

from fairway.lab.kubesim.api.errors import ApiError

MODES = ("503", "429", "timeout", "reset")


class Faults:
    """`503` and `429` answer at once; `timeout` answers nothing until the API is back; `reset` drops the
    connection. Open watches end when a refusal begins: `streams` are what ends each. `witnesses` are told of every
    request before anything is done with it."""

    def __init__(self) -> None:
        self.mode = ""
        self.streams: set[Callable[[], None]] = set()
        self.witnesses: list[Callable[[web.BaseRequest], None]] = []
        self._back = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    def refuse(self, mode: str, for_ms: int = 0) -> None:
        """Refuse from now, for `for_ms` milliseconds or (0) until `restore`."""
        if mode not in MODES:
            raise ApiError(422, "Invalid", f"mode {mode!r} is unknown; use one of {', '.join(MODES)}")
        self.restore()
        self.mode = mode
        self._back.clear()
        self.cut()
        if for_ms:
            self._timer = asyncio.get_running_loop().call_later(for_ms / 1000, self.restore)

    def restore(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self.mode = ""
        self._back.set()

    def cut(self) -> None:
        for end in tuple(self.streams):
            end()

    async def gate(self, request: web.BaseRequest) -> None:
        """Passes, raises the refusal, or holds the request."""
        for told in self.witnesses:
            told(request)
        if not self.mode:
            return
        if self.mode == "timeout":
            await self._back.wait()
            raise ApiError(504, "Timeout", "the request was held while the API did not answer; try again")
        if self.mode == "reset":
            if request.transport:
                request.transport.abort()
            raise ConnectionResetError("the connection was dropped on demand")
        if self.mode == "429":
            raise ApiError(429, "TooManyRequests", "the server has received too many requests; try again later")
        raise ApiError(503, "ServiceUnavailable", "the server is currently unable to handle the request")
