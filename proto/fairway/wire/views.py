"""What the global-scheduler saw when it decided, and in which order: stream VIEWS, so that anybody can decide again.

Not JSON but msgpack: rows stand in it as the store had them, and there are very many. A structure is an array that
may grow at its end.
"""

import zlib
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from fairway.wire.reasons import Reason


class Whole(Struct, frozen=True, array_like=True, tag=0):
    """From here on the view is known, whatever was before: the rows of all clusters and nodes follow, and before them
    what is `Assumed`. `born` is the working set that it is of."""

    now: int
    born: int


class Assumed(Struct, frozen=True, array_like=True, tag=1):
    """Row of a job that was placed, and whose room no node's row shows yet."""

    data: bytes


class ViewRow(Struct, frozen=True, array_like=True, tag=2):
    """A row as it was read (None: it is gone): of a job that is decided on, or one that has changed."""

    table: str
    key: str
    rev: int
    data: bytes | None


class Word(Struct, frozen=True, array_like=True):
    """A message that was heard: as in `domain.decision.Heard`."""

    id: str
    sequence: int
    delivered: int
    data: bytes


class Look(Struct, frozen=True, array_like=True, tag=3):
    """The view was refreshed with the rows before this; `freed` (None: as it was) and `version` are the store's."""

    now: int
    version: int
    freed: dict[str, int] | None
    heard: tuple[Word, ...]


class Decided(Struct, frozen=True, array_like=True, tag=4):
    """On the message at this place of the last `Look`; the events that came of it have these revs."""

    heard: int
    now: int
    revs: tuple[int, ...]


class StepRefused(Struct, frozen=True, array_like=True, tag=5):
    """The store did not take the step that brought the job to `rev`: nothing was said."""

    job: str
    rev: int


class Missing(Struct, frozen=True, array_like=True, tag=6):
    """What was seen from `since` to `until`, with so many decisions, could not be kept."""

    why: Reason
    since: int
    until: int
    decisions: int


Entry = Whole | Assumed | ViewRow | Look | Decided | StepRefused | Missing


class Piece(Struct, frozen=True, array_like=True):
    """Of one process of the scheduler, by `number` from 1; one that is not there was lost. `at` is when the last of its
    entries was made, `after` the highest place in JOBS that had been heard of when the view was last told whole. The
    entries are compressed."""

    instance: str
    number: int
    at: int
    after: int
    entries: bytes


encode = msgspec.msgpack.Encoder().encode
_entries = msgspec.msgpack.Decoder(tuple[Entry, ...]).decode
decode = msgspec.msgpack.Decoder(Piece).decode
# The fastest: the higher levels save a tenth of the bytes and take twice the time.
_LEVEL = 1


def packed(entries: Sequence[Entry]) -> bytes:
    return zlib.compress(encode(entries), _LEVEL)


def unpacked(piece: Piece) -> tuple[Entry, ...]:
    return _entries(zlib.decompress(piece.entries))
