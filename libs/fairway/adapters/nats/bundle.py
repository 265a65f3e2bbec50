"""Bundles: messages of one subject that are said together travel, are stored and are acknowledged as one.

The bus costs by the message, not by the byte: seven hops of single messages were a third of what a job cost in all
(docs/performance.md). A bundle is a JSON array of what the messages would have been; the header `Fairway-Bundle` has
their ids. With one message there is nothing to bundle, so a quiet fleet sees none. Pure.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec
from msgspec import Struct

from fairway.adapters.nats.connection import Arrived, Bundle
from fairway.adapters.nats.headers import ID, Faulty, check, parts, value
from fairway.domain.text.decoding import decoder
from fairway.runtime.ports import Delivery, Outgoing

# More gain little, and all of a bundle comes again when one of it is put off.
_MOST = 64
_MOST_BYTES = 256 * 1024
# What a bundle's own headers take, its ids aside.
_HEADERS = 2_048
# A bundle of more is none of ours, of whatever version: it is one message that nobody understands, not so many.
_MOST_EVER = 1_024
_split = decoder(list[msgspec.Raw])


class BundleShare(Struct):
    """What the deliveries of one bundle have in common: how many of them are not acknowledged yet."""

    reply: str
    left: int


class _Open(Struct):
    """Messages that will be one. `at` is its place among all."""

    at: int
    messages: list[Outgoing]
    size: int = 0


def bundled(messages: Sequence[Outgoing], most: int = 1 << 20) -> list[Outgoing]:
    """The same messages, those of one subject and kind together, but no bundle of more than `most` bytes with its
    headers. Messages with the same `order` stay in their order; one without any stays alone."""
    if len(messages) < 2:
        return list(messages)
    limit = min(_MOST_BYTES, most - _HEADERS)
    groups: list[_Open] = []
    last: dict[str, int] = {}
    open_: dict[tuple[str, str], _Open] = {}
    for one in messages:
        group = open_.get((one.subject, one.kind)) if one.order else None
        if group is None or group.at < last.get(one.order, 0) or not _takes(group, one, limit):
            group = _Open(len(groups), [])
            groups.append(group)
            if one.order:
                open_[one.subject, one.kind] = group
        group.messages.append(one)
        group.size += _size(one)
        if one.order:
            last[one.order] = group.at
    return [_joined(group.messages) for group in groups]


def _takes(group: _Open, one: Outgoing, limit: int) -> bool:
    return len(group.messages) < _MOST and group.size + _size(one) <= limit


def _size(one: Outgoing) -> int:
    """With its id and what parts it from the next."""
    return len(one.data) + len(one.id) + 2


def _joined(messages: list[Outgoing]) -> Outgoing:
    """The id is that of these messages together, in this order: said once more it is stored once, and no other bundle
    has it."""
    first = messages[0]
    if len(messages) == 1:
        return first
    parts = tuple(one.id for one in messages)
    name = blake2b(" ".join(parts).encode(), digest_size=16).hexdigest()
    data = b"[%b]" % b",".join([one.data for one in messages])
    name = f"bundle-{name}"
    return Bundle(name, first.subject, data, first.kind, first.source, parts=parts, messages=tuple(messages))


class StreamPlace(NamedTuple):
    """What an acknowledgement's subject tells of its message: where it stands, which delivery of it this is, which of
    its consumer's, when it was stored (ns), and how many wait behind it."""

    stream: str
    times: int
    sequence: int
    turn: int
    time: int
    left: int


def place_of(reply: bytes) -> StreamPlace | None:
    """Of `$JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<time>.<pending>`, or the longer form
    with domain and account behind `$JS.ACK` (ADR-15 of NATS); None of anything else."""
    words = reply.split(b".")
    at = 4 if len(words) < 11 else 6
    try:
        times, sequence, turn, time, left = map(int, words[at : at + 5])
        return StreamPlace(words[at - 2].decode(), times, sequence, turn, time, left)
    except ValueError:
        return None


def delivered(one: Arrived, place: StreamPlace | None = None) -> list[Delivery]:
    """The messages of one arrival, at its place if that was read already; a bundle that is none is one message, which
    its hearer will not understand either, and so is one whose headers or subject cannot be read. None, if no stream
    has sent it."""
    place = place or place_of(one.reply)
    if place is None:
        return []
    reply = one.reply.decode()
    name = f"{place.stream}-{place.sequence}"
    stored_at = place.time // 1_000_000
    try:
        subject = check(one.subject, one.headers)
        name = value(one.headers, ID) or name
        shares = _parts(one.headers, one.data)
    except Faulty as fault:
        text = f"{fault}; it has {len(one.data)} bytes"
        subject = one.subject.decode(errors="backslashreplace")
        return [Delivery(name, subject, b"", place.sequence, place.times, place.left, 0, reply, stored_at, text)]
    if not shares:
        return [Delivery(name, subject, one.data, place.sequence, place.times, place.left, 0, reply, stored_at)]
    share = BundleShare(reply, len(shares))
    behind = range(len(shares) - 1, -1, -1)
    return [
        Delivery(name, subject, data, place.sequence, place.times, place.left + more, more, share, stored_at)
        for (name, data), more in zip(shares, behind, strict=True)
    ]


def passed_over(place: StreamPlace) -> list[Delivery]:
    """In place of the messages of one arrival, for who wants none of them: where it stands, and no subject."""
    return [Delivery("", "", b"", place.sequence, place.times, place.left)]


def messages(headers: bytes, data: bytes) -> list[bytes]:
    """What whoever hears this stored message hears: each message of a bundle, else the one. None of what is faulty."""
    try:
        return [one for _, one in _parts(headers, data)] or [data]
    except Faulty:
        return []


def _parts(headers: bytes, data: bytes) -> list[tuple[str, bytes]]:
    """Ids and data; none if they do not belong together."""
    ids = parts(headers)
    if not ids or len(ids) > _MOST_EVER:
        return []
    try:
        return list(zip(ids, map(bytes, _split(data)), strict=True))
    except (ValueError, msgspec.DecodeError):
        return []
