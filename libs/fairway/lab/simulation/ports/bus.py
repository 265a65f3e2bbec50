"""The bus as one process reaches it: over the bus in memory, with delays, breaks, lost acknowledgements and outages."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TypeVar

from fairway.adapters.memory.bus import MemoryBus
from fairway.adapters.memory.source import MemorySource
from fairway.lab.simulation.people.faults import FaultInjector
from fairway.lab.simulation.process import SimulatedProcess
from fairway.runtime.ports import ANSWER_S, Delivery, Outgoing, Source, Unreachable

T = TypeVar("T")
_AGAIN_S = 0.2


class BusPort:
    def __init__(self, process: SimulatedProcess, bus: MemoryBus, faults: FaultInjector) -> None:
        self._process = process
        self._bus = bus
        self._faults = faults

    async def publish(self, messages: Sequence[Outgoing], tries: int = 4) -> int:
        return await self._process.call(lambda: self._published(messages), "the bus")

    async def _published(self, messages: Sequence[Outgoing]) -> int:
        """When the connection breaks, some of them are stored."""
        if len(messages) > 1 and self._faults.happens(self._faults.profile.unanswered):
            await self._bus.publish(messages[: self._faults.rng.randrange(len(messages))])
            raise Unreachable("the connection broke; nobody knows which messages were stored")
        return await self._bus.publish(messages)

    async def consume(self, stream: str, durable: str, subjects: Sequence[str]) -> Source:
        source = await self._call(lambda: self._bus.consume(stream, durable, subjects))
        return SourcePort(self, source)  # type: ignore[arg-type]  # of a MemoryBus

    def _check(self) -> None:
        if not self._bus.connected:
            raise Unreachable("the bus is away")

    async def _call(self, effect: Callable[[], Awaitable[T]]) -> T:
        async def reached() -> T:
            self._check()
            return await effect()

        return await self._process.call(reached, "the bus")

    async def fetch(self, stream: str, sequence: int) -> bytes | None:
        return await self._call(lambda: self._bus.fetch(stream, sequence))

    async def history(
        self, stream: str, subjects: Sequence[str] = (), start: int = 1, live: bool = False, last: bool = False
    ) -> AsyncGenerator[Delivery, None]:
        self._check()
        async for one in self._bus.history(stream, subjects, start, live, last):
            await self._process.gate()
            self._check()
            yield one

    async def tell(self, subject: str, data: bytes = b"") -> None:
        await self._call(lambda: self._bus.tell(subject, data))

    async def ask(self, subject: str, data: bytes = b"", timeout: float = 2.0) -> bytes:
        return await self._call(lambda: self._bus.ask(subject, data, timeout))

    async def answer(self, subject: str, reply: Callable[[bytes], Awaitable[bytes | None]]) -> None:
        async def answered(data: bytes) -> bytes | None:
            return None if self._process.dead else await reply(data)

        await self._bus.answer(subject, answered)

    @property
    def connected(self) -> bool:
        return self._bus.connected

    async def close(self) -> None:
        return None

    async def ready(self) -> None:
        """Returns while the process lives and has a connection."""
        await self._process.gate()
        while not self._bus.connected:
            await asyncio.sleep(_AGAIN_S)
            await self._process.gate()

    async def carried(self) -> None:
        """The way from the server takes its time."""
        await asyncio.sleep(self._faults.delay())
        await self._process.gate()

    def lost(self) -> bool:
        """Whether an acknowledgement does not arrive."""
        return self._process.dead or not self._bus.connected or self._faults.happens(self._faults.profile.again)


class KeeperBusPort(BusPort):
    """`erasing` is told before a message is deleted."""

    def __init__(
        self, process: SimulatedProcess, bus: MemoryBus, faults: FaultInjector, erasing: Callable[[int], None]
    ) -> None:
        super().__init__(process, bus, faults)
        self._erasing = erasing

    async def erase(self, stream: str, sequence: int) -> None:
        async def erased() -> None:
            self._erasing(sequence)
            await self._bus.erase(stream, sequence)

        await self._call(erased)

    async def handled(self, stream: str, durable: str) -> int:
        return await self._call(lambda: self._bus.handled(stream, durable))


class SourcePort:
    """A durable consumer; what is not acknowledged for `ANSWER_S` comes again."""

    def __init__(self, port: BusPort, source: MemorySource) -> None:
        self._port = port
        self._source = source
        self.stream = source.stream

    async def batch(self, most: int) -> list[Delivery]:
        await self._port.ready()
        while not (taken := self._source.take(most)):
            await self._source.arrival()
            await self._port.ready()
        sequences = [one.sequence for one in taken]
        asyncio.get_running_loop().call_later(ANSWER_S, self._source.redeliver, sequences)
        await self._port.carried()
        return taken

    def ack(self, deliveries: Sequence[Delivery]) -> None:
        self._source.ack([one for one in deliveries if not self._port.lost()])

    def later(self, delivery: Delivery, delay_ms: int) -> None:
        if not self._port.lost():
            self._source.later(delivery, delay_ms)

    async def close(self) -> None:
        return None
