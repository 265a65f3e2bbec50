"""The bus on NATS JetStream over nats-py: pipelined publishes, own pull requests, batched acks.

Why not the library's own `fetch` and awaited publishes: at seven hops a job they cost five times as much
(docs/decisions/0002). A publish counts only when the stream has acknowledged it.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from copy import copy
from typing import Any

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import ConsumerConfig, ConsumerInfo, DeliverPolicy
from nats.js.errors import NotFoundError

from fairway.adapters.logins import LoginFile
from fairway.adapters.nats import provisioning
from fairway.adapters.nats.connection import leave, wire
from fairway.adapters.nats.consumer import NatsSource, Wanted
from fairway.adapters.nats.credit import Budget
from fairway.adapters.nats.headers import Guarded
from fairway.adapters.nats.history import HistoryQuery, told
from fairway.adapters.nats.publisher import Publisher
from fairway.adapters.nats.server_addresses import Complaints, addresses, inbox_of
from fairway.runtime.ports import Delivery, Outgoing, Source, Unreachable
from fairway.wire.subjects import STREAMS, Stream

_FETCH_WAIT_S = 5.0
# On the way at once: the server asks nobody how large an answer may be, so few of them. As large as a door takes one,
# with what base64 adds where it is read back, they are less than two of what Fairway's servers take (credit.py).
_FETCHES = 8


class NatsBus:
    """Open with `NatsBus.connect`. Everything stored goes to the streams of `wire.subjects`."""

    def __init__(self, client: Client, bulk: bool = True) -> None:
        self._nc = client
        self._wire = wire(client, bulk)
        self._js = client.jetstream()
        self._sources: list[NatsSource] = []
        self._budget = Budget(client.max_payload)
        self._fetches = asyncio.Semaphore(_FETCHES)
        self._publisher = Publisher(client, self._wire, self._fetches)
        self._past = self

    @classmethod
    async def connect(
        cls, url: str, name: str, bulk: bool = True, inbox: str = "", login: LoginFile | None = None
    ) -> "NatsBus":
        """Tries for ever: a service that starts before its bus waits for it. `url` is one address, or several with
        commas. `name` is seen in the server's list; without `bulk` every message goes through nats-py's public API.
        Answers come to subjects below `inbox`: one of its own, that of its user, keeps others from reading them. With
        a `login` user and password are those of its file, whatever the addresses say."""
        bus: NatsBus | None = None

        async def disconnected() -> None:
            if bus is not None:
                bus._publisher.cut()

        async def reconnected() -> None:
            if bus is not None:
                bus.pull_again()

        options: dict[str, Any] = {
            "name": name,
            "max_reconnect_attempts": -1,
            "reconnect_time_wait": 0.2,
            "connect_timeout": 2,
            "allow_reconnect": True,
            "disconnected_cb": disconnected,
            "reconnected_cb": reconnected,
            "error_cb": Complaints().hear,
            "pending_size": 16 * 2**20,
            "ping_interval": 10,
            "max_outstanding_pings": 2,
            "inbox_prefix": (inbox or inbox_of(url, login)).encode(),
        }
        if login is not None:
            options |= {"user": login.user, "password": login.password}
        client = Guarded()
        await client.connect(addresses(url), **options)
        bus = cls(client, bulk)
        await bus._publisher.open()
        return bus

    async def log_in_again(self) -> None:
        """With what the login says now."""
        await self._nc.force_reconnect()

    def with_past_of(self, readers: "NatsBus") -> "NatsBus":
        """This bus, with `history` and `fetch` over another connection: what callers may ask for, at any time and as
        often as they like, shares none with what services hear and say."""
        made = copy(self)
        made._past = readers
        return made

    @property
    def client(self) -> Client:
        """The connection, for the control plane that shares it."""
        return self._nc

    @property
    def connected(self) -> bool:
        return self._nc.is_connected

    async def provision(self, streams: Sequence[Stream] = STREAMS, replicas: int = 1) -> None:
        """Creates or updates the streams, and the durable consumers of the flow on them; safe to run at any time."""
        for stream in streams:
            await provisioning.make_stream(self._js, stream, replicas)

    async def missing(self, streams: Sequence[Stream]) -> list[str]:
        """The names of those that nobody has made."""
        return await provisioning.missing(self._js, streams)

    async def progress(self, at: tuple[str, str], subjects: Sequence[str], now: int) -> provisioning.ConsumerProgress:
        return await provisioning.progress(self._nc, at, subjects, now)

    def pull_again(self) -> None:
        """Pull requests do not survive a reconnect, nor does what was on its way; the subscriptions do."""
        self._publisher.back()
        for source in self._sources:
            source.renew()

    async def publish(self, messages: Sequence[Outgoing], tries: int = 4) -> int:
        return await self._publisher.publish(messages, tries)

    async def consume(self, stream: str, durable: str, subjects: Sequence[str]) -> Source:
        await provisioning.check(self._js, stream, durable, subjects)
        source = NatsSource(self._nc, self._wire, (stream, durable), self._budget)
        await source.open()
        self._sources.append(source)
        return source

    async def _consumer(self, stream: str, config: ConsumerConfig) -> ConsumerInfo:
        try:
            return await self._js.add_consumer(stream, config)
        except (nats.errors.Error, TimeoutError) as error:
            raise Unreachable(f"the bus gives no consumer on {stream}: {error}") from error

    async def fetch(self, stream: str, sequence: int) -> bytes | None:
        """Its headers are anybody's: nothing in them is looked at but the server's own word that it is not there."""
        try:
            asked = b'{"seq":%d}' % sequence
            async with self._past._fetches:
                found = await self._past._nc.request(f"$JS.API.DIRECT.GET.{stream}", asked, timeout=_FETCH_WAIT_S)
        except (nats.errors.Error, TimeoutError) as error:
            raise Unreachable(f"message {sequence} of {stream} could not be read: {error}") from error
        status = (found.headers or {}).get("Status", "") if not found.data else ""
        if status not in ("", "404"):
            raise Unreachable(f"message {sequence} of {stream} could not be read: the server says {status}")
        return None if status else found.data

    def history(
        self, stream: str, subjects: Sequence[str] = (), start: int = 1, live: bool = False, last: bool = False
    ) -> AsyncGenerator[Delivery, None]:
        return told(HistoryQuery(stream, subjects, start, live, last), self._past._pass, self._past._leave)

    def since(self, stream: str, subjects: Sequence[str], at: int) -> AsyncGenerator[Delivery, None]:
        """Stored messages of that time or later (ms since 1970), in order; ends with the newest stored one."""
        asked = HistoryQuery(stream, subjects, 1, live=False, last=False, since=at)
        return told(asked, self._past._pass, self._past._leave)

    async def _pass(self, stream: str, config: ConsumerConfig, wanted: Wanted | None) -> tuple[NatsSource, int]:
        share = await self._budget.seat()
        try:
            info = await self._consumer(stream, config)
        except BaseException:
            self._budget.give_back(share, seated=True)
            raise
        source = NatsSource(self._nc, self._wire, (stream, info.name), self._budget, share)
        pending = info.num_pending or 0
        self._sources.append(source)
        try:
            await source.open(bool(pending) and config.deliver_policy is DeliverPolicy.LAST_PER_SUBJECT, wanted)
        except BaseException:
            self._sources.remove(source)
            raise
        return source, pending

    async def _leave(self, source: NatsSource) -> None:
        self._sources.remove(source)
        await source.close()

    async def erase(self, stream: str, sequence: int) -> None:
        """The server writes over the bytes, unless it is asked not to."""
        try:
            await self._js.delete_msg(stream, sequence)
        except (nats.errors.Error, TimeoutError) as error:
            if await self.fetch(stream, sequence) is not None:
                raise Unreachable(f"message {sequence} of {stream} was not deleted: {error}") from error

    async def handled(self, stream: str, durable: str) -> int:
        try:
            floor = (await self._js.consumer_info(stream, durable)).ack_floor
        except NotFoundError:
            return 0
        except (nats.errors.Error, TimeoutError) as error:
            raise Unreachable(f"the bus does not tell of consumer {durable} of {stream}: {error}") from error
        return floor.stream_seq if floor is not None else 0

    async def tell(self, subject: str, data: bytes = b"") -> None:
        await self._nc.publish(subject, data)

    async def ask(self, subject: str, data: bytes = b"", timeout: float = 2.0) -> bytes:
        try:
            return (await self._nc.request(subject, data, timeout=timeout)).data
        except (nats.errors.Error, TimeoutError) as error:
            raise Unreachable(f"nobody answered {subject} within {timeout} s") from error

    async def answer(self, subject: str, reply: Callable[[bytes], Awaitable[bytes | None]]) -> None:
        async def heard(msg: Msg) -> None:
            answer = await reply(msg.data)
            if answer is not None and msg.reply:
                await msg.respond(answer)

        await self._nc.subscribe(subject, cb=heard)

    async def close(self) -> None:
        for source in list(self._sources):
            await source.close()
        await leave(self._nc)
