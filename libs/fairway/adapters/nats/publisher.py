"""Publishing on NATS: pipelined, acknowledged by the stream, and read back where the stream says it has it already.

A publish counts only when the stream has acknowledged it (docs/decisions/0002).
"""

import asyncio
import contextlib
from collections.abc import Sequence

import msgspec
import nats.errors
import structlog
from msgspec import Struct, field
from nats.aio.client import Client

from fairway.adapters.nats.bundle import bundled
from fairway.adapters.nats.connection import Arrived, Bundle, Wire
from fairway.runtime.ports import Outgoing, Unreachable
from fairway.runtime.record.publishable import Unsaid, Unsayable, renamed, same, too_large, unsaid
from fairway.runtime.spoken_of import said_of

log = structlog.get_logger()
# One try of a publish. The usual four are within the duplicate windows of the streams; a report that is stored twice
# is known by its sequence.
_PUBLISH_WAIT_S = 5.0
# What a stream says of a message that it will never take: too large by its own limit, too many headers. Whatever else
# it says (it is full, it has no leader) may pass.
_NEVER = frozenset({10054, 10097})
_NOT_FOUND = 10037
# So often a message is said under another id, one after the other: whoever takes the second has to know all of it.
_MOST_NAMES = 8


class _Error(Struct):
    err_code: int = 0
    description: str = ""


class _Ack(Struct):
    stream: str = ""
    seq: int = 0
    duplicate: bool = False
    error: _Error | None = None


class StoredMessage(Struct):
    """A message as it stands in a stream; its headers are what anybody wrote."""

    subject: str = ""
    data: bytes = b""
    hdrs: bytes = b""


class _Answer(Struct):
    message: StoredMessage | None = None
    error: _Error | None = None


class Tried(Struct):
    """What is not known to be stored, what has to be said otherwise at once, what never will be stored, and the last
    thing that a stream complained of. `mute`: nobody tells what it has. `place`: the highest of what is stored."""

    left: list[Outgoing] = field(default_factory=list)
    again: list[Outgoing] = field(default_factory=list)
    never: list[Unsaid] = field(default_factory=list)
    cause: str = ""
    mute: bool = False
    place: int = 0


_ack = msgspec.json.Decoder(_Ack).decode
_answer = msgspec.json.Decoder(_Answer).decode


class Publisher:
    """One connection's. `cut` and `back` tell it that the connection is gone, and there again."""

    def __init__(self, client: Client, wire: Wire, fetches: asyncio.Semaphore) -> None:
        """`fetches` are what the connection may fetch by its number at once, to read back or for whomever."""
        self._nc = client
        self._wire = wire
        self._fetches = fetches
        self._inbox = client.new_inbox()
        self._next = 0
        self._waiting: dict[str, _Window] = {}
        self._there = asyncio.Event()
        self._there.set()

    async def open(self) -> None:
        await self._wire.listen(f"{self._inbox}.*", self._acked)

    def cut(self) -> None:
        """With it goes every answer to what was published: those tries are over."""
        self._there.clear()
        for window in set(self._waiting.values()):
            window.over()

    def back(self) -> None:
        self._there.set()

    async def publish(self, messages: Sequence[Outgoing], tries: int) -> int:
        most = self._nc.max_payload
        never = [one for one in (unsaid(message, most) for message in messages) if one]
        if never:
            refused = {id(one.message) for one in never}
            messages = [one for one in messages if id(one) not in refused]
        tried = Tried(bundled(messages, most))
        while tried.left and tries > 0:
            tried = await self._try(tried.left, tried.place)
            tries = tries - 1
            for _ in range(_MOST_NAMES):
                if not tried.again:
                    break
                more = await self._try(tried.again, tried.place)
                never += more.never
                cause = more.cause or tried.cause
                tried = Tried(tried.left + more.left, more.again, tried.never, cause, place=more.place)
            tried.left += tried.again
            never += tried.never
        if tried.left:
            first = tried.left[0].subject
            why = f": {tried.cause}" if tried.cause else ""
            raise Unreachable(f"{len(tried.left)} messages, first on {first}, were not stored{why}; trying again later")
        if never:
            raise Unsayable(never)
        return tried.place

    async def _try(self, messages: list[Outgoing], place: int) -> Tried:
        """Without a connection it waits for one and sends nothing: what nats-py kept until then would go out whatever
        has become true meanwhile."""
        if not self._nc.is_connected:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PUBLISH_WAIT_S):
                    await self._there.wait()
            return Tried(messages, place=place)
        window = _Window(len(messages), place)
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
        if len(window.good) == len(names):
            return Tried(place=window.place)
        return await self._judged({name: one for name, one in names.items() if name not in window.good}, window)

    def _acked(self, arrived: list[Arrived]) -> None:
        for one in arrived:
            window = self._waiting.pop(name := one.subject.decode("ascii", "replace"), None)
            if window is not None:
                window.acked(name, _read(one.data))

    async def _judged(self, names: dict[str, Outgoing], window: "_Window") -> Tried:
        """What becomes of the messages that were not simply stored."""
        tried = Tried(place=window.place)
        repeats = []
        for name, message in names.items():
            ack = window.odd.get(name)
            if ack is not None and ack.duplicate and ack.error is None:
                if not message.unguessable:
                    repeats.append((message, ack))
            elif ack is not None and ack.error is not None and ack.error.err_code in _NEVER:
                self._never(tried, message, ack.error.description)
            else:
                tried.left.append(message)
                tried.cause = ack.error.description if ack and ack.error else tried.cause
        await asyncio.gather(*(self._read_back(tried, message, ack) for message, ack in repeats))
        return tried

    def _never(self, tried: Tried, message: Outgoing, text: str) -> None:
        """Of a bundle that is too large each message may still be stored by itself."""
        if isinstance(message, Bundle):
            tried.again += message.messages
        else:
            tried.never.append(too_large(message, f"its stream does not take it: {text}"))

    async def _read_back(self, tried: Tried, message: Outgoing, ack: _Ack) -> None:
        """The stream has something under this id already. Mostly it is this very message, whose acknowledgement was
        lost; but whoever may publish there can choose any id, and who was told that this is stored would wait for
        ever: then it is said under another one."""
        try:
            async with self._fetches:
                if tried.mute:  # so many would each wait as long for nobody
                    tried.left.append(message)
                    return
                stored = await stored_at(self._nc, ack.stream, ack.seq)
        except (nats.errors.Error, TimeoutError, msgspec.DecodeError) as error:
            tried.mute = True
            tried.left.append(message)
            tried.cause = f"message {ack.seq} of {ack.stream} has its id and could not be read: {error}"
            return
        if stored is None or not same(message, stored.subject, stored.data):
            log.warning("another message has its id", **said_of(message), subject=message.subject, sequence=ack.seq)
            tried.again.append(renamed(message))
        else:
            tried.place = max(tried.place, ack.seq)


async def stored_at(client: Client, stream: str, sequence: int) -> StoredMessage | None:
    """What stands there, as the stream's leader says: a copy may not have it yet, and its headers are anybody's. None
    when nothing does, any more. Raises nats.errors.Error, TimeoutError or DecodeError when nobody says."""
    if not stream.isalnum():
        return None
    asked = b'{"seq":%d}' % sequence
    said = await client.request(f"$JS.API.STREAM.MSG.GET.{stream}", asked, timeout=_PUBLISH_WAIT_S)
    answer = _answer(said.data)
    if answer.error is not None and answer.error.err_code != _NOT_FOUND:
        raise nats.errors.Error(answer.error.description)
    return answer.message


def _read(data: bytes) -> _Ack | None:
    """What a stream answered; None for whatever else was said there."""
    if not data.startswith(b"{"):
        return None
    try:
        return _ack(data)
    except msgspec.DecodeError:
        return None


class _Window:
    """Counts the acknowledgements of a batch: the `good` ones, the highest `place` so far, what the `odd` ones said."""

    def __init__(self, count: int, place: int) -> None:
        self._left = count
        self.good: set[str] = set()
        self.odd: dict[str, _Ack] = {}
        self.place = place
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def acked(self, name: str, ack: _Ack | None) -> None:
        self._left -= 1
        if ack is not None and ack.error is None and not ack.duplicate:
            self.good.add(name)
            self.place = max(self.place, ack.seq)
        elif ack is not None:
            self.odd[name] = ack
        if self._left == 0:
            self.over()

    def over(self) -> None:
        """Nothing more will be acknowledged."""
        if not self.done.done():
            self.done.set_result(None)
