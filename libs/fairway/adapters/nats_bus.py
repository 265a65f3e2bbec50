"""The bus on NATS JetStream over nats-py: pipelined publishes, own pull requests, batched acks.

Why not the library's own `fetch` and awaited publishes: at seven hops a job they cost five times as much
(docs/decisions/0002). A publish counts only when the stream has acknowledged it.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import msgspec
import nats
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import ConsumerConfig, ConsumerInfo, DeliverPolicy, StreamConfig
from nats.js.errors import APIError, NotFoundError

from fairway.adapters.nats_bundle import bundled
from fairway.adapters.nats_history import Asked, told
from fairway.adapters.nats_source import NatsSource
from fairway.adapters.nats_wire import Arrived, wire
from fairway.runtime.ports import Delivery, Outgoing, Source, Unreachable
from fairway.wire.subjects import STREAMS, Stream

# One try of a publish. The usual four are within the duplicate windows of the streams; a report that is stored twice
# is known by its sequence.
_PUBLISH_WAIT_S = 5.0
# What is put off counts as not answered, and when so many are, a consumer gives nothing more to anybody. It costs the
# server some hundred bytes for each; what is in hand is bounded by how much is asked for.
_MOST_UNANSWERED = 1_000_000


def addresses(url: str) -> list[str]:
    """Of the servers of a cluster, any of which may be down when a client comes."""
    return [one.strip() for one in url.split(",") if one.strip()]


class _Ack(msgspec.Struct):
    seq: int = 0
    error: dict[str, Any] | None = None


class NatsBus:
    """Open with `NatsBus.connect`. Everything stored goes to the streams of `wire.subjects`."""

    def __init__(self, client: Client, bulk: bool = True) -> None:
        self._nc = client
        self._wire = wire(client, bulk)
        self._js = client.jetstream()
        self._inbox = client.new_inbox()
        self._next = 0
        self._waiting: dict[str, _Window] = {}
        self._there = asyncio.Event()
        self._there.set()
        self._sources: list[NatsSource] = []
        self._decode = msgspec.json.Decoder(_Ack).decode

    @classmethod
    async def connect(cls, url: str, name: str, bulk: bool = True, inbox: str = "_INBOX") -> "NatsBus":
        """Tries for ever: a service that starts before its bus waits for it. `url` is one address, or several with
        commas. `name` is seen in the server's list; without `bulk` every message goes through nats-py's public API.
        Answers come to subjects below `inbox`: one of its own keeps others from reading them."""
        bus: NatsBus | None = None

        async def disconnected() -> None:
            if bus is not None:
                bus.cut()

        async def reconnected() -> None:
            if bus is not None:
                bus.pull_again()

        client = await nats.connect(
            addresses(url), name=name, max_reconnect_attempts=-1, reconnect_time_wait=0.2, connect_timeout=2,
            allow_reconnect=True, disconnected_cb=disconnected, reconnected_cb=reconnected, error_cb=_quiet,
            pending_size=16 * 2**20, ping_interval=10, max_outstanding_pings=2, inbox_prefix=inbox.encode(),
        )  # fmt: skip
        bus = cls(client, bulk)
        await bus._wire.listen(f"{bus._inbox}.*", bus._acked)
        return bus

    @property
    def client(self) -> Client:
        """The connection, for the control plane that shares it."""
        return self._nc

    @property
    def connected(self) -> bool:
        return self._nc.is_connected

    async def provision(self, streams: Sequence[Stream] = STREAMS, replicas: int = 1) -> None:
        """Creates or updates the streams; safe to run from every process at once."""
        for stream in streams:
            config = StreamConfig(
                name=stream.name, subjects=list(stream.subjects), max_age=stream.max_age or None, allow_direct=True,
                max_msgs_per_subject=stream.per_subject or -1, duplicate_window=stream.duplicate_window,
                num_replicas=replicas, max_bytes=stream.max_bytes or None,
            )  # fmt: skip
            try:
                await self._js.add_stream(config)
            except APIError as error:
                if error.err_code != 10058:  # the stream exists with another configuration
                    raise
                await self._js.update_stream(config)

    def cut(self) -> None:
        """The connection is gone, and with it every answer to what was published: those tries are over."""
        self._there.clear()
        for window in set(self._waiting.values()):
            window.over()

    def pull_again(self) -> None:
        """Pull requests do not survive a reconnect, nor does what was on its way; the subscriptions do."""
        self._there.set()
        for source in self._sources:
            source.renew()

    def _acked(self, arrived: list[Arrived]) -> None:
        for one in arrived:
            window = self._waiting.pop(name := one.subject.decode(), None)
            if window is not None:
                window.acked(name, one.data.startswith(b"{") and self._decode(one.data).error is None)

    async def publish(self, messages: Sequence[Outgoing], tries: int = 4) -> None:
        left = bundled(messages)
        for _ in range(tries):
            if not left:
                return
            left = await self._try_publish(left)
        if left:
            raise Unreachable(f"{len(left)} messages, first on {left[0].subject}, were not stored; trying again later")

    async def _try_publish(self, messages: list[Outgoing]) -> list[Outgoing]:
        """What is not known to be stored. Without a connection it waits for one and sends nothing: what nats-py kept
        until then would go out whatever has become true meanwhile."""
        if not self._nc.is_connected:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PUBLISH_WAIT_S):
                    await self._there.wait()
            return messages
        window = _Window(len(messages))
        names: dict[str, Outgoing] = {}
        for message in messages:
            self._next += 1
            names[f"{self._inbox}.{self._next}"] = message
        self._waiting.update(dict.fromkeys(names, window))
        with contextlib.suppress(TimeoutError, nats.errors.Error):  # it shows in what is not acknowledged
            await self._wire.send(names.items())
            async with asyncio.timeout(_PUBLISH_WAIT_S):
                await window.done
        for name in names:
            self._waiting.pop(name, None)
        return [message for name, message in names.items() if name not in window.good]

    async def consume(self, stream: str, durable: str, subjects: Sequence[str], wait_s: float = 30.0) -> Source:
        config = ConsumerConfig(
            durable_name=durable, filter_subjects=list(subjects), ack_wait=wait_s, max_ack_pending=_MOST_UNANSWERED,
            deliver_policy=DeliverPolicy.ALL, max_deliver=-1,
        )  # fmt: skip
        await self._consumer(stream, config)
        source = NatsSource(self._nc, self._wire, stream, durable)
        await source.open()
        self._sources.append(source)
        return source

    async def _consumer(self, stream: str, config: ConsumerConfig) -> ConsumerInfo:
        try:
            return await self._js.add_consumer(stream, config)
        except (nats.errors.Error, TimeoutError) as error:
            raise Unreachable(f"the bus gives no consumer on {stream}: {error}") from error

    async def fetch(self, stream: str, sequence: int) -> bytes | None:
        try:
            return (await self._js.get_msg(stream, seq=sequence, direct=True)).data
        except NotFoundError:
            return None
        except (nats.errors.Error, TimeoutError) as error:
            raise Unreachable(f"message {sequence} of {stream} could not be read: {error}") from error

    def history(
        self, stream: str, subjects: Sequence[str] = (), start: int = 1, live: bool = False, last: bool = False
    ) -> AsyncIterator[Delivery]:
        return told(Asked(stream, subjects, start, live, last), self._pass, self._leave)

    async def _pass(self, stream: str, config: ConsumerConfig) -> tuple[NatsSource, int]:
        info = await self._consumer(stream, config)
        source = NatsSource(self._nc, self._wire, stream, info.name, lasting=False)
        await source.open()
        self._sources.append(source)
        return source, info.num_pending or 0

    async def _leave(self, source: NatsSource) -> None:
        self._sources.remove(source)
        await source.close()

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
        await self._nc.close()


class _Window:
    """Counts the acknowledgements of one batch of publishes."""

    def __init__(self, count: int) -> None:
        self._left = count
        self.good: set[str] = set()
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def acked(self, name: str, good: bool) -> None:
        self._left -= 1
        if good:
            self.good.add(name)
        if self._left == 0:
            self.over()

    def over(self) -> None:
        """Nothing more will be acknowledged."""
        if not self.done.done():
            self.done.set_result(None)


async def _quiet(_: Exception) -> None:
    """Connection errors show in `connected` and in the time-outs of calls; the library's default prints each."""
