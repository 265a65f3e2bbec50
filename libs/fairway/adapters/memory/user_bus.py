"""The bus in memory, as a server of NATS gives it to a user: with the rights of the same table."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import cast

from fairway.adapters.logins import RightsRefused
from fairway.adapters.rights import bus_rights as of
from fairway.runtime.ports import Bus, Delivery, ErasableBus, Outgoing, Source


class UserBus:
    """`bus` for the work of these credentials. RightsRefused, which nothing handles, for all else."""

    def __init__(self, bus: Bus, *credentials: str) -> None:
        self._bus = bus
        self._user = ", ".join(credentials)
        self._rights = of.rights(*credentials)

    def _may(self, subject: str) -> None:
        if not of.may_publish(self._rights, subject):
            raise RightsRefused(f"{self._user} may not publish {subject}")

    async def publish(self, messages: Sequence[Outgoing], tries: int = 4) -> int:
        for one in messages:
            self._may(one.subject)
        return await self._bus.publish(messages, tries)

    async def consume(self, stream: str, durable: str, subjects: Sequence[str]) -> Source:
        self._may(of.next_of(stream, durable))
        return await self._bus.consume(stream, durable, subjects)

    async def fetch(self, stream: str, sequence: int) -> bytes | None:
        self._may(of.by_number(stream))
        return await self._bus.fetch(stream, sequence)

    def history(
        self, stream: str, subjects: Sequence[str] = (), start: int = 1, live: bool = False, last: bool = False
    ) -> AsyncGenerator[Delivery, None]:
        self._may(of.passing(stream))
        return self._bus.history(stream, subjects, start, live, last)

    async def tell(self, subject: str, data: bytes = b"") -> None:
        self._may(subject)
        await self._bus.tell(subject, data)

    async def ask(self, subject: str, data: bytes = b"", timeout: float = 2.0) -> bytes:
        self._may(subject)
        return await self._bus.ask(subject, data, timeout)

    async def answer(self, subject: str, reply: Callable[[bytes], Awaitable[bytes | None]]) -> None:
        if not of.may_hear(self._rights, subject):
            raise RightsRefused(f"{self._user} may not hear {subject}")
        await self._bus.answer(subject, reply)

    async def erase(self, stream: str, sequence: int) -> None:
        self._may(of.deletion(stream))
        await self._record.erase(stream, sequence)

    async def handled(self, stream: str, durable: str) -> int:
        self._may(of.info_of(stream, durable))
        return await self._record.handled(stream, durable)

    @property
    def _record(self) -> ErasableBus:
        """As the one service has it that may delete."""
        return cast(ErasableBus, self._bus)

    @property
    def connected(self) -> bool:
        return self._bus.connected

    async def close(self) -> None:
        await self._bus.close()
