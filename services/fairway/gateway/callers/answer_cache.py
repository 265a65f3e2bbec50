"""The hub's answers, kept for a short while: one question at a time for each key, and never more of them than fit."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from fairway.runtime.ports import Clock

V = TypeVar("V")
# A yes holds for as long, a no for as long (ms): what was taken away is gone after the first, what was given is there
# after the second.
GOOD_MS = 60_000
BAD_MS = 10_000
# Some 200 bytes each.
_MOST = 16_384


class AnswerCache(Generic[V]):
    """A falsy answer is a no. A flood of refused ones never pushes out a good one."""

    def __init__(self, clock: Clock, most: int = _MOST) -> None:
        self._clock = clock
        self._most = most
        self._good: OrderedDict[bytes, tuple[int, V]] = OrderedDict()
        self._bad: OrderedDict[bytes, tuple[int, V]] = OrderedDict()
        self._asking: dict[bytes, asyncio.Task[V]] = {}

    def known(self, key: bytes) -> bool:
        """Whether the answer was yes when it was last asked, however long ago."""
        return key in self._good

    def refused(self, key: bytes) -> bool:
        """Whether the answer was no, and still holds."""
        found = self._bad.get(key)
        return found is not None and self._clock.now() < found[0]

    async def get(self, key: bytes, ask: Callable[[], Awaitable[V]], anew: bool = False) -> V:
        """`anew`: what is kept does not count, only a question that is on its way."""
        now = self._clock.now()
        for table in () if anew else (self._good, self._bad):
            found = table.get(key)
            if found is not None and now < found[0]:
                table.move_to_end(key)
                return found[1]
        task = self._asking.get(key)
        if task is None:
            task = self._asking[key] = asyncio.create_task(self._ask(key, ask))
            task.add_done_callback(lambda done: self._asked(key, done))
        # Who goes away meanwhile does not take the answer from the others who wait for it.
        return await asyncio.shield(task)

    async def _ask(self, key: bytes, ask: Callable[[], Awaitable[V]]) -> V:
        since = self._clock.now()
        answer = await ask()
        into, other = (self._good, self._bad) if answer else (self._bad, self._good)
        other.pop(key, None)
        into[key] = (since + (GOOD_MS if answer else BAD_MS), answer)
        into.move_to_end(key)
        while len(into) > self._most:
            into.popitem(last=False)
        return answer

    def _asked(self, key: bytes, done: "asyncio.Task[V]") -> None:
        self._asking.pop(key, None)
        if not done.cancelled():
            done.exception()  # whoever waited has it
