"""A durable JetStream consumer read by own pull requests, several messages in flight, acknowledged in bulk."""

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence
from typing import Any

import msgspec
from nats.aio.client import Client

from fairway.adapters.nats_wire import Arrived, Close, Wire
from fairway.runtime.ports import Delivery, Unreachable

# Messages asked for ahead of use: two full batches of the loop.
_CREDIT = 512
# An unanswered pull request ends by itself after this long; the server sends a heartbeat twice in it.
_EXPIRES_S = 20
_HEARTBEAT_S = 5


class NatsSource:
    """Implements `ports.Source`. A status message or silence of two heartbeats makes it ask anew. Whatever it has when
    it is closed is given back."""

    def __init__(self, client: Client, wire: Wire, stream: str, durable: str, *, lasting: bool = True) -> None:
        self.stream = stream
        self._lasting = lasting
        self._lost = False
        self._nc, self._wire = client, wire
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{durable}"
        self._inbox = client.new_inbox()
        self._buffer: deque[Delivery] = deque()
        self._in_hand: dict[str, None] = {}
        self._arrived = asyncio.Event()
        self._asked = 0
        self._sign_of_life = 0.0
        self._close: Close | None = None
        self._acks: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        self._close = await self._wire.listen(self._inbox, self._received)
        self._keep(self._watch())
        await self._pull()

    def renew(self) -> None:
        """Forget what was asked for, and ask again."""
        self._asked = 0
        self._keep(self._pull())

    def _keep(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pull(self) -> None:
        want = _CREDIT - self._asked - len(self._buffer)
        if want < _CREDIT // 2 or not self._nc.is_connected:
            return
        self._asked += want
        request = {"batch": want, "expires": _EXPIRES_S * 10**9, "idle_heartbeat": _HEARTBEAT_S * 10**9}
        self._sign_of_life = asyncio.get_running_loop().time()
        await self._nc.publish(self._subject, msgspec.json.encode(request), reply=self._inbox)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_HEARTBEAT_S)
            if asyncio.get_running_loop().time() - self._sign_of_life > 2.5 * _HEARTBEAT_S:
                self._asked = 0
                await self._pull()

    def _received(self, arrived: list[Arrived]) -> None:
        self._sign_of_life = asyncio.get_running_loop().time()
        for one in arrived:
            if one.reply.startswith(b"$JS.ACK"):
                self._asked = max(0, self._asked - 1)
                self._buffer.append(_delivery(one))
            elif (status := one.status) and status != "100":  # that request is over, whatever of it was left
                self._keep(self._over(status))
        if self._buffer:
            self._arrived.set()

    async def _over(self, status: str) -> None:
        """404, 408, 409: ask again. 503: nobody serves the consumer; a passing one is gone for good."""
        self._asked = 0
        if status != "503":
            await self._pull()
        elif self._lasting:
            self._keep(self._pull_soon())
        else:
            self._lost = True
            self._arrived.set()

    async def _pull_soon(self) -> None:
        await asyncio.sleep(0.25)
        await self._pull()

    async def batch(self, most: int) -> list[Delivery]:
        while not self._buffer:
            if self._lost:
                raise Unreachable(f"the consumer on {self.stream} is gone; start over")
            self._arrived.clear()
            await self._pull()
            await self._arrived.wait()
        taken = [self._buffer.popleft() for _ in range(min(most, len(self._buffer)))]
        if self._lasting:
            self._in_hand.update((delivery.handle, None) for delivery in taken)
        await self._pull()
        return taken

    def ack(self, deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            self._in_hand.pop(delivery.handle, None)
            self._acks.append(delivery.handle)
        self._keep(self._send_acks())

    async def _send_acks(self) -> None:
        acks, self._acks = self._acks, []
        if acks:
            await self._wire.reply(acks, b"+ACK")

    def later(self, delivery: Delivery, delay_ms: int) -> None:
        self._in_hand.pop(delivery.handle, None)
        body = b'-NAK {"delay": %d}' % (delay_ms * 1_000_000)
        self._keep(self._nc.publish(delivery.handle, body))

    async def close(self) -> None:
        """What was taken and not acknowledged, and what was fetched ahead, goes to another consumer at once: without
        that it would when the wait for an acknowledgement is over."""
        for task in list(self._tasks):
            task.cancel()
        close, self._close = self._close, None
        if close is None or self._nc.is_closed:
            return
        await close()
        if self._lasting and self._nc.is_connected:
            await self._send_acks()
            await self._wire.reply([*self._in_hand, *(delivery.handle for delivery in self._buffer)], b"-NAK")
            await self._nc.flush()


def _delivery(one: Arrived) -> Delivery:
    """`$JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<time>.<pending>`, or the longer form
    with domain and account behind `$JS.ACK` (ADR-15 of NATS)."""
    handle = one.reply.decode()
    parts = handle.split(".")
    at = 4 if len(parts) < 11 else 6
    delivered, sequence, left = int(parts[at]), int(parts[at + 1]), int(parts[at + 4])
    name = one.id or f"{parts[at - 2]}-{sequence}"
    return Delivery(
        id=name, subject=one.subject.decode(), data=one.data, sequence=sequence, delivered=delivered, left=left,
        handle=handle,
    )  # fmt: skip
