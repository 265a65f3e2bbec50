"""What can be published at all, what is already there, and what becomes of the rest. Pure.

A bus that is away is waited for. A message that no bus would ever store is not: whoever waited for it would never say
anything again. So the two are told apart here, for every bus alike.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256

import msgspec
from msgspec import Raw, Struct, structs

from fairway.domain.text.decoding import decoder
from fairway.runtime.ports import Outgoing
from fairway.wire.envelope import Actor
from fairway.wire.reasons import Code, Reason
from fairway.wire.subjects import STREAMS

# What a header can hold of ASCII, and what a subject can: no wildcards, nothing that ends a word or a line.
_PLAIN = re.compile(r"[!-~]+")
_SUBJECT = re.compile(r"[!-)+-=?-~]+")
# A line of the protocol has 4,096 bytes, with the subject of the answer in it; ids of ours have 30 to 60 characters.
_LONGEST_SUBJECT = 1_024
LONGEST_ID = 512
# The headers of a message besides its ids and its kind (connection.py writes 117 bytes of them), with room to spare.
_HEADERS = 256
_encode = msgspec.json.Encoder().encode
_actor = decoder(Actor)
_plain_object = decoder(dict[str, Raw])


class Unsaid(Struct, frozen=True):
    """A message that can never be stored, and why."""

    message: Outgoing
    why: Reason
    too_large: bool = False


class Unsayable(Exception):
    """Of what was to be published, `refused` can never be; all else is stored."""

    def __init__(self, refused: Sequence[Unsaid]) -> None:
        what = f"{len(refused)} messages cannot be published, the first {_shown(refused[0].message.id)}"
        super().__init__(f"{what}: {refused[0].why.text}")
        self.refused = tuple(refused)


def size(message: Outgoing) -> int:
    """What it takes with its headers, at most: that is what a server counts."""
    return len(message.data) + 2 * len(message.id) + len(message.kind) + len(message.source) + _HEADERS


def unsaid(message: Outgoing, most: int) -> Unsaid | None:
    """Why no server that takes `most` bytes would ever store it; None when one may."""
    if len(message.subject) > _LONGEST_SUBJECT:
        return _never(message, f"its subject has {len(message.subject)} characters; {_LONGEST_SUBJECT} is the most")
    if wrong := _no_place(message.subject):
        return _never(message, wrong)
    if wrong := _no_word("id", message.id) or _no_kind(message.kind, message.source):
        return _never(message, wrong)
    if size(message) > most:
        return too_large(message, f"it has {len(message.data)} bytes, and the bus takes {most} with the headers")
    return None


def too_large(message: Outgoing, text: str) -> Unsaid:
    remedy = "make what it says smaller, or raise the server's max_payload"
    return Unsaid(message, Reason(Code.UNSAYABLE, text, remedy=remedy), too_large=True)


def _never(message: Outgoing, text: str) -> Unsaid:
    remedy = "see which name or id in it is not one, and who gave it"
    return Unsaid(message, Reason(Code.UNSAYABLE, text, remedy=remedy))


def _no_word(what: str, word: str) -> str:
    if _PLAIN.fullmatch(word) and len(word) <= LONGEST_ID:
        return ""
    text = f"{_shown(word)} cannot be a message's {what}: a header takes printable ASCII without spaces"
    return f"{text}, at most {LONGEST_ID} characters of it"


@lru_cache(1024)
def _no_kind(kind: str, source: str) -> str:
    return _no_word("kind", kind or "-") or _no_word("source", source or "-")


@lru_cache(4096)
def _no_place(subject: str) -> str:
    if not _SUBJECT.fullmatch(subject) or "" in subject.split("."):
        return f"{_shown(subject)} is no subject to publish on"
    # What is not Fairway's own may have a stream that only the server knows: benchmarks make theirs.
    ours = subject.startswith("fairway.")
    if ours and not any(subject.startswith(mask[:-1]) for stream in STREAMS for mask in stream.subjects):
        return f"no stream takes {subject}"
    return ""


def _shown(text: str) -> str:
    """Printable in a letter, and short."""
    return ascii(text if len(text) <= 60 else f"{text[:60]}...")


def same(message: Outgoing, subject: str, data: bytes) -> bool:
    """Whether what is stored on a subject is this message: the same words, though they may have been said at another
    time. An object of the hub is submitted once for its uid, whatever its policies have become meanwhile."""
    if subject != message.subject:
        return False
    if data == message.data:
        return True
    try:
        ours = _words(message.data)
        theirs = _words(data)
    except msgspec.DecodeError:
        return False
    return ours == theirs


def _words(data: bytes) -> dict[str, bytes]:
    words = _plain_object(data)
    unlike = ("at", "who", "manifest", "policies") if "hub" in words else ("at", "who")
    return {**{name: bytes(value) for name, value in words.items() if name not in unlike}, "who": _asker(words)}


def _asker(words: dict[str, Raw]) -> bytes:
    """Without the request: each try of a client is one of its own."""
    who = bytes(words.get("who", b""))
    try:
        return _encode(structs.replace(_actor(who), request=""))
    except msgspec.DecodeError:
        return who


def renamed(message: Outgoing) -> Outgoing:
    """Under an id that follows from its own and from what it says: who took the first by guessing would have to know
    all of it to take the next."""
    digest = sha256(b"%b\0%b\0%b" % (message.id.encode(), message.subject.encode(), message.data)).hexdigest()[:30]
    return structs.replace(message, id=digest)
