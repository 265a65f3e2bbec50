"""The bus in memory: the same promises as the real one (stored, deduplicated, redelivered), in one process."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from fairway.adapters.memory.source import MemorySource, MemorySources
from fairway.runtime.ports import Clock, Delivery, Outgoing, Source, Unreachable
from fairway.runtime.record.publishable import Unsayable, renamed, same, unsaid
from fairway.wire.subjects import STREAMS, matches


class MemoryBus:
    """`refusals` is how many of the next publishes fail half-way, as when the connection breaks. With a clock, what is
    put off waits for it, and an id is known again only within its stream's window; without one it comes again at once.
    `told` hears of everything that is stored."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock
        self.refusals = 0
        self.max_payload = 8 << 20  # as in deploy/nats/nats.conf
        self._log: dict[str, list[Delivery]] = {stream.name: [] for stream in STREAMS}
        self._ids: dict[str, dict[str, tuple[int, int]]] = {stream.name: {} for stream in STREAMS}
        self.told: Callable[[str, Delivery], None] = lambda stream, delivery: None
        self._sources = MemorySources()
        self._answers: dict[str, Callable[[bytes], Awaitable[bytes | None]]] = {}
        self._changed = asyncio.Event()
        self.connected = True

    async def publish(self, messages: Sequence[Outgoing], tries: int = 4) -> int:
        if not self.connected:
            raise Unreachable("the bus is away")
        broken = self.refusals > 0
        self.refusals -= broken
        refused = [one for one in (unsaid(message, self.max_payload) for message in messages) if one]
        never = {id(one.message) for one in refused}
        said = messages[: len(messages) // 2] if broken else messages
        places = [self._store(message) for message in said if id(message) not in never]
        self._changed.set()
        self._changed = asyncio.Event()
        if broken:
            raise Unreachable("the connection broke; nobody knows which messages were stored")
        if refused:
            raise Unsayable(refused)
        return max(places, default=0)

    def _store(self, message: Outgoing) -> int:
        stream, hearing = self._sources.route(message.subject)
        now = self._clock.now() if self._clock else 0
        log = self._log[stream.name]
        while (before := self._ids[stream.name].get(message.id)) and now - before[0] < stream.duplicate_window * 1000:
            stored = log[before[1] - 1]
            if same(message, stored.subject, stored.data):
                return stored.sequence
            message = renamed(message)
        self._ids[stream.name][message.id] = (now, len(log) + 1)
        stored = Delivery(message.id, message.subject, message.data, sequence=len(log) + 1, stored_at=now)
        log.append(stored)
        for source in hearing:
            source.offer(stored)
        self.told(stream.name, stored)
        return stored.sequence

    def stored(self, stream: str) -> Sequence[Delivery]:
        """Everything that was said and is still there, in order."""
        return tuple(one for one in self._log[stream] if one.subject)

    def again(self, stream: str, sequence: int) -> None:
        """Delivers a stored message once more to every consumer of it, as when its acknowledgement was lost."""
        stored = self._log[stream][sequence - 1]
        for source in self._sources.all.values():
            if source.hears(stream, stored.subject):
                source.offer(stored)

    def crashed(self, durable: str) -> None:
        """Who had taken messages of this consumer is gone: they are delivered again."""
        for (_, name), source in self._sources.all.items():
            if name == durable:
                source.redeliver()

    @property
    def waiting(self) -> int:
        """Messages that some consumer has not acknowledged."""
        return sum(source.waiting for source in self._sources.all.values())

    async def consume(self, stream: str, durable: str, subjects: Sequence[str]) -> Source:
        known = self._sources.all.get((stream, durable))
        if known is None:
            known = MemorySource(stream, subjects, self._clock)
            self._sources.add(durable, known)
            for stored in self._log[stream]:
                if known.hears(stream, stored.subject):
                    known.offer(stored)
        return known

    async def erase(self, stream: str, sequence: int) -> None:
        """Its place stays empty."""
        if not self.connected:
            raise Unreachable("the bus is away")
        self._log[stream][sequence - 1] = Delivery("", "", b"", sequence)
        for source in self._sources.all.values():
            if source.stream == stream:
                source.forget(sequence)

    async def handled(self, stream: str, durable: str) -> int:
        source = self._sources.all.get((stream, durable))
        return source.handled if source is not None else 0

    async def fetch(self, stream: str, sequence: int) -> bytes | None:
        log = self._log[stream]
        there = 0 < sequence <= len(log) and log[sequence - 1].subject
        return log[sequence - 1].data if there else None

    async def history(
        self, stream: str, subjects: Sequence[str] = (), start: int = 1, live: bool = False, last: bool = False
    ) -> AsyncGenerator[Delivery, None]:
        log = [one for one in self._log[stream][max(0, start - 1) :] if one.subject]
        wanted = [one for one in log if any(matches(s, one.subject) for s in subjects)] if subjects else log
        if last:
            wanted = sorted({one.subject: one for one in wanted}.values(), key=lambda one: one.sequence)
        at = self._log[stream][-1].sequence if self._log[stream] else 0
        for one in wanted:
            yield one
        if live:
            yield Delivery(id="", subject="", data=b"")
        while live:
            changed = self._changed
            for one in self._log[stream][at:]:
                at = one.sequence
                if one.subject and (not subjects or any(matches(s, one.subject) for s in subjects)):
                    yield one
            await changed.wait()

    async def tell(self, subject: str, data: bytes = b"") -> None:
        if subject in self._answers:
            await self._answers[subject](data)

    async def ask(self, subject: str, data: bytes = b"", timeout: float = 2.0) -> bytes:
        answer = await self._answers[subject](data) if subject in self._answers else None
        if answer is None:
            raise Unreachable(f"nobody answered {subject} within {timeout} s")
        return answer

    async def answer(self, subject: str, reply: Callable[[bytes], Awaitable[bytes | None]]) -> None:
        self._answers[subject] = reply

    async def close(self) -> None:
        self.connected = False
