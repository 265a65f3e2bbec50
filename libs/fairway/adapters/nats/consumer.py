"""A JetStream consumer read by own pull requests, several messages in flight: a durable one, acknowledged in bulk, or
one that passes, of which nothing is acknowledged."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Coroutine, Sequence
from typing import Any

import nats.errors
from nats.aio.client import Client

from fairway.adapters.nats.bundle import BundleShare, delivered, turn
from fairway.adapters.nats.connection import Arrived, Close, Wire
from fairway.adapters.nats.credit import HEARTBEAT_S, Budget, Credit
from fairway.runtime.ports import Delivery, Unreachable


class Gap(Exception):
    """Messages between the last one that was given and the next did not arrive, and will not: start over behind it."""


class NatsSource:
    """Implements `ports.Source`. A status message or silence of two heartbeats makes it ask anew. Whatever it has when
    it is closed is given back. One that is not `lasting` ends with a Gap where its consumer's count does not go on. It
    asks for no more bytes than `budget` gives it."""

    def __init__(self, client: Client, wire: Wire, at: tuple[str, str], budget: Budget, share: int = 0) -> None:
        """Of the consumer `at` stream and name. With a `share` of a seat at the budget it is one that passes."""
        self.stream, durable = at
        self._lasting = not share
        self._budget, self._credit = budget, Credit(share or budget.take())
        self._seated = True
        self._asking = False
        self._lost = False
        self._turn = 0  # of the last message that arrived, as the consumer counts them
        self._gap = ""
        self._nc, self._wire = client, wire
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{self.stream}.{durable}"
        self._inbox = client.new_inbox()
        self._buffer: deque[Delivery] = deque()
        self._unanswered: dict[str, None] = {}
        self._arrived, self._moved = asyncio.Event(), asyncio.Event()
        self._sign_of_life = 0.0
        self._close: Close | None = None
        self._acks: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, singly: bool = False) -> None:
        """It is closed again when this raises."""
        self._credit.singly = singly
        try:
            self._close = await self._wire.listen(self._inbox, self._received)
            self._keep(self._watch())
            await self._pull()
        except BaseException:
            await self.close()
            raise

    def renew(self) -> None:
        """Forget what was asked for, and ask again. What was on its way comes again to a durable consumer only."""
        if not self._lasting:
            self._missed("the connection was lost")
            return
        if self._close is None:
            return  # of one that was closed nobody takes what comes
        self._ended()
        self._keep(self._pull())

    def _missed(self, what: str) -> None:
        """Nothing that arrives from now on is taken: it comes once more when it is read again from the gap."""
        self._gap = self._gap or what
        self._ended()
        self._arrived.set()

    def _ended(self, too_large: bool = False) -> None:
        """Nothing more comes of what was asked for."""
        self._credit.over(too_large)
        self._moved.set()

    def _keep(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pull(self) -> None:
        if not self._credit.wants or not self._nc.is_connected or self._asking or self._gap:
            return
        if self._credit.large or self._credit.singly:
            self._asking = True  # here: whoever pulls before that task runs would start another one
            self._keep(self._pull_large())
            return
        await self._ask(self._credit.request())

    async def _pull_large(self) -> None:
        """One message of any size; of a connection's readers one at a time, until it has come."""
        try:
            async with self._budget.one_large:
                await self._ask(self._credit.request_large(self._budget.largest))
                while self._credit.asked:
                    self._moved.clear()
                    await self._moved.wait()
        finally:
            self._asking = False
        await self._pull()

    async def _ask(self, request: bytes) -> None:
        self._sign_of_life = asyncio.get_running_loop().time()
        await self._nc.publish(self._subject, request, reply=self._inbox)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            if asyncio.get_running_loop().time() - self._sign_of_life > 2.5 * HEARTBEAT_S:
                self._ended()
                await self._pull()

    def _received(self, arrived: list[Arrived]) -> None:
        self._sign_of_life = asyncio.get_running_loop().time()
        for one in arrived:
            if one.reply.startswith(b"$JS.ACK"):
                if not (came := delivered(one)):
                    continue  # no stream's: whoever knows this inbox can write to it
                if not self._next_is(one):
                    return
                self._credit.came(_size(one), came)
                self._buffer += came
            elif (status := one.status) and status != "100" and b"Batch Completed" not in one.headers:
                self._ended(too_large=b"MaxBytes" in one.headers)  # whatever of it was left
                self._keep(self._over(status))
        self._moved.set()
        if self._buffer:
            self._arrived.set()
            if not self._credit.asked:
                self._keep(self._pull())

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
        self._credit.taken(taken)
        await self._pull()
        return taken

    def ack(self, deliveries: Sequence[Delivery]) -> None:
        for handle in (delivery.handle for delivery in deliveries):
            if not isinstance(handle, BundleShare):
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
        handle = delivery.handle.reply if isinstance(delivery.handle, BundleShare) else delivery.handle
        self._unanswered.pop(handle, None)
        self._keep(self._nc.publish(handle, body))

    async def close(self) -> None:
        """What was taken and not acknowledged, and what was fetched ahead, goes to another consumer at once: without
        that it would when the wait for an acknowledgement is over."""
        for task in list(self._tasks):
            task.cancel()
        close, self._close = self._close, None
        try:
            await self._give_back(close)
        finally:
            seated, self._seated = self._seated, False
            if seated:
                self._budget.give_back(self._credit.share, seated=not self._lasting)

    async def _give_back(self, close: Close | None) -> None:
        if close is None or self._nc.is_closed:
            return
        with contextlib.suppress(nats.errors.Error, TimeoutError):  # the bus is away: then it waits that long
            await close()
            if self._lasting and self._nc.is_connected:
                await self._send_acks()
                await self._wire.reply(list(self._unanswered), b"-NAK")
                await self._nc.flush()


def _size(one: Arrived) -> int:
    """As the server counts it against what was asked for."""
    return len(one.subject) + len(one.reply) + len(one.headers) + len(one.data)
