"""Dead letters on their way in: what keeps a message that could not be handled, or not even be said. Pure.

A letter can itself always be said: what is in it came from anybody, and may be larger than what a message can hold.
"""

from hashlib import sha256

import msgspec
from msgspec import structs

from fairway.domain.events import message_id
from fairway.domain.submission import request_of
from fairway.domain.text.decoding import decoder
from fairway.runtime.inbox import Item
from fairway.runtime.ports import Delivery, Outgoing
from fairway.runtime.record.publishable import Unsaid
from fairway.wire import subjects
from fairway.wire.envelope import Actor
from fairway.wire.fleet import DeadLetter
from fairway.wire.reasons import Reason

KIND = "fairway.dlq"
# Of a message that is too large for a letter so much is kept, and its digest (bytes); of any text, so many characters.
_KEPT = 4_096
_LONGEST = 1_000
_encode = msgspec.json.Encoder().encode
_decode = decoder(DeadLetter)


def dead_letter(service: str, item: Item, why: Reason, now: int) -> Outgoing:
    """The message that keeps one that could not be handled; its id is that of the buried one and its place, for one
    that is said again after it was mended may fail again."""
    one = item.delivery
    stream = item.source.stream if item.source else ""
    letter = DeadLetter(
        at=now,
        service=service,
        subject=_short(one.subject),
        id=_short(one.id),
        stream=stream,
        sequence=one.sequence,
        why=_brief(why),
        data=one.data,
        who=asker(one),
    )
    return _said(service, letter, message_id("dlq", service, one.id, one.sequence))


class _Asked(msgspec.Struct):
    who: Actor | None = None


_asked = decoder(_Asked)


def asker(one: Delivery) -> Actor | None:
    """Who asked for what is buried, as a door has written it; on the tenants' own subjects the tenant."""
    tenant, _ = subjects.spoken(one.subject)
    if tenant:
        return Actor(tenant, "bus", request_of(one.id))
    try:
        return _asked(one.data).who
    except msgspec.DecodeError:
        return None


def unsayable(service: str, one: Unsaid, now: int) -> Outgoing | None:
    """What is said in place of a message that cannot be; None for a letter of which there is nothing to cut."""
    message = one.message
    if message.kind == KIND:
        return _cut(message)
    letter = DeadLetter(
        at=now,
        service=service,
        subject=_short(message.subject),
        id=_short(message.id),
        why=_brief(one.why),
        data=message.data[:_KEPT],
        size=len(message.data),
        sha256=sha256(message.data).hexdigest(),
    )
    return _said(service, letter, message_id("dlq", service, "unsayable", ascii(message.id), letter.sha256))


def _cut(message: Outgoing) -> Outgoing | None:
    letter = _decode(message.data)
    if len(letter.data) <= _KEPT:
        return None
    cut = structs.replace(
        letter, data=letter.data[:_KEPT], size=len(letter.data), sha256=sha256(letter.data).hexdigest()
    )
    return structs.replace(message, data=_encode(cut))


def _said(service: str, letter: DeadLetter, name: str) -> Outgoing:
    return Outgoing(name, subjects.dead_letter(service), _encode(letter), KIND, f"/fairway/{service}")


def _brief(why: Reason) -> Reason:
    return structs.replace(why, text=_short(why.text), remedy=_short(why.remedy), field=_short(why.field))


def _short(text: str) -> str:
    """What is no text for JSON is shown as Python would write it."""
    shown = text[:_LONGEST].encode("utf-8", "backslashreplace").decode()
    return shown if len(text) <= _LONGEST else f"{shown}..."
