"""NATS messages in bulk over nats-py's connection: one write for a batch of publishes, one call for a read of many.

nats-py keeps the connection, its login, TLS, reconnects and everything of low rate. What it does for each message (a
parser by regular expressions, a dict of headers, a queue, a task) costs more than the message: measured over seven
hops, docs/performance.md. Two of its internals are relied on, its parser's place and its output buffer; where they are
not found, every message goes through the public API instead. How a subscription is ended at once is a third.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import NamedTuple, Protocol

import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from fairway.runtime.ports import Outgoing

log = structlog.get_logger()
_INTERNALS = ("_ps", "_pending", "_pending_data_size", "_send_command", "_flush_pending", "_process_msg")
_STATUS = re.compile(rb"NATS/1\.0 +(\d{3})")


class Bundle(Outgoing, frozen=True):
    """Messages that travel as one (bundle.py); `parts` are their ids, in order, and `messages` they themselves."""

    parts: tuple[str, ...] = ()
    messages: tuple[Outgoing, ...] = ()


class Arrived(NamedTuple):
    """A message as it came; `headers` is the whole block, empty without any."""

    subject: bytes
    reply: bytes
    headers: bytes
    data: bytes

    @property
    def status(self) -> str:
        """The code of a status message, such as 408; empty for any other."""
        found = _STATUS.match(self.headers) if self.headers else None
        return found[1].decode() if found else ""


Hear = Callable[[list[Arrived]], None]
Close = Callable[[], Awaitable[None]]


class Wire(Protocol):
    """`listen` calls back with all messages of one read, and gives what ends it, after all that was on its way; `send`
    writes messages with a reply subject each; `reply` the same short body to many subjects. Nothing is acknowledged."""

    async def listen(self, subject: str, hear: Hear) -> Close: ...
    async def send(self, messages: Iterable[tuple[str, Outgoing]]) -> None: ...
    async def reply(self, subjects: Sequence[str], body: bytes) -> None: ...


def wire(client: Client, bulk: bool = True) -> Wire:
    """The fast one if this nats-py has what it needs."""
    return BulkWire(client) if bulk and all(hasattr(client, name) for name in _INTERNALS) else PlainWire(client)


async def leave(client: Client) -> None:
    """Closes it, also while the server is away: what is still to be said nats-py would write to the connection that is
    lost, which raises. And where it was about to connect again, it cancels the future for which it then waits itself,
    that of the closed connection: that is nobody's wish to end this task."""
    if not client.is_connected:
        client._pending = []
        client._pending_data_size = 0
    try:
        with suppress(OSError):  # it is lost in this moment
            await client.close()
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise


class PlainWire:
    """By nats-py's public API, message by message."""

    def __init__(self, client: Client) -> None:
        self._nc = client

    async def listen(self, subject: str, hear: Hear) -> Close:
        async def received(msg: Msg) -> None:
            pairs = dict(msg.headers or {})
            first = f"NATS/1.0 {pairs.pop('Status', '')}".rstrip()
            block = "".join((first, *(f"\r\n{name}: {value}" for name, value in pairs.items()), "\r\n\r\n"))
            hear([Arrived(msg.subject.encode(), msg.reply.encode(), block.encode() if msg.headers else b"", msg.data)])

        subscription = await self._nc.subscribe(subject, cb=received, pending_msgs_limit=0, pending_bytes_limit=0)
        return partial(_leave, self._nc, subscription)

    async def send(self, messages: Iterable[tuple[str, Outgoing]]) -> None:
        for reply, one in messages:
            await self._nc.publish(one.subject, one.data, reply=reply, headers=headers_of(one))

    async def reply(self, subjects: Sequence[str], body: bytes) -> None:
        for subject in subjects:
            await self._nc.publish(subject, body)


def headers_of(one: Outgoing) -> dict[str, str]:
    """CloudEvents 1.0 in binary mode, and Msg-Id for the stream's own deduplication."""
    parts = {"Fairway-Bundle": " ".join(one.parts)} if isinstance(one, Bundle) else {}
    event = {"ce-specversion": "1.0", "ce-type": one.kind or "fairway", "ce-source": one.source or "/fairway"}
    return {"Nats-Msg-Id": one.id, "ce-id": one.id, **event, **parts}


class BulkWire:
    """By the same bytes, written and read many at a time."""

    def __init__(self, client: Client) -> None:
        self._nc = client
        self._parser = BulkParser(client, client._ps)
        client._ps = self._parser  # type: ignore[assignment]  # it is asked to parse and to reset, no more

    async def listen(self, subject: str, hear: Hear) -> Close:
        async def never(_: Msg) -> None:
            """The parser hands the messages over before they come this far."""

        subscription = await self._nc.subscribe(subject, cb=never, pending_msgs_limit=0, pending_bytes_limit=0)
        sid = b"%d" % subscription._id
        self._parser.hearers[sid] = hear

        async def close() -> None:
            try:
                await _leave(self._nc, subscription)
            finally:
                self._parser.hearers.pop(sid, None)

        return close

    async def send(self, messages: Iterable[tuple[str, Outgoing]]) -> None:
        await self._write([part for reply, one in messages for part in self._published(reply, one)])

    def _published(self, reply: str, one: Outgoing) -> tuple[bytes, bytes, bytes]:
        """As `headers_of`. Who publishes has seen to it that all can be written so (runtime.record.publishable)."""
        parts = f"Fairway-Bundle: {' '.join(one.parts)}\r\n" if isinstance(one, Bundle) else ""
        rest = _event(one.kind, one.source)
        head = f"NATS/1.0\r\nNats-Msg-Id: {one.id}\r\nce-id: {one.id}\r\nce-specversion: 1.0\r\n{parts}{rest}"
        sizes = f"{len(head)} {len(head) + len(one.data)}"
        return f"HPUB {one.subject} {reply} {sizes}\r\n{head}".encode("ascii"), one.data, b"\r\n"

    async def reply(self, subjects: Sequence[str], body: bytes) -> None:
        tail = b" %d\r\n%b\r\n" % (len(body), body)
        await self._write([part for subject in subjects for part in (b"PUB ", subject.encode(), tail)])

    async def _write(self, parts: list[bytes]) -> None:
        if self._nc.is_closed:
            raise nats.errors.ConnectionClosedError
        blob = b"".join(parts)
        if not self._nc.is_connected and self._nc._pending_data_size + len(blob) > self._nc._max_pending_size:
            raise nats.errors.OutboundBufferLimitError
        await self._nc._send_command(blob)
        await self._nc._flush_pending()


async def _leave(client: Client, subscription: Subscription) -> None:
    """Asks for no more, and waits for what was sent before that was heard."""
    leave = subscription.drain if client.is_connected else subscription.unsubscribe
    try:
        with suppress(nats.errors.Error, TimeoutError):  # the connection went, and with it the subscription
            await leave()  # type: ignore[no-untyped-call]  # untyped in nats-py
    finally:
        # A drain that is given up, or that nobody answers, keeps its task and is subscribed again at a reconnect.
        subscription._stop_processing()
        client._remove_sub(subscription._id)


@lru_cache(1024)
def _event(kind: str, source: str) -> str:
    return f"ce-type: {kind or 'fairway'}\r\nce-source: {source or '/fairway'}\r\n\r\n"


class Stock(Protocol):
    """nats-py's own parser, as far as it is used here."""

    def reset(self) -> None: ...
    async def parse(self, data: bytes = b"") -> None: ...


class BulkParser:
    """In the place of nats-py's parser: messages of heard subscriptions are handed over in lists, all else is given to
    nats-py line by line or message by message."""

    def __init__(self, client: Client, stock: Stock) -> None:
        self._nc = client
        self._stock = stock
        self.hearers: dict[bytes, Hear] = {}
        self.reset()

    def reset(self) -> None:
        """A new connection: what was half read is void."""
        self._parts: list[bytes] = []
        self._missing = 0
        self._stock.reset()

    async def parse(self, data: bytes = b"") -> None:
        self._parts.append(data)
        self._missing -= len(data)
        if self._missing > 0:
            return
        buffer = b"".join(self._parts)
        heard: dict[bytes, list[Arrived]] = {}
        at = await self._messages(buffer, heard)
        self._parts = [buffer[at:]] if at < len(buffer) else []
        for sid, arrived in heard.items():
            try:
                self.hearers[sid](arrived)
            except Exception as error:  # what one hearer cannot take is not the connection's fault
                log.error("messages not taken", count=len(arrived), error=repr(error))

    async def _messages(self, buffer: bytes, heard: dict[bytes, list[Arrived]]) -> int:
        """Reads whole messages and lines; returns where the first incomplete one begins."""
        at = 0
        end = len(buffer)
        while (line := buffer.find(b"\r\n", at)) >= 0:
            kind = buffer[at]
            if kind not in b"MH":
                await self._stock.parse(buffer[at : line + 2])
                at = line + 2
                continue
            words = buffer[at:line].split()
            start = line + 2
            size = int(words[-1])
            stop = start + size
            if stop + 2 > end:
                self._missing = stop + 2 - end
                break
            body = start + int(words[-2]) if kind == b"H"[0] else start
            reply = words[3] if len(words) == (6 if kind == b"H"[0] else 5) else b""
            one = Arrived(words[1], reply, buffer[start:body], buffer[body:stop])
            if words[2] in self.hearers:
                heard.setdefault(words[2], []).append(one)
            else:
                await self._nc._process_msg(int(words[2]), one.subject, reply, one.data, one.headers)
            at = stop + 2
        return at
