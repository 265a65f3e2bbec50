"""A program as a child process: its words in a log, gone when its parent is gone."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairway.lab.processes.die_with_parent import guarded
from fairway.runtime import private_files


def last_words(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return " / ".join(lines[-3:])[-2_000:] or "it wrote nothing"


class ChildProcess:
    """Start it from the main thread: the kernel ends it with that thread."""

    # How long it may take to end when it is asked to.
    grace_s = 10.0

    def __init__(
        self, name: str, command: Sequence[str | Path], log: Path, env: Mapping[str, str], dir: Path | None = None
    ) -> None:
        self.name = name
        self.log = log
        self._command = command
        self._dir = dir
        self._env = {**os.environ, **env}
        self._process: asyncio.subprocess.Process | None = None
        self._told_to_end = False

    @property
    def pid(self) -> int:
        assert self._process is not None, "start it first"
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def ended(self) -> int | None:
        """How it ended: its exit code, or the signal as a negative number. None when it runs or was never started."""
        return self._process.returncode if self._process is not None else None

    async def _spawn(self, stdout: int | None = None) -> asyncio.subprocess.Process:
        """What it says on standard output goes to its log, unless somebody wants to read it."""
        self._told_to_end = False
        with private_files.log(self.log) as log:
            self._process = await asyncio.create_subprocess_exec(
                *guarded(*self._command),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log if stdout is None else stdout,
                stderr=log,
                cwd=self._dir,
                env=self._env,
                start_new_session=True,
            )
        return self._process

    async def stop(self) -> None:
        """Asks it to end, then ends it."""
        self._told_to_end = True
        self.signal(signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.grace_s):
                await self.wait()
        await self.kill()

    async def kill(self) -> None:
        """SIGKILL, as the machine does when memory runs out."""
        self._told_to_end = True
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
        return last_words(self.log)
