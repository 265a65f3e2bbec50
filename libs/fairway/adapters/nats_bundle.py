"""Bundles: messages of one subject that are said together travel, are stored and are acknowledged as one.

The bus costs by the message, not by the byte: seven hops of single messages were a third of what a job cost in all
(docs/performance.md). A bundle is a JSON array of what the messages would have been; the header `Fairway-Bundle` has
their ids. With one message there is nothing to bundle, so a quiet fleet sees none. Pure.
"""

from collections.abc import Sequence
from hashlib import blake2b

import msgspec
from msgspec import Struct

from fairway.adapters.nats_wire import Arrived, Bundle
from fairway.runtime.ports import Delivery, Outgoing

# More gain little, and all of a bundle comes again when one of it is put off.
_MOST = 64
_MOST_BYTES = 256 * 1024
_split = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Share(Struct):
    """What the deliveries of one bundle have in common: how many of them are not acknowledged yet."""

    reply: str
    left: int


class _Open(Struct):
    """Messages that will be one. `at` is its place among all."""

    at: int
    messages: list[Outgoing]
    size: int = 0


def bundled(messages: Sequence[Outgoing]) -> list[Outgoing]:
    """The same messages, those of one subject and kind together. Messages with the same `order` stay in their order;
    one without any stays alone."""
    if len(messages) < 2:
        return list(messages)
    groups: list[_Open] = []
    last: dict[str, int] = {}
    open_: dict[tuple[str, str], _Open] = {}
    for one in messages:
        group = open_.get((one.subject, one.kind)) if one.order else None
        if group is None or group.at < last.get(one.order, 0) or not _takes(group, one):
            group = _Open(len(groups), [])
            groups.append(group)
            if one.order:
                open_[one.subject, one.kind] = group
        group.messages.append(one)
        group.size += len(one.data)
        if one.order:
            last[one.order] = group.at
    return [_joined(group.messages) for group in groups]


def _takes(group: _Open, one: Outgoing) -> bool:
    return len(group.messages) < _MOST and group.size + len(one.data) <= _MOST_BYTES


def _joined(messages: list[Outgoing]) -> Outgoing:
    """The id is that of these messages together, in this order: said once more it is stored once, and no other bundle
    has it."""
    first = messages[0]
    if len(messages) == 1:
        return first
    parts = tuple(one.id for one in messages)
    name = blake2b(" ".join(parts).encode(), digest_size=16).hexdigest()
    data = b"[%b]" % b",".join([one.data for one in messages])
    return Bundle(f"bundle-{name}", first.subject, data, first.kind, first.source, parts=parts)


def delivered(one: Arrived) -> list[Delivery]:
    """The messages of one arrival; a bundle that is none is one message, which its hearer will not understand
    either."""
    reply, subject = one.reply.decode(), one.subject.decode()
    words, at = _numbers(reply)
    times, sequence, left = int(words[at]), int(words[at + 1]), int(words[at + 4])
    stored_at = int(words[at + 3]) // 1_000_000
    parts = _parts(one) if one.parts else []
    if not parts:
        name = one.id or f"{words[at - 2]}-{sequence}"
        return [Delivery(name, subject, one.data, sequence, times, left, handle=reply, stored_at=stored_at)]
    share = Share(reply, len(parts))
    behind = range(len(parts) - 1, -1, -1)
    return [
        Delivery(name, subject, data, sequence, times, left + more, more, share, stored_at)
        for (name, data), more in zip(parts, behind, strict=True)
    ]


def _numbers(reply: str) -> tuple[list[str], int]:
    """Of `$JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<time>.<pending>`, or the longer form
    with domain and account behind `$JS.ACK` (ADR-15 of NATS): its words, and where the numbers begin."""
    words = reply.split(".")
    return words, 4 if len(words) < 11 else 6


def turn(reply: str) -> int:
    """Which delivery of its consumer this is: 1 for the first."""
    words, at = _numbers(reply)
    return int(words[at + 2])


def _parts(one: Arrived) -> list[tuple[str, bytes]]:
    """Ids and data; none if they do not belong together."""
    try:
        return list(zip(one.parts, map(bytes, _split(one.data)), strict=True))
    except (ValueError, msgspec.DecodeError):
        return []
