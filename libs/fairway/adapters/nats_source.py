"""A JetStream consumer read by own pull requests, several messages in flight: a durable one, acknowledged in bulk, or
one that passes, of which nothing is acknowledged."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Coroutine, Sequence
from typing import Any

import msgspec
import nats.errors
from nats.aio.client import Client

from fairway.adapters.nats_bundle import Share, delivered, turn
from fairway.adapters.nats_wire import Arrived, Close, Wire
from fairway.runtime.ports import Delivery, Unreachable

# Messages asked for ahead of use, about: two full batches of the loop.
_CREDIT = 512
# An unanswered pull request ends by itself after this long; the server sends a heartbeat twice in it.
_EXPIRES_S = 20
_HEARTBEAT_S = 5


class Gap(Exception):
    """Messages between the last one that was given and the next did not arrive, and will not: start over behind it."""


class NatsSource:
    """Implements `ports.Source`. A status message or silence of two heartbeats makes it ask anew. Whatever it has when
    it is closed is given back. One that is not `lasting` ends with a Gap where its consumer's count does not go on."""

    def __init__(self, client: Client, wire: Wire, stream: str, durable: str, *, lasting: bool = True) -> None:
        self.stream = stream
        self._lasting = lasting
        self._lost = False
        self._turn = 0  # of the last message that arrived, as the consumer counts them
        self._gap = ""
        self._nc, self._wire = client, wire
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{durable}"
        self._inbox = client.new_inbox()
        self._buffer: deque[Delivery] = deque()
        self._unanswered: dict[str, None] = {}
        self._arrived = asyncio.Event()
        self._asked = 0
        self._each = 1.0  # messages of a bundle, on average of late
        self._sign_of_life = 0.0
        self._close: Close | None = None
        self._acks: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        self._close = await self._wire.listen(self._inbox, self._received)
        self._keep(self._watch())
        await self._pull()

    def renew(self) -> None:
        """Forget what was asked for, and ask again. What was on its way comes again to a durable consumer only."""
        if not self._lasting:
            self._missed("the connection was lost")
            return
        if self._close is None:
            return  # of one that was closed nobody takes what comes
        self._asked = 0
        self._keep(self._pull())

    def _missed(self, what: str) -> None:
        """Nothing that arrives from now on is taken: it comes once more when it is read again from the gap."""
        self._gap = self._gap or what
        self._arrived.set()

    def _keep(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pull(self) -> None:
        room = _CREDIT - self._asked * self._each - len(self._buffer)
        if room < _CREDIT // 2 or not self._nc.is_connected:
            return
        want = max(1, int(room / self._each))
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
                if not (came := delivered(one)):
                    continue  # no stream's: whoever knows this inbox can write to it
                if not self._next_is(one):
                    return
                self._asked = max(0, self._asked - 1)
                self._each += (len(came) - self._each) / 32
                self._buffer += came
            elif (status := one.status) and status != "100":  # that request is over, whatever of it was left
                self._keep(self._over(status))
        if self._buffer:
            self._arrived.set()

    def _next_is(self, one: Arrived) -> bool:
        """Whether this message may be taken. A durable consumer's needs an answer; any other's follows the last."""
        if self._lasting:
            self._unanswered[one.reply.decode()] = None
            return True
        if not self._gap and (came := turn(one.reply)) != self._turn + 1:
            self._missed(f"message {came} of the consumer came after {self._turn}")
        self._turn += 1
        return not self._gap

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
            if self._gap:
                raise Gap(self._gap)
            if self._lost:
                raise Unreachable(f"the consumer on {self.stream} is gone; start over")
            self._arrived.clear()
            await self._pull()
            await self._arrived.wait()
        taken = [self._buffer.popleft() for _ in range(min(most, len(self._buffer)))]
        await self._pull()
        return taken

    def ack(self, deliveries: Sequence[Delivery]) -> None:
        for handle in (delivery.handle for delivery in deliveries):
            if not isinstance(handle, Share):
                self._answered(handle)
                continue
            handle.left -= 1
            if not handle.left:
                self._answered(handle.reply)
        if self._acks:
            self._keep(self._send_acks())

    def _answered(self, handle: str) -> None:
        self._unanswered.pop(handle, None)
        self._acks.append(handle)

    async def _send_acks(self) -> None:
        acks, self._acks = self._acks, []
        if acks:
            await self._wire.reply(acks, b"+ACK")

    def later(self, delivery: Delivery, delay_ms: int) -> None:
        """All of its bundle comes again then, those that were acknowledged, too: they are known."""
        body = b'-NAK {"delay": %d}' % (delay_ms * 1_000_000)
        handle = delivery.handle.reply if isinstance(delivery.handle, Share) else delivery.handle
        self._unanswered.pop(handle, None)
        self._keep(self._nc.publish(handle, body))

    async def close(self) -> None:
        """What was taken and not acknowledged, and what was fetched ahead, goes to another consumer at once: without
        that it would when the wait for an acknowledgement is over."""
        for task in list(self._tasks):
            task.cancel()
        close, self._close = self._close, None
        if close is None or self._nc.is_closed:
            return
        with contextlib.suppress(nats.errors.Error, TimeoutError):  # the bus is away: then it waits that long
            await close()
            if self._lasting and self._nc.is_connected:
                await self._send_acks()
                await self._wire.reply(list(self._unanswered), b"-NAK")
                await self._nc.flush()
