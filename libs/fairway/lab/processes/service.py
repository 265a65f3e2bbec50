"""Fairway's own processes as children: started with an environment, ready when they say so, gone with their parent."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from fairway.lab.processes import die_with_parent
from fairway.runtime import private_files

_READY_S = 150.0
_STOP_S = 10.0


class Child:
    """`python -m MODULE ARGS`, whose first line on standard output is JSON. Its log goes to `log`."""

    def __init__(self, name: str, module: str, args: Sequence[str], log: Path, env: Mapping[str, str]) -> None:
        self.name = name
        self.log = log
        self._command = [sys.executable, "-m", module, *args]
        self._env = {**os.environ, **env}
        self._process: asyncio.subprocess.Process | None = None
        self.said: dict[str, Any] = {}

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

    async def start(self, patience_s: float = _READY_S) -> dict[str, Any]:
        """Returns what it said when it was ready; RuntimeError with its last words when it ended before, or took
        longer than `patience_s`."""
        guard = [sys.executable, "-I", "-S", str(die_with_parent.__file__), str(os.getpid())]
        with private_files.log(self.log) as log:
            self._process = await asyncio.create_subprocess_exec(
                *guard,
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=self._env,
                start_new_session=True,
            )
        assert self._process.stdout is not None, "it was asked for a pipe"
        try:
            async with asyncio.timeout(patience_s):
                line = await self._process.stdout.readline()
        except TimeoutError:
            line = b""
        if not line.strip():
            await self.stop()
            raise RuntimeError(f"{self.name} did not start: {self.last_words()} (see {self.log})")
        self.said = msgspec.json.decode(line)
        return self.said

    def last_words(self) -> str:
        lines = self.log.read_text(errors="replace").strip().splitlines() if self.log.exists() else []
        return " / ".join(lines[-3:]) or "it wrote nothing"

    async def stop(self) -> None:
        """Asks it to end, then ends it."""
        if not self.alive or self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOP_S):
                await self._process.wait()
        except TimeoutError:
            await self.kill()

    async def kill(self) -> None:
        """SIGKILL, as the machine does when memory runs out."""
        if self._process is not None and self.alive:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def wait(self) -> int:
        assert self._process is not None, "start it first"
        return await self._process.wait()
