"""Who leaves in the middle of a request is no fault of the process: nothing of it stands in its log."""

import asyncio
import contextlib
import logging
import socket
import struct
from collections.abc import AsyncIterator
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from fairway.process.main import Process
from fairway.process.settings import Settings


class Door:
    """One route reads its body, the other says something for ever. `came` is set when a request has begun, and `left`
    when its caller was noticed to leave."""

    def __init__(self) -> None:
        self.came = asyncio.Event()
        self.left = asyncio.Event()
        routes = [Route("/body", self._body, methods=["POST"]), Route("/stream", self._stream)]
        self.app = Starlette(routes=routes)

    async def _body(self, request: Request) -> Response:
        self.came.set()
        try:
            return Response(await request.body())
        finally:
            self.left.set()

    async def _stream(self, request: Request) -> Response:
        async def lines() -> AsyncIterator[bytes]:
            self.came.set()
            try:
                while True:
                    yield b"data: again\n\n" * 1000
                    await asyncio.sleep(0.01)
            finally:
                self.left.set()

        return StreamingResponse(lines())


@contextlib.asynccontextmanager
async def serving(door: Door) -> AsyncIterator[int]:
    """As a process with a gateway serves it; the port."""
    process = Process(("gateway",), Settings())
    process.door = door.app  # type: ignore[assignment]  # an ASGI application as any other
    config = uvicorn.Config(process, port=0, log_level=logging.ERROR, lifespan="off")
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await running


@contextlib.asynccontextmanager
async def heard(handler: logging.Handler) -> AsyncIterator[None]:
    log = logging.getLogger("uvicorn.error")
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(b"POST /body HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{", id="half a body"),
        pytest.param(
            b"POST /body HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", id="half a chunk"
        ),
        pytest.param(b"GET /stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", id="a stream that nobody reads any more"),
    ],
)
@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
async def test_a_dropped_connection_leaves_no_traceback(
    said: bytes, reset: bool, caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    door = Door()
    async with heard(caplog.handler), serving(door) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        async with asyncio.timeout(10):
            await door.came.wait()
            if reset:
                # Without it the kernel closes the connection as others do.
                at_once = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
                writer.transport.abort()
            else:
                writer.close()
            await door.left.wait()
    # The server has ended, and with it all that it had to say of the connection.
    told = [record.getMessage() for record in caplog.records] + [text for text in capfd.readouterr() if text]
    assert told == []
