"""Dead letters as the stream keeps them, and what is told of each: the message in it apart from all else."""

from base64 import b64encode
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from fairway.domain.text.decoding import decoder
from fairway.runtime.record.dead_letter_retry import job_of
from fairway.wire import subjects
from fairway.wire.envelope import Actor
from fairway.wire.fleet import DeadLetter
from fairway.wire.reasons import Code, Reason

_letter = decoder(DeadLetter)
_any = decoder(Any)


class KeptLetter(Struct, frozen=True):
    """A letter and its number, which is its place in the stream."""

    number: int
    letter: DeadLetter


class LetterLine(Struct, frozen=True):
    """A letter without the message in it. `id`, `subject`, `stream`, `sequence`, `job`, `size` and `sha256` are those
    of that message, also where the letter keeps only the beginning of it; `who` asked for it, if a door has said so."""

    number: int
    service: str
    at: int
    why: Reason
    subject: str
    id: str
    stream: str
    sequence: int
    job: str
    size: int
    sha256: str
    who: Actor | None = None

    @classmethod
    def of(cls, kept: KeptLetter) -> "LetterLine":
        one = kept.letter
        return cls(
            kept.number,
            one.service,
            one.at,
            one.why,
            one.subject,
            one.id,
            one.stream,
            one.sequence,
            job_of(one.data),
            one.size or len(one.data),
            one.sha256 or sha256(one.data).hexdigest(),
            one.who,
        )


def kept_letter(number: int, data: bytes) -> KeptLetter:
    """A letter that does not decode is one about itself: anybody can publish there."""
    try:
        return KeptLetter(number, _letter(data))
    except msgspec.DecodeError as error:
        why = Reason(Code.UNDECODABLE, f"the letter itself does not decode: {error}", remedy="drop it")
        return KeptLetter(number, DeadLetter(service="?", subject=subjects.DLQ, why=why, data=data))


def message_in(data: bytes) -> dict[str, Any]:
    """The message of a letter as JSON, if it is any, else its bytes as base64, as they stand there."""
    try:
        return {"message": _any(data)}
    except msgspec.DecodeError:
        return {"data": b64encode(data).decode()}
