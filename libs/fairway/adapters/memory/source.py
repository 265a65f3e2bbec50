"""A durable consumer of the bus in memory: what was taken and not acknowledged comes again."""

import asyncio
from collections.abc import Awaitable, Sequence

import msgspec

from fairway.runtime.ports import Clock, Delivery
from fairway.wire.subjects import STREAMS, Stream, matches


class MemorySource:
    """A durable consumer of a MemoryBus. `redeliver` puts back what was taken and not acknowledged, as the server
    does after the ack wait."""

    def __init__(self, stream: str, subjects: Sequence[str], clock: Clock | None = None) -> None:
        self.stream = stream
        self._clock = clock
        self._waits: dict[asyncio.Task[None], Delivery] = {}
        self._subjects = tuple(subjects)
        self._ready: list[Delivery] = []
        self._taken: dict[int, Delivery] = {}
        self._arrived = asyncio.Event()
        self._offered = 0

    def hears(self, stream: str, subject: str) -> bool:
        return stream == self.stream and any(matches(one, subject) for one in self._subjects)

    def offer(self, stored: Delivery) -> None:
        """A message that it hears."""
        self._ready.append(msgspec.structs.replace(stored, delivered=0))
        self._offered = max(self._offered, stored.sequence)
        self._arrived.set()

    @property
    def handled(self) -> int:
        """Up to this place all is acknowledged."""
        waits = [one.sequence for one in (*self._ready, *self._taken.values(), *self._waits.values())]
        return min(waits) - 1 if waits else self._offered

    def forget(self, sequence: int) -> None:
        """A message that is deleted is not delivered any more."""
        self._ready = [one for one in self._ready if one.sequence != sequence]

    @property
    def waiting(self) -> int:
        return len(self._ready) + len(self._taken)

    async def batch(self, most: int) -> list[Delivery]:
        while not (taken := self.take(most)):
            await self.arrival()
        return taken

    async def arrival(self) -> None:
        """Something is there to be taken, or was."""
        self._arrived.clear()
        if not self._ready:
            await self._arrived.wait()

    def take(self, most: int) -> list[Delivery]:
        taken = self._ready[:most]
        self._ready = self._ready[most:]
        for delivery in taken:
            delivery.delivered += 1
            delivery.handle = delivery.sequence
            self._taken[delivery.handle] = delivery
        return taken

    def ack(self, deliveries: Sequence[Delivery]) -> None:
        """Of any delivery of a message: one that waits to be delivered again is not."""
        over = {one.sequence for one in deliveries}
        for sequence in over:
            self._taken.pop(sequence, None)
        self._ready = [one for one in self._ready if one.sequence not in over or not one.delivered]

    def later(self, delivery: Delivery, delay_ms: int) -> None:
        if self._taken.pop(delivery.handle, None) is None:
            return
        if self._clock is None:
            self._again(delivery)
            return
        wait = asyncio.create_task(self._wait(self._clock.sleep(delay_ms / 1000), delivery))
        self._waits[wait] = delivery
        wait.add_done_callback(lambda over: self._waits.pop(over, None))

    async def _wait(self, delay: Awaitable[None], delivery: Delivery) -> None:
        await delay
        self._again(delivery)

    def _again(self, delivery: Delivery) -> None:
        self._ready.append(delivery)
        self._arrived.set()

    def redeliver(self, only: Sequence[int] | None = None) -> None:
        """All that was taken and not acknowledged, or what of these sequences was."""
        handles = [one for one in (self._taken if only is None else only) if one in self._taken]
        again = [msgspec.structs.replace(self._taken.pop(one)) for one in handles]
        self._ready = again + self._ready
        if again:
            self._arrived.set()

    async def close(self) -> None:
        for wait in self._waits:
            wait.cancel()
        self._ready += self._waits.values()
        self._waits = {}
        self.redeliver()


class MemorySources:
    """Every durable consumer of a bus, by stream and name."""

    def __init__(self) -> None:
        self.all: dict[tuple[str, str], MemorySource] = {}
        self._routes: dict[str, tuple[Stream, list[MemorySource]]] = {}

    def add(self, durable: str, source: MemorySource) -> None:
        self.all[source.stream, durable] = source
        self._routes.clear()

    def route(self, subject: str) -> tuple[Stream, list[MemorySource]]:
        """The stream that has this subject, and who hears it: looked for once, as most messages are of few subjects."""
        known = self._routes.get(subject)
        if known is None:
            stream = next(one for one in STREAMS if any(matches(s, subject) for s in one.subjects))
            hearing = [one for one in self.all.values() if one.hears(stream.name, subject)]
            known = self._routes[subject] = (stream, hearing)
        return known
