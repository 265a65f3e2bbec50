"""Waiting for the first word on a submission: one listener for all who wait, on what is said from now on."""

import asyncio
from collections.abc import Iterable

import structlog

from fairway.runtime.ports import Delivery, Unreachable, World
from fairway.runtime.record.senders import message_of
from fairway.wire import flow, subjects
from fairway.wire import jobs as wire

log = structlog.get_logger()
_SUBJECTS = flow.filters(wire.Queue, wire.Rejected)
Word = wire.Queue | wire.Rejected


class FirstResult:
    """A job is settled when it was queued (quota has seen it too) or rejected. Ask before the submission is said."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._waiting: dict[str, asyncio.Future[Word]] = {}
        self._listening = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def expect(self, names: Iterable[str], timeout_s: float) -> asyncio.Future[Word]:
        """`names`: the job's id and the id of its submission, which a rejection under another job id is caused by."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen())
        async with asyncio.timeout(timeout_s):
            await self._listening.wait()
        word: asyncio.Future[Word] = asyncio.get_running_loop().create_future()
        names = tuple(names)
        for name in names:
            self._waiting[name] = word
        word.add_done_callback(lambda done: self._forget(names, done))
        return word

    def _forget(self, names: tuple[str, ...], word: asyncio.Future[Word]) -> None:
        for name in names:
            if self._waiting.get(name) is word:
                del self._waiting[name]

    async def _listen(self) -> None:
        while True:
            try:
                await self._follow()
            except (Unreachable, OSError, TimeoutError) as error:
                log.warning("waiting", service="gateway", cause=str(error))
            self._listening.clear()
            await self._world.clock.sleep(0.5)

    async def _follow(self) -> None:
        async for one in self._world.bus.history(subjects.JOBS, _SUBJECTS, live=True, last=True):
            if not one.subject:
                self._listening.set()
                continue
            if self._waiting and self._listening.is_set():
                self._take(one)

    def _take(self, one: Delivery) -> None:
        if (message := message_of(one)) is None:
            return  # its consumer has put it among the dead letters
        word = self._waiting.get(message.job) or self._waiting.get(message.cause)
        if word is not None and not word.done() and isinstance(message, wire.Queue | wire.Rejected):
            word.set_result(message)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
