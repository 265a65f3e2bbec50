"""A program of a cluster as a child process: its words in a log, gone when its parent is gone."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from fairway.lab.processes import die_with_parent
from fairway.lab.processes.server import free_port
from fairway.runtime import private_files

_STOP_S = 5.0
_PROBE_S = 0.05
_AGAIN_S = 1.0
# Programs take their ports only some time after they were chosen.
_given: set[int] = set()


class NotUp(RuntimeError):
    """A program ended, or did not answer in time; with its last words."""


class Program:
    """`dir/NAME.log` holds what it writes. Start it from the main thread: the kernel ends it with that thread."""

    def __init__(
        self, name: str, command: Sequence[str | Path], dir: Path, env: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.log = dir / f"{name}.log"
        self._command = [str(part) for part in command]
        self._dir = dir
        self._env = {**os.environ, **(env or {})}
        self._process: asyncio.subprocess.Process | None = None
        self._ended = False

    @property
    def pid(self) -> int:
        assert self._process is not None, "start it first"
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        self._ended = False
        guard = [sys.executable, "-I", "-S", str(die_with_parent.__file__), str(os.getpid())]
        with private_files.log(self.log) as log:
            self._process = await asyncio.create_subprocess_exec(
                *guard,
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._dir,
                env=self._env,
                start_new_session=True,
            )

    async def keep(self) -> None:
        """Starts it again whenever it ends by itself, as a kubelet does: schedulers end when the API server is away for
        longer than their Lease. Until it is stopped or killed."""
        while True:
            await self.wait()
            await asyncio.sleep(_AGAIN_S)
            if self._ended:
                return
            await self.start()

    async def until(self, answers: Callable[[], Awaitable[bool]], seconds: float = 60.0) -> None:
        """Waits until it answers. Raises NotUp when it ends before, or takes longer than `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                while not await answers():
                    if not self.alive:
                        raise NotUp(f"{self.name} ended: {self.last_words()} (see {self.log})")
                    await asyncio.sleep(_PROBE_S)
        except TimeoutError:
            raise NotUp(
                f"{self.name} is not ready after {seconds:.0f} s: {self.last_words()} (see {self.log})"
            ) from None

    async def stop(self, grace: float = _STOP_S) -> None:
        """Asks it to end; ends it after `grace` seconds."""
        self._ended = True
        self.signal(signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self.wait()
        await self.kill()

    async def kill(self) -> None:
        self._ended = True
        self.signal(signal.SIGKILL)
        await self.wait()

    def signal(self, number: int) -> None:
        if self._process is not None and self.alive:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def wait(self) -> None:
        if self._process is not None:
            await self._process.wait()

    def last_words(self) -> str:
        lines = self.log.read_text(errors="replace").strip().splitlines() if self.log.exists() else []
        return " / ".join(lines[-3:])[-2_000:] or "it wrote nothing"


def free_ports(count: int) -> list[int]:
    """`count` different ports of 127.0.0.1 that nobody listens on now, and that this process gave to nobody before."""
    found: set[int] = set()
    while len(found) < count:
        port = free_port()
        if port not in _given:
            found.add(port)
            _given.add(port)
    return sorted(found)
