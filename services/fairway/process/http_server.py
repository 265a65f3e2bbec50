"""The HTTP server of a process: uvicorn, with the patience that it lacks.

Uvicorn waits for ever for headers, and for the rest of a body that was answered already. Here a connection that is not
being answered has its time; and when there are too many, the one that has waited longest makes room for a new one, so
that whoever opens many and says nothing keeps nobody out.
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Iterator
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from fairway.gateway.callers.rate_limits import HttpLimits

# Room for a token of an identity provider with many groups, and for a few headers of proxies.
_MOST_HEADERS = 32 * 1024
# How long an idle connection is kept for the next request (s).
_KEEP_ALIVE_S = 5


class Patient(H11Protocol):
    """`limits` and `idle`, which holds those that are not being answered, longest first, are shared by a server's."""

    limits = HttpLimits()
    idle: dict["Patient", None]

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn itself has it
        super().connection_made(transport)
        if len(self.connections) >= self.limits.connections and self.idle:
            next(iter(self.idle)).give_up()
        self._look()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)

    def _look(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._rest()
        elif self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(self.limits.headers, self.give_up)
            self.idle[self] = None

    def _rest(self) -> None:
        self.idle.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def give_up(self) -> None:
        self._rest()
        if self.transport.get_write_buffer_size():
            self.transport.abort()  # it does not even read what it was answered
        else:
            self.transport.close()


def config(app: Any, where: tuple[str, int], limits: HttpLimits) -> uvicorn.Config:
    protocol = type("Protocol", (Patient,), {"limits": limits, "idle": {}})
    return uvicorn.Config(
        app,
        host=where[0],
        port=where[1],
        log_level=logging.ERROR,
        http=protocol,
        ws="none",
        timeout_keep_alive=_KEEP_ALIVE_S,
        h11_max_incomplete_event_size=_MOST_HEADERS,
        limit_concurrency=limits.connections + 1,
        server_header=False,
        proxy_headers=False,
    )


class ListeningServer(uvicorn.Server):
    """Tells when it listens, and leaves the signals to the process."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    @property
    def address(self) -> str:
        host = self.config.host
        port = int(self.servers[0].sockets[0].getsockname()[1])
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def told_to_end() -> None:
    """By SIGTERM or SIGINT."""
    end = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end.set)
    await end.wait()
