"""What an auditor is told and what it says, and what the words on a job are to its attempts."""

from msgspec import Struct

from fairway.wire.jobs import JobMessage


class Spoken(Struct, frozen=True):
    """A message of the record: its place, its id, the subject it was said on."""

    sequence: int
    id: str
    subject: str
    message: JobMessage


class Violation(Struct, frozen=True):
    """`rule` names what was broken in a word; `sequence` is the message that broke it (0: its absence did)."""

    job: str
    sequence: int
    rule: str
    text: str


class Open(Struct):
    """An authorised attempt: from `reserved` until nothing of it is left."""

    number: int
    cluster: str
    dispatched: bool = False
