"""Who waits for what, who ought to go next, and who went: as the record says it while it grows."""

import asyncio
from collections import Counter
from collections.abc import Hashable
from typing import Any

import msgspec
from msgspec import Struct

from fairway.runtime.ports import Delivery

SUBJECTS = tuple(f"fairway.job.{verb}.>" for verb in ("queue", "blocked", "dequeued", "dispatched", "cancelled"))
# Long enough that only a job that nobody would have woken is given up.
_PATIENCE_S = 30.0


class Start(Struct, frozen=True):
    """`at` in seconds of the loop's clock."""

    job: str
    cluster: str
    at: float


class _Word(Struct):
    type: str
    job: str
    enqueued_at: int = 0
    cluster: str = ""
    woken_by: str = ""
    why: dict[str, Any] | None = None


_word = msgspec.json.Decoder(_Word).decode


class WaitingOrder:
    """`kinds` is told by who submits: which jobs one and the same freed room or quota would serve."""

    def __init__(self) -> None:
        self.kinds: dict[str, Hashable] = {}
        self.starts: list[Start] = []
        self.wakes: Counter[str] = Counter()
        self.cancelled: dict[str, float] = {}
        self._enqueued: dict[str, int] = {}
        self._lines: dict[Hashable, dict[str, int]] = {}
        self._news = asyncio.Event()

    def heard(self, delivery: Delivery) -> str:
        """The job that waits from now on, if it has not before."""
        word = _word(delivery.data)
        now = asyncio.get_running_loop().time()
        self._news.set()
        match word.type:
            case "queue":
                self._enqueued[word.job] = word.enqueued_at
                return self._waits(word.job) if word.why is not None else ""
            case "blocked":
                return self._waits(word.job)
            case "dequeued":
                self.wakes[word.woken_by] += 1
            case "dispatched":
                self.starts.append(Start(word.job, word.cluster, now))
                self._line(word.job).pop(word.job, None)
            case "cancelled":
                self.cancelled[word.job] = now
        return ""

    def _line(self, job: str) -> dict[str, int]:
        return self._lines.setdefault(self.kinds.get(job), {})

    def _waits(self, job: str) -> str:
        line = self._line(job)
        if job in line:
            return ""
        line[job] = self._enqueued[job]
        return job

    def first(self, kind: Hashable) -> str:
        """Whose turn it is of those who wait for this: the earliest in its queue, and of these the first by id."""
        line = self._lines[kind]
        return min(line, key=lambda job: (line[job], job))

    def waiting(self) -> list[str]:
        return [job for line in self._lines.values() for job in line]

    async def start_of(self, job: str) -> Start | None:
        """None when it did not start for so long that it was forgotten."""
        seen = 0
        try:
            async with asyncio.timeout(_PATIENCE_S):
                while True:
                    for start in self.starts[seen:]:
                        if start.job == job:
                            return start
                    seen = len(self.starts)
                    await self.heard_more()
        except TimeoutError:
            return None

    async def heard_more(self) -> None:
        self._news.clear()
        await self._news.wait()
