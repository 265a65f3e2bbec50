"""A server as a child process: found a port, up when it answers, gone when its parent is gone."""

import asyncio
import contextlib
import random
import socket
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from fairway.lab.processes.child import last_words
from fairway.lab.processes.die_with_parent import guarded
from fairway.runtime import private_files

# Below the range that Linux gives to outgoing connections (32768 and up): a client that tries to reconnect to
# a stopped server could otherwise be given the server's own port, and the server could not come back.
_PORTS = range(20_000, 32_000)
_PORT_ATTEMPTS = 20
# Programs take their ports only some time after they were chosen.
_given: set[int] = set()
_START_SECONDS = 15.0  # takes 0.1 s on an idle machine; JetStream reads a large store before it listens
_STOP_SECONDS = 5.0
_ANSWER_SECONDS = 0.5  # a stranger on the port may accept and stay silent: look again if ours has ended
_PROBE_SECONDS = 0.01

Answers = Callable[["EmbeddedServer"], Awaitable[bool]]
"""Whether the port is answered by this very process, and not by somebody else's server."""


class StartError(RuntimeError):
    """A server did not come up. The message has its last words and what to do."""


class EmbeddedServer:
    """One child process that listens on `127.0.0.1:port` and keeps its files in `dir`.

    `stop` lets it end in order, `kill` is SIGKILL (for tests of failure), `restart` brings it back on the
    same port and folder after either. As `async with` it stops at the end of the block. The kernel kills it
    when the thread that started it ends: start it from the main thread.
    """

    def __init__(self, scheme: str, dir: Path, command: Callable[[int], list[str]], answers: Answers) -> None:
        self.scheme = scheme
        self.dir = dir
        self.log = dir / "server.log"
        self.port = 0
        self.login = ""
        self._command = command
        self._answers = answers
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """As the clients take it: `nats://127.0.0.1:PORT` or `redis://127.0.0.1:PORT`, with the `login` USER:PASSWORD
        of who may do all of it, where there are users."""
        return f"{self.scheme}://{f'{self.login}@' if self.login else ''}{self.address}"

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def process(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise StartError("The server was never started: call start().")
        return self._process

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def ended(self) -> int | None:
        """How it ended: its exit code, or the signal as a negative number. None when it runs or was never started."""
        return self._process.poll() if self._process is not None else None

    async def start(self, port: int = 0) -> Self:
        """Listen on `port`, or on a free one for 0. Returns when it answers; StartError when it does not."""
        for candidate in [port] if port else random.sample(_PORTS, _PORT_ATTEMPTS):
            if (port or _is_free(candidate)) and await self._attempt(candidate):
                return self
        raise StartError(
            f"The {self.scheme} server does not start: {last_words(self.log)}. "
            + (f"Free port {port}, or ask for port 0." if port else f"Read {self.log}.")
        )

    async def stop(self) -> None:
        """Ask it to end; kill it if it has not after some seconds. Harmless when it has ended."""
        if self.alive:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(self.process.wait, _STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    async def restart(self) -> None:
        """Bring it back on the same port and folder, ending it first if it still runs."""
        await self.stop()
        await self.start(self.port)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _attempt(self, port: int) -> bool:
        """False when the program ends by itself, as it does when another was faster to take the port."""
        self.port = port
        self._process = self._spawn(self._command(port))
        try:
            async with asyncio.timeout(_START_SECONDS):
                return await self._until_it_answers()
        except TimeoutError as late:
            self.kill()
            words = last_words(self.log)
            raise StartError(f"No answer on port {port} after {_START_SECONDS:.0f} s: {words}.") from late
        except BaseException:
            self.kill()
            raise

    def _spawn(self, command: list[str]) -> subprocess.Popen[bytes]:
        with private_files.log(self.log) as log:
            return subprocess.Popen(
                guarded(*command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.dir,
                # Ctrl-C is for the parent: it stops its services first, then the servers under them.
                start_new_session=True,
            )

    async def _until_it_answers(self) -> bool:
        while self.alive:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                async with asyncio.timeout(_ANSWER_SECONDS):
                    if await self._answers(self):
                        return True
            await asyncio.sleep(_PROBE_SECONDS)
        return False


@contextlib.asynccontextmanager
async def connection(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A plain connection to 127.0.0.1, closed at the end of the block."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # Without it the port of a server that ended a minute ago still counts as taken (TIME_WAIT).
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """`count` ports of 127.0.0.1 that nobody listens on now, and that this process gave to nobody before. StartError
    when so many in a row were taken."""
    tried = random.sample(_PORTS, _PORT_ATTEMPTS * count)
    found = list(islice((port for port in tried if port not in _given and _is_free(port)), count))
    if len(found) < count:
        raise StartError(f"No free port among {len(tried)} tried of {_PORTS[0]} to {_PORTS[-1]}: end what holds them.")
    _given.update(found)
    return found
