"""A program of a cluster as a child process, which is up when it answers, and may be kept alive."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from fairway.lab.processes.child import ChildProcess

_PROBE_S = 0.05
_AGAIN_S = 1.0


class NotUp(RuntimeError):
    """A program ended, or did not answer in time; with its last words."""


class Program(ChildProcess):
    """`dir/NAME.log` holds what it writes."""

    grace_s = 5.0

    def __init__(
        self, name: str, command: Sequence[str | Path], dir: Path, env: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(name, command, dir / f"{name}.log", env or {}, dir)

    async def start(self) -> None:
        await self._spawn()

    async def keep(self) -> None:
        """Starts it again whenever it ends by itself, as a kubelet does: schedulers end when the API server is away for
        longer than their Lease. Until it is stopped or killed."""
        while True:
            await self.wait()
            await asyncio.sleep(_AGAIN_S)
            if self._told_to_end:
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
