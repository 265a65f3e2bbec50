"""Dead letters on their way back: what of each is said once more, and what is not, with the reason."""

import msgspec
from msgspec import Raw, Struct

from fairway.domain.text.decoding import decoder
from fairway.domain.working_sets import WorkingSets
from fairway.runtime.ports import Outgoing
from fairway.wire import subjects
from fairway.wire.envelope import JobMessage
from fairway.wire.fleet import DeadLetter
from fairway.wire.reasons import Code, Reason, Refused


class _Head(Struct):
    """What every message on a job has, also one that does not decode for another reason."""

    job: str = ""
    rev: int = 0
    epoch: int = 0


_decode = decoder(_Head)
_parts = decoder(dict[str, Raw])


def job_of(data: bytes) -> str:
    """The job that a message speaks of; empty when it does not say."""
    head = _head(data)
    return head.job if head else ""


def again(letter: DeadLetter, sets: WorkingSets) -> Outgoing:
    """The message as it was, under its own id, so that all who hear it know it again; an event with the number of the
    working set in use, of which it is part. Refused when nothing would come of it."""
    if not letter.stream:
        text = "what it holds was never a message: it was refused, or could not be published, before it was one"
        raise Refused(Reason(Code.NO_MESSAGE, text, remedy="drop the letter; who sent it was told what to do"))
    if letter.size > len(letter.data):
        text = f"only {len(letter.data)} of its {letter.size} bytes are kept"
        where = f"it stands in {letter.stream} as message {letter.sequence}"
        raise Refused(Reason(Code.NO_MESSAGE, text, remedy=f"{where}; who sent it can send it again"))
    if letter.stream != subjects.JOBS:
        text = f"what was said on {letter.subject} was true then, and newer words have followed"
        raise Refused(Reason(Code.OVERTAKEN, text, remedy="drop the letter; agents say anew what is so"))
    check(letter.data, letter.sequence, sets)
    kind = "fairway." + ".".join(letter.subject.split(".")[1:3])
    name = letter.id or f"{letter.stream}-{letter.sequence}"
    return Outgoing(name, letter.subject, _stamped(letter.data, sets.latest), kind, "/fairway/dlq")


def check(data: bytes, sequence: int, sets: WorkingSets) -> None:
    """Refused when the message came too late for its working set, at this place in the record."""
    head = _head(data)
    if head is not None and sets.late(JobMessage(tenant="", rev=head.rev, epoch=head.epoch), sequence):
        text = f"it was said for working set {head.epoch}, which was lost before it was stored: nobody acts on it"
        raise Refused(Reason(Code.OVERTAKEN, text, remedy="drop the letter; it was decided again in the next one"))


def not_there(letter: DeadLetter) -> Refused:
    """For when the record has no such message where the letter says that it stood."""
    text = f"message {letter.sequence} of {letter.stream} is not the one that the letter holds"
    return Refused(Reason(Code.NO_MESSAGE, text, remedy="drop the letter: nobody knows who wrote it"))


def too_soon(text: str) -> Refused:
    """For when the bus took the message for the one that it has at the place where it failed, or the working set was
    lost between the look at it and the publish."""
    return Refused(Reason(Code.TOO_SOON, text, remedy="try again in two minutes"))


def _head(data: bytes) -> _Head | None:
    try:
        return _decode(data)
    except msgspec.DecodeError:
        return None


def _stamped(data: bytes, epoch: int) -> bytes:
    """With nothing changed but the number of the working set, and that only of an event: whatever else is in it, and
    known to other versions alone, stays."""
    head = _head(data)
    if head is None or not head.rev or head.epoch == epoch:
        return data
    body = _parts(data)
    return msgspec.json.encode({**body, "epoch": epoch})
