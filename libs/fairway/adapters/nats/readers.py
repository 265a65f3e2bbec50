"""A bus whose past is read over a connection of its own: what callers may ask for, at any time and as often as they
like, shares none with what services hear and say."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from fairway.adapters.nats.bus import NatsBus
from fairway.runtime.ports import Delivery, Outgoing, Source


class Readers:
    """Implements `ports.Bus` with the connection `bus`, and with `readers` for `history` and `fetch`. Who made the
    first one closes it."""

    def __init__(self, bus: NatsBus, readers: NatsBus) -> None:
        self._bus = bus
        self._readers = readers

    @property
    def connected(self) -> bool:
        return self._bus.connected

    def history(
        self, stream: str, subjects: Sequence[str] = (), start: int = 1, live: bool = False, last: bool = False
    ) -> AsyncGenerator[Delivery, None]:
        return self._readers.history(stream, subjects, start, live, last)

    async def fetch(self, stream: str, sequence: int) -> bytes | None:
        return await self._readers.fetch(stream, sequence)

    async def publish(self, messages: Sequence[Outgoing], tries: int = 4) -> None:
        await self._bus.publish(messages, tries)

    async def consume(self, stream: str, durable: str, subjects: Sequence[str], wait_s: float = 30.0) -> Source:
        return await self._bus.consume(stream, durable, subjects, wait_s)

    async def tell(self, subject: str, data: bytes = b"") -> None:
        await self._bus.tell(subject, data)

    async def ask(self, subject: str, data: bytes = b"", timeout: float = 2.0) -> bytes:
        return await self._bus.ask(subject, data, timeout)

    async def answer(self, subject: str, reply: Callable[[bytes], Awaitable[bytes | None]]) -> None:
        await self._bus.answer(subject, reply)

    async def close(self) -> None:
        await self._readers.close()
