"""Saying things on the bus until they are stored; each has an id, so that saying it again is safe."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import msgspec

from fairway.domain.decision import Say
from fairway.runtime.ports import Clock, Outgoing, Unreachable, World
from fairway.runtime.publishing import Publishing

_encode = msgspec.json.Encoder().encode
_PIECE = 256
V = TypeVar("V")


def outgoing(say: Say) -> Outgoing:
    kind = ".".join(say.subject.split(".")[:3])
    return Outgoing(say.id, say.subject, _encode(say.message), kind, "/fairway/gateway")


class Post:
    def __init__(self, world: World) -> None:
        self._world = world
        self._saying = Publishing("gateway", world)

    async def say(self, words: Sequence[Say]) -> None:
        """Returns when all of it is stored, however long the bus is away; what can never be is a dead letter."""
        for start in range(0, len(words), _PIECE):
            await self._saying.insist(list(map(outgoing, words[start : start + _PIECE])))


async def one_by_one(
    waiting: dict[str, V], news: asyncio.Event, clock: Clock, write: Callable[[V], Awaitable[None]]
) -> None:
    """Writes the last word on each of these to the hub, the oldest first, whenever there is news; for ever."""
    while True:
        await news.wait()
        news.clear()
        while waiting:
            name, one = next(iter(waiting.items()))
            try:
                await write(one)
            except Unreachable:
                await clock.sleep(1)
                continue
            if waiting.get(name) is one:
                del waiting[name]


class HubOutbox:
    """Says things one after the other, many at a time, in the order in which they were put in."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._waiting: list[Say] = []
        self._news = asyncio.Event()
        self._stored = asyncio.Condition()
        self._taken = self._done = 0

    def put(self, words: Sequence[Say]) -> None:
        self._waiting += words
        self._taken += len(words)
        self._news.set()

    async def say(self, words: Sequence[Say]) -> None:
        """Returns when they are stored, and with them all that was put in before."""
        self.put(words)
        until = self._taken
        async with self._stored:
            await self._stored.wait_for(lambda: self._done >= until)

    async def run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            words = self._waiting
            self._waiting = []
            await self._post.say(words)
            self._done += len(words)
            async with self._stored:
                self._stored.notify_all()
