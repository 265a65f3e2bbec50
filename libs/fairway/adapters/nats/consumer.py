"""A JetStream consumer read by own pull requests, several messages in flight: a durable one, acknowledged in bulk, or
one that passes, of which nothing is acknowledged."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import nats.errors
from msgspec import Struct
from nats.aio.client import Client

from fairway.adapters.nats.answers import Answers
from fairway.adapters.nats.bundle import StreamPlace, delivered, passed_over, place_of
from fairway.adapters.nats.connection import Arrived, Close, Wire
from fairway.adapters.nats.credit import HEARTBEAT_S, Budget, Credit
from fairway.adapters.nats.pull_requests import PullRequests
from fairway.runtime.ports import Delivery, Unreachable

# Whether somebody wants what is said on a subject.
Wanted = Callable[[bytes], bool]


class Gap(Exception):
    """Messages between the last one that was given and the next did not arrive, and will not: start over behind it."""


class _Passing(Struct):
    """Of a consumer that passes: how far its count has come, with the last message that arrived. What did not arrive
    (`gap`), or that it is gone (`lost`), ends it. Whose subject is not `wanted` is passed over, if it says that."""

    stream: str
    wanted: Wanted | None = None
    turn: int = 0
    gap: str = ""
    lost: bool = False

    def passes_over(self, subject: bytes) -> bool:
        return self.wanted is not None and not self.wanted(subject)

    def check(self) -> None:
        if self.gap:
            raise Gap(self.gap)
        if self.lost:
            raise Unreachable(f"the consumer on {self.stream} is gone; start over")


class _Seat(Struct):
    """At the budget of the connection, left once. While it is `asking` for a message of any size, it asks for none."""

    budget: Budget
    asking: bool = False
    taken: bool = True

    def leave(self, share: int, lasting: bool) -> None:
        if self.taken:
            self.taken = False
            self.budget.give_back(share, seated=not lasting)


class NatsSource:
    """Implements `ports.Source`. A status message or silence of two heartbeats makes it ask anew. Whatever it has when
    it is closed is given back. One that passes ends with a Gap where its consumer's count does not go on. It
    asks for no more bytes than `budget` gives it."""

    def __init__(self, client: Client, wire: Wire, at: tuple[str, str], budget: Budget, share: int = 0) -> None:
        """Of the consumer `at` stream and name. With a `share` of a seat at the budget it is one that passes."""
        self.stream = at[0]
        self._passing = _Passing(at[0]) if share else None
        self._seat = _Seat(budget)
        self._credit = Credit(share or budget.take())
        self._requests = PullRequests(client, wire, at)
        self._answers = Answers(client, wire)
        self._buffer: deque[Delivery] = deque()
        self._arrived = asyncio.Event()
        self._moved = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, singly: bool = False, wanted: Wanted | None = None) -> None:
        """It is closed again when this raises. One that passes can leave all but `wanted` subjects out: of those only
        the places are told."""
        self._credit.singly = singly
        if self._passing is not None:
            self._passing.wanted = wanted
        try:
            await self._requests.open(self._received)
            self._keep(self._watch())
            await self._pull()
        except BaseException:
            await self.close()
            raise

    def renew(self) -> None:
        """Forget what was asked for, and ask again. What was on its way comes again to a durable consumer only."""
        if self._passing is not None:
            self._missed(self._passing, "the connection was lost")
            return
        if not self._requests.is_open:
            return  # of one that was closed nobody takes what comes
        self._ended()
        self._keep(self._pull())

    def _missed(self, passing: _Passing, what: str) -> None:
        """Nothing that arrives from now on is taken: it comes once more when it is read again from the gap."""
        passing.gap = passing.gap or what
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
        if not self._credit.wants or not self._requests.connected or self._seat.asking:
            return
        if self._passing is not None and self._passing.gap:
            return
        if self._credit.large or self._credit.singly:
            self._seat.asking = True  # here: whoever pulls before that task runs would start another one
            self._keep(self._pull_large())
            return
        await self._requests.ask(self._credit.request())

    async def _pull_large(self) -> None:
        """One message of any size; of a connection's readers one at a time, until it has come."""
        try:
            async with self._seat.budget.one_large:
                await self._requests.ask(self._credit.request_large(self._seat.budget.largest))
                while self._credit.asked:
                    self._moved.clear()
                    await self._moved.wait()
        finally:
            self._seat.asking = False
        await self._pull()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            if self._requests.silent:
                self._ended()
                await self._pull()

    def _received(self, arrived: list[Arrived]) -> None:
        self._requests.answered()
        for one in arrived:
            if one.reply.startswith(b"$JS.ACK"):
                if (place := place_of(one.reply)) is None:
                    continue  # no stream's: whoever knows this inbox can write to it
                if not self._next_is(one, place):
                    return
                skip = self._passing is not None and self._passing.passes_over(one.subject)
                came = passed_over(place) if skip else delivered(one, place)
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

    def _next_is(self, one: Arrived, place: StreamPlace) -> bool:
        """Whether this message may be taken. A durable consumer's needs an answer; any other's follows the last."""
        passing = self._passing
        if passing is None:
            self._answers.due[one.reply.decode()] = None
            return True
        if not passing.gap and place.turn != passing.turn + 1:
            self._missed(passing, f"message {place.turn} of the consumer came after {passing.turn}")
        passing.turn += 1
        return not passing.gap

    async def _over(self, status: str) -> None:
        """404, 408, 409: ask again. 503: nobody serves the consumer; a passing one is gone for good."""
        if status != "503":
            await self._pull()
        elif self._passing is None:
            self._keep(self._pull_soon())
        else:
            self._passing.lost = True
            self._arrived.set()

    async def _pull_soon(self) -> None:
        await asyncio.sleep(0.25)
        await self._pull()

    async def batch(self, most: int) -> list[Delivery]:
        while not self._buffer:
            if self._passing is not None:
                self._passing.check()
            self._arrived.clear()
            await self._pull()
            await self._arrived.wait()
        taken = [self._buffer.popleft() for _ in range(min(most, len(self._buffer)))]
        self._credit.taken(taken)
        await self._pull()
        return taken

    def ack(self, deliveries: Sequence[Delivery]) -> None:
        if self._answers.ack(deliveries):
            self._keep(self._answers.send())

    def later(self, delivery: Delivery, delay_ms: int) -> None:
        self._keep(self._answers.later(delivery, delay_ms))

    async def close(self) -> None:
        """What was taken and not acknowledged, and what was fetched ahead, goes to another consumer at once: without
        that it would when the wait for an acknowledgement is over."""
        for task in list(self._tasks):
            task.cancel()
        stop = self._requests.closed()
        try:
            with contextlib.suppress(nats.errors.Error, TimeoutError):  # the bus is away: then it waits that long
                if stop is not None:
                    await self._leave(stop)
        finally:
            self._seat.leave(self._credit.share, lasting=self._passing is None)

    async def _leave(self, stop: Close) -> None:
        await stop()
        if self._passing is None:
            await self._answers.give_back()


def _size(one: Arrived) -> int:
    """As the server counts it against what was asked for."""
    return len(one.subject) + len(one.reply) + len(one.headers) + len(one.data)
