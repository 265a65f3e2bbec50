"""A TCP connection that can be spoiled: everything between a process and a server passes through one of these."""

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial

_PIECE = 65_536


def _nothing() -> None: ...


class Link:
    """Once it is open it listens on `port` of 127.0.0.1 and passes everything on to `target`, until it is spoiled;
    `mend` ends that."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = 0
        self._server: asyncio.Server
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._flows = asyncio.Event()
        self._flows.set()
        self._cut = False
        self._delay_s = 0.0
        self._wanted = (b"", _nothing)
        self._watched: asyncio.StreamWriter | None = None
        self.caught = asyncio.Event()
        self.answers = b""

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    @property
    def used(self) -> bool:
        return bool(self._writers)

    def carries(self, port: int) -> bool:
        """Whether what the server sees come from this port passes through here."""
        return any(writer.get_extra_info("sockname")[1] == port for writer in self._writers)

    def cut(self) -> None:
        """Every connection breaks, and no new one comes about."""
        self._cut = True
        self.reset()

    def reset(self) -> None:
        """Every connection breaks; new ones work."""
        for writer in self._writers:
            writer.transport.abort()

    def hang(self) -> None:
        """Half open: connections stand, new ones are accepted, and nothing passes in either direction."""
        self._flows.clear()

    def catch(self, words: bytes, then: Callable[[], None] = _nothing) -> None:
        """Hangs as soon as these words are on their way to the server, and calls `then`: see `caught`. What the server
        says to that connection from then on is in `answers`."""
        self._wanted = (words, then)
        self.caught.clear()

    def delay(self, seconds: float) -> None:
        """Each piece takes so long in each direction."""
        self._delay_s = seconds

    def mend(self) -> None:
        """What hung goes on its way now, however late it is."""
        self._cut = False
        self._delay_s = 0.0
        self._flows.set()

    def lead(self, target: int) -> None:
        """To another server from now on, as an address that moves at a failover."""
        self.target = target
        self.reset()

    async def close(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.reset()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "asyncio serves each connection in a task"
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            with contextlib.suppress(OSError):
                await self._join(reader, writer)
        except asyncio.CancelledError:
            pass  # the link is closed: what asyncio would do with it is to print it
        finally:
            self._writers.discard(writer)
            self._tasks.discard(task)
            writer.transport.abort()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._cut:
            return
        await self._flows.wait()
        there, back = await asyncio.open_connection("127.0.0.1", self.target)
        self._writers.add(back)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pump(reader, back, partial(self._watch, writer)))
                group.create_task(self._pump(there, writer, partial(self._keep, writer)))
        except* OSError:
            pass  # either end is gone: so is the other
        finally:
            self._writers.discard(back)
            back.transport.abort()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, look: Callable[[bytes], None]
    ) -> None:
        while piece := await reader.read(_PIECE):
            look(piece)
            if self._delay_s:
                await asyncio.sleep(self._delay_s)
            await self._flows.wait()
            writer.write(piece)
            await writer.drain()
        writer.write_eof()

    def _watch(self, client: asyncio.StreamWriter, piece: bytes) -> None:
        words, then = self._wanted
        if words and words in piece:
            self._wanted = (b"", _nothing)
            self._watched = client
            self.hang()
            self.caught.set()
            then()

    def _keep(self, client: asyncio.StreamWriter, piece: bytes) -> None:
        if client is self._watched:
            self.answers += piece
