"""Where a service's messages come from: its consumers, its clock, and what happens beside it."""

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from fairway.domain.decision import Decision, Heard, Reminder
from fairway.domain.events import message_id
from fairway.runtime.ports import Delivery, Source, World
from fairway.runtime.record.senders import wrong_place
from fairway.runtime.retry import until_reached
from fairway.runtime.service import AnyService, Consumer
from fairway.wire.reasons import Refused

# While the store or the bus is away local messages wait here, and no more than so many are put in.
MOST_LOCAL = 10_000


class Item(Struct):
    """One message with the way back to where it came from. `known` is what is known of it by now, once it was heard. A
    local one counts until the service begins anew, and is of that `beginning`."""

    delivery: Delivery
    consumer: Consumer[Any] | None = None
    source: Source | None = None
    local: object = None
    inbox: "Inbox | None" = None
    known: Heard[Any] | None = None
    beginning: int = 0

    @property
    def durable(self) -> bool:
        return self.source is not None

    def heard(self) -> Heard[Any]:
        """Decodes the message; raises what the decoder raises, and Refused when it was said in a wrong place."""
        if self.known is not None:
            return self.known
        one = self.delivery
        if one.fault:
            raise ValueError(one.fault)
        message = self.consumer.decoder.decode(one.data) if self.consumer else self.local
        if self.consumer and self.consumer.subject and (place := self.consumer.subject(message)) != one.subject:
            raise Refused(wrong_place(one.subject, place))
        return Heard(
            one.id,
            message,
            one.sequence,
            one.delivered,
            size=len(one.data),
            stored_at=one.stored_at,
            subject=one.subject,
            behind=one.behind,
        )

    def later(self, delay_ms: int) -> None:
        if self.source is not None:
            self.source.later(self.delivery, delay_ms)
        else:
            assert self.inbox is not None, "what came from no source was put into an inbox"
            self.inbox.put_later(self.local, delay_ms, self.delivery.id)


class LocalLine:
    """Local messages, and what is to be handled once more, in the order in which they were put."""

    def __init__(self) -> None:
        self._items: deque[Item] = deque()
        self._more = asyncio.Event()
        self._less = asyncio.Event()

    def __len__(self) -> int:
        return len(self._items)

    def put(self, item: Item) -> None:
        self._items.append(item)
        self._more.set()

    def begin_anew(self, kept: Iterable[Item]) -> None:
        """With those that are durable, and what was `kept` behind them."""
        self._items = deque((*(item for item in self._items if item.durable), *kept))
        self._more.set()
        self._less.set()

    def clear(self) -> None:
        self._items.clear()
        self._less.set()

    async def room(self) -> None:
        while len(self._items) >= MOST_LOCAL:
            self._less.clear()
            await self._less.wait()

    async def take(self, most: int) -> list[Item]:
        """Waits until there are any."""
        while not self._items:
            self._more.clear()
            await self._more.wait()
        self._less.set()
        return [self._items.popleft() for _ in range(min(most, len(self._items)))]


class Inbox:
    """Merges all sources into one line of batches; at most two wait, the rest stays with the bus."""

    def __init__(self, service: AnyService, world: World) -> None:
        self._service = service
        self._world = world
        self._line: asyncio.Queue[list[Item]] = asyncio.Queue(maxsize=2)
        self._local = LocalLine()
        self._later: set[asyncio.Task[None]] = set()
        self._sources: list[Source] = []
        self._kept: dict[str, Item] = {}
        self._count = 0
        self._beginning = 0

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for consumer in self._service.consumers:
                group.create_task(self._listen(consumer))
            for message, period_ms in self._service.ticks:
                group.create_task(self._tick(message, period_ms))
            group.create_task(self._drain())

    async def _listen(self, consumer: Consumer[Any]) -> None:
        bus = self._world.bus
        listen = partial(bus.consume, consumer.stream, consumer.durable, consumer.subjects)
        source = await until_reached(self._service.name, self._world.clock, listen)
        self._sources.append(source)
        while True:
            deliveries = await source.batch(self._service.most)
            await self._line.put([Item(delivery, consumer, source) for delivery in deliveries])

    async def give_back(self) -> None:
        """Once `run` is cancelled: all that is in hand goes to whoever listens. Local messages are dropped."""
        self._line = asyncio.Queue(maxsize=2)
        self._local.clear()
        self._kept.clear()
        sources = self._sources
        self._sources = []
        for source in sources:
            await source.close()

    async def _tick(self, message: object, period_ms: int) -> None:
        while True:
            await self._world.clock.sleep(period_ms / 1000 * self._world.pace)
            if len(self._local) < MOST_LOCAL:  # else nobody is heard now, and the next tick says the same
                self.put(message() if callable(message) else message)

    def put(self, message: object, name: str = "") -> None:
        """A local message. It is not stored: whoever puts it sees to it that it comes again after a restart."""
        self._count += 1
        name = name or message_id(self._world.owner, self._service.name, self._count)
        self.put_back(Item(Delivery(name, "", b""), local=message, inbox=self, beginning=self._beginning))

    async def room(self) -> None:
        """Returns when not too much waits, for who can put in any number of messages, and may listen later."""
        await self._local.room()

    def put_back(self, item: Item) -> None:
        """To be handled once more, with the next batch."""
        self._local.put(item)

    def put_later(self, message: object, delay_ms: int, name: str) -> None:
        async def wait() -> None:
            await self._world.clock.sleep(delay_ms / 1000)
            self.put(message, name)

        task = asyncio.ensure_future(wait())
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    def settled(self, item: Item, made: Decision) -> list[Item]:
        """What is to be acknowledged after a decision on an item: itself, unless it is kept or heard again, and what
        was kept until now."""
        for one in made.reminders:
            self._remind(one)
        done = [self._kept.pop(name) for name in made.done if name in self._kept]
        if made.again_in is not None:
            item.later(made.again_in)
        elif made.kept and item.durable:
            self._kept[item.delivery.id] = item
        else:
            done.append(item)
        return done

    def _remind(self, one: Reminder) -> None:
        if one.after:
            self._count += 1
            self.put_later(one.message, one.after, message_id(self._world.owner, self._service.name, self._count))
        else:
            self.put(one.message)

    def begin_anew(self) -> None:
        """What the service was told by itself, or by what runs beside it, is not so any more, wherever it is by now.
        What was kept is heard again."""
        self._beginning += 1
        for task in self._later:
            task.cancel()
        self._local.begin_anew(self._kept.values())
        self._kept.clear()

    def outdated(self, item: Item) -> bool:
        """Whether it is a local message from before the service began anew."""
        return not item.durable and item.beginning != self._beginning

    async def pause(self, seconds: float) -> None:
        """For what runs beside the service: waits by the service's clock."""
        await self._world.clock.sleep(seconds * self._world.pace)

    async def _drain(self) -> None:
        while True:
            await self._line.put(await self._local.take(self._service.most))

    async def next(self) -> list[Item]:
        """All that waits, as one batch if it is not too large: a round costs as much for two messages as for one. There
        may be nothing that counts."""
        batch = await self._line.get()
        while len(batch) < self._service.most and not self._line.empty():
            batch += self._line.get_nowait()
        return [one for one in batch if not self.outdated(one)]

    def ack(self, items: Sequence[Item]) -> None:
        by_source: dict[int, tuple[Source, list[Delivery]]] = {}
        for item in items:
            if item.source is not None:
                by_source.setdefault(id(item.source), (item.source, []))[1].append(item.delivery)
        for source, deliveries in by_source.values():
            source.ack(deliveries)
