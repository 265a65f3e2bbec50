"""Fairway's own processes as children: started with an environment, ready when they say so, gone with their parent."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from fairway.lab.processes.child import ChildProcess

READY_S = 150.0


class Child(ChildProcess):
    """`python -m MODULE ARGS`, whose first line on standard output is JSON. Its log goes to `log`."""

    def __init__(self, name: str, module: str, args: Sequence[str], log: Path, env: Mapping[str, str]) -> None:
        super().__init__(name, [sys.executable, "-m", module, *args], log, env)
        self.said: dict[str, Any] = {}

    async def start(self, patience_s: float = READY_S) -> dict[str, Any]:
        """Returns what it said when it was ready; RuntimeError with its last words when it ended before, or took
        longer than `patience_s`."""
        process = await self._spawn(asyncio.subprocess.PIPE)
        assert process.stdout is not None, "it was asked for a pipe"
        try:
            async with asyncio.timeout(patience_s):
                line = await process.stdout.readline()
        except TimeoutError:
            line = b""
        if not line.strip():
            await self.stop()
            raise RuntimeError(f"{self.name} did not start: {self.last_words()} (see {self.log})")
        self.said = msgspec.json.decode(line)
        return self.said
