"""Journeys of messages: sent at a rate or as fast as they arrive, and when each arrived."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence

from fairway.adapters.nats.bus import NatsBus
from fairway.runtime.ports import Delivery, Outgoing


class Journeys:
    """Messages that were sent and those that arrived, with times in seconds of the loop's clock. `count` of the
    source is taken at a time; `name_of` tells which journey an arrival belongs to. RuntimeError when
    none arrives for `patience_s`. A `chunk` is published in one call."""

    chunk = 64

    def __init__(
        self, bus: NatsBus, source: Iterator[tuple[str, Outgoing]], tick: Callable[[], None], patience_s: float = 30.0
    ) -> None:
        self._bus = bus
        self._source = source
        self._tick = tick
        self._patience_s = patience_s
        self.sent: dict[str, float] = {}
        self.arrived: dict[str, float] = {}
        self.order: list[float] = []
        self.strange = 0
        self._news = asyncio.Event()

    async def listen(self, stream: str, subjects: Sequence[str], name_of: Callable[[Delivery], str]) -> None:
        """For ever: notes every arrival on the subjects, once or more often; what has no name is none."""
        loop = asyncio.get_running_loop()
        async for delivery in self._bus.history(stream, subjects, live=True):
            if not delivery.subject or not (name := name_of(delivery)):
                continue
            if name in self.arrived or name not in self.sent:
                self.strange += 1
            self.arrived.setdefault(name, loop.time())
            self.order.append(loop.time())
            self._tick()
            self._news.set()

    def begin(self, name: str) -> None:
        """One that was sent by somebody else."""
        self.sent[name] = asyncio.get_running_loop().time()

    def counts(self) -> dict[str, int]:
        return {"submitted": len(self.sent), "dispatched": len(self.arrived), "not_once": self.strange}

    @property
    def under_way(self) -> int:
        return len(self.sent) - len(self.arrived)

    async def saturate(self, count: int, window: int) -> None:
        """Sends so many, as fast as they arrive, with at most `window` under way; returns when all have arrived."""
        left = count
        while left:
            chunk = min(self.chunk, left)
            while self.under_way + chunk > max(window, chunk):
                await self._some()
            await self._send(chunk)
            left -= chunk
        await self.drain()

    async def keep_up(self, window: int, enough: Callable[[], bool]) -> None:
        """Sends as fast as they arrive, with at most `window` under way, until it is enough; returns when all have
        arrived."""
        while not enough():
            if self.under_way + self.chunk > max(window, self.chunk):
                await self._some()
            else:
                await self._send(self.chunk)
        await self.drain()

    async def steady(self, count: int, rate: float) -> None:
        """Sends so many at `rate` per second, whatever arrives; returns when all have arrived."""
        loop = asyncio.get_running_loop()
        start = loop.time()
        sent = 0
        while sent < count:
            due = min(count, int((loop.time() - start) * rate) + 1) - sent
            if due:
                await self._send(min(due, self.chunk))
                sent += min(due, self.chunk)
            else:
                await asyncio.sleep(0.002)
        await self.drain()

    async def drain(self) -> None:
        while self.under_way:
            await self._some()

    async def _some(self) -> None:
        self._news.clear()
        try:
            async with asyncio.timeout(self._patience_s):
                await self._news.wait()
        except TimeoutError:
            missing = sorted(set(self.sent) - set(self.arrived))[:3]
            raise RuntimeError(
                f"{self.under_way} of {len(self.sent)} never arrived, such as {', '.join(missing)}; "
                "see the logs of the services"
            ) from None

    async def _send(self, count: int) -> None:
        now = asyncio.get_running_loop().time()
        messages = []
        for _ in range(count):
            name, message = next(self._source)
            self.sent[name] = now
            messages.append(message)
        await self.publish(messages)

    async def publish(self, messages: Sequence[Outgoing]) -> None:
        """On the bus, as whoever is trusted there does."""
        await self._bus.publish(messages)

    def latencies(self, skip: int) -> list[float]:
        """Milliseconds from sent to arrived of all but the first `skip` sent."""
        return [(self.arrived[name] - at) * 1000 for name, at in list(self.sent.items())[skip:]]


def percentiles(name: str, times: Iterable[float], *shares: int) -> dict[str, float]:
    """`<name>p50_ms` and so on: the time that so many of a hundred do not pass; 0 for none."""
    ascending = sorted(times) or [0.0]
    last = len(ascending) - 1
    return {f"{name}p{share}_ms": round(ascending[min(last, len(ascending) * share // 100)], 1) for share in shares}
