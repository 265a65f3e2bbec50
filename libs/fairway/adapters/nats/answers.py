"""What one reader answers to a durable consumer: acknowledged in bulk, put off, or given back."""

from collections.abc import Coroutine, Sequence
from typing import Any

from nats.aio.client import Client

from fairway.adapters.nats.bundle import BundleShare
from fairway.adapters.nats.connection import Wire
from fairway.runtime.ports import Delivery


class Answers:
    """`due` are the messages that were given and not answered yet, in their order."""

    def __init__(self, client: Client, wire: Wire) -> None:
        self._nc = client
        self._wire = wire
        self.due: dict[str, None] = {}
        self._acks: list[str] = []

    def ack(self, deliveries: Sequence[Delivery]) -> bool:
        """Whether there is something to send now."""
        for handle in (delivery.handle for delivery in deliveries):
            if not isinstance(handle, BundleShare):
                self._answered(handle)
                continue
            handle.left -= 1
            if not handle.left:
                self._answered(handle.reply)
        return bool(self._acks)

    def _answered(self, handle: str) -> None:
        self.due.pop(handle, None)
        self._acks.append(handle)

    async def send(self) -> None:
        acks = self._acks
        self._acks = []
        if acks:
            await self._wire.reply(acks, b"+ACK")

    def later(self, delivery: Delivery, delay_ms: int) -> Coroutine[Any, Any, None]:
        """All of its bundle comes again then, those that were acknowledged, too: they are known."""
        body = b'-NAK {"delay": %d}' % (delay_ms * 1_000_000)
        handle = delivery.handle.reply if isinstance(delivery.handle, BundleShare) else delivery.handle
        self.due.pop(handle, None)
        return self._nc.publish(handle, body)

    async def give_back(self) -> None:
        """To whoever reads the consumer next; what was acknowledged goes first."""
        if self._nc.is_connected:
            await self.send()
            await self._wire.reply(list(self.due), b"-NAK")
            await self._nc.flush()
