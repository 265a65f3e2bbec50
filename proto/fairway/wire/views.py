"""What a stage knew when it decided, and in which order: stream VIEWS, so that anybody can decide again.

Not JSON but msgpack, and what the record (JOBS) holds is not written again but named. There are very many of these. A
structure is an array that may grow at its end. Up to 0.2.0 only the scheduler's views were recorded, as `Assumed`,
`Look`, `Decided` and `StepRefused`; they are read still.
"""

import zlib
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from fairway.wire.reasons import Reason


class Whole(Struct, frozen=True, array_like=True, gc=False, tag=0):
    """From here on everything is known, whatever was before. What follows are the settings in force and what the memory
    `RememberedPart`. `born` is the working set that it is of; in `reserved` namespaces no job may be."""

    now: int
    born: int
    reserved: tuple[str, ...] = ()


class Assumed(Struct, frozen=True, array_like=True, gc=False, tag=1):
    """Row of a job that was placed, and whose room no node's row shows yet (up to 0.2.0)."""

    data: bytes


class ViewRow(Struct, frozen=True, array_like=True, gc=False, tag=2):
    """A row as it was `read`, or as it has changed since the last time (None: it is gone). Not of jobs: those are in
    JOBS. Up to 0.2.0 those that were read are of jobs."""

    table: str
    key: str
    rev: int
    data: bytes | None
    read: bool = False


class Word(Struct, frozen=True, array_like=True, gc=False):
    """A message that was heard, and is not in JOBS: as in `domain.decision.Heard`."""

    id: str
    sequence: int
    delivered: int
    data: bytes
    size: int = 0
    stored_at: int = 0
    subject: str = ""


class Look(Struct, frozen=True, array_like=True, gc=False, tag=3):
    """Up to 0.2.0. The view was refreshed with the rows before this, those of jobs among them; `freed` (None: as it
    was) and `version` are the store's."""

    now: int
    version: int
    freed: dict[str, int] | None
    heard: tuple[Word, ...]


class Decided(Struct, frozen=True, array_like=True, gc=False, tag=4):
    """Up to 0.2.0. On the message at this place of the last `Look`; the events that came of it have these revs."""

    heard: int
    now: int
    revs: tuple[int, ...]


class StepRefused(Struct, frozen=True, array_like=True, gc=False, tag=5):
    """Up to 0.2.0. The store did not take the step that brought the job to `rev`: nothing was said."""

    job: str
    rev: int


class Missing(Struct, frozen=True, array_like=True, gc=False, tag=6):
    """What was seen from `since` to `until`, with so many decisions, could not be kept."""

    why: Reason
    since: int
    until: int
    decisions: int


class RememberedPart(Struct, frozen=True, array_like=True, gc=False, tag=7):
    """A part of the memory that nothing that follows would tell, as the memory itself wrote it."""

    table: str
    key: str
    rev: int
    data: bytes


class SettingTaken(Struct, frozen=True, array_like=True, gc=False, tag=8):
    """A word of the hub that the catalog took over, as it is in CONFIG."""

    data: bytes


class KnownRow(Struct, frozen=True, array_like=True, gc=False, tag=9):
    """A row that came back as a decision of this process had written it; or that of a job, which is remembered. `sum`
    is that of its bytes."""

    table: str
    key: str
    rev: int
    sum: int


class CallMade(Struct, frozen=True, array_like=True, gc=False):
    verb: str
    cluster: str
    job: str
    attempt: int


class CallAnswer(Struct, frozen=True, array_like=True, gc=False):
    """What a call brought: as in `domain.decision.Outcome`. What was sent along with it is in no decision any more."""

    call: CallMade
    ok: bool
    code: str
    text: str
    body: bytes


class HeardBatch(Struct, frozen=True, array_like=True, gc=False, tag=10):
    """Messages in their order. `places` are their sequences in JOBS, 0 where the next of `words` stands; `behind` how
    many were stored behind them in the same bundle (empty: none), `delivered` how often they were, where it was more
    than once, and `answers` what was called for them, both by the place in this batch."""

    now: int
    places: tuple[int, ...]
    behind: tuple[int, ...]
    words: tuple[Word, ...]
    delivered: dict[int, int]
    answers: dict[int, tuple[CallAnswer, ...]]


class BatchFound(Struct, frozen=True, array_like=True, gc=False, tag=11):
    """The memory took what was found for the last `HeardBatch`, and the rows before this. `jobs` are the rows of jobs
    by their ids (None: of those that the batch speaks of, each once), `revs` and `sums` their revisions (0: there is
    none) and the sums of their bytes. `counters` has by table those that have another value than before, None where
    there is none any more."""

    version: int
    counters: dict[str, dict[str, int | None]]
    jobs: tuple[str, ...] | None
    revs: tuple[int, ...]
    sums: tuple[int, ...]


class DecisionMade(Struct, frozen=True, array_like=True, gc=False):
    """What a decision came to: how many steps, the calls, and in how many milliseconds it is to be made again; in how
    many milliseconds the service reminds itself, whether the message is `kept`, and how many kept ones are `done`.
    `relief` is what it asks of others about evictions: the verb, of how many attempts, and a checksum of the whole."""

    steps: int
    calls: tuple[CallMade, ...]
    again_in: int | None
    reminders: tuple[int, ...] = ()
    kept: bool = False
    done: int = 0
    relief: tuple[str, ...] = ()


class BatchDecided(Struct, frozen=True, array_like=True, gc=False, tag=12):
    """On the messages of the last `HeardBatch` from place `start` on: what came of each (None: none was made; a number:
    so many steps and nothing else). Of all steps since it was taken, the store did not take these."""

    now: int
    start: int
    made: tuple[DecisionMade | int | None, ...]
    refused: tuple[int, ...]


Entry = (
    Whole
    | Assumed
    | ViewRow
    | Look
    | Decided
    | StepRefused
    | Missing
    | RememberedPart
    | SettingTaken
    | KnownRow
    | HeardBatch
    | BatchFound
    | BatchDecided
)


class Piece(Struct, frozen=True, array_like=True, gc=False):
    """Of one process of a service, by `number` from 1; one that is not there was lost. `at` is when the last of its
    entries was made, `after` the highest place in JOBS that had been heard of when the view was last told whole. The
    entries are compressed."""

    instance: str
    number: int
    at: int
    after: int
    entries: bytes


class FoundRecord(Struct, frozen=True, array_like=True, gc=False):
    """`found` is a `wire.spec.Found` without its clusters, of the decision that brought the job to that `rev`."""

    job: str
    rev: int
    found: msgspec.Raw


class FoundBatch(Struct, frozen=True, array_like=True, gc=False):
    """In stream FOUND: what decisions of one process of a service found, stored before they are committed. A record
    that no event refers to is void: its decision was not taken. All are of these `clusters`; when `clusters_at` is not
    0, of those of the batch that stands there."""

    instance: str
    clusters_at: int
    clusters: tuple[str, ...]
    records: tuple[FoundRecord, ...]


encode = msgspec.msgpack.Encoder().encode
found_batch = msgspec.msgpack.Decoder(FoundBatch).decode
_entries = msgspec.msgpack.Decoder(tuple[Entry, ...]).decode
decode = msgspec.msgpack.Decoder(Piece).decode
# The fastest: the higher levels save a tenth of the bytes and take twice the time.
_LEVEL = 1


def packed(entries: Sequence[Entry]) -> bytes:
    return zlib.compress(encode(entries), _LEVEL)


def unpacked(piece: Piece) -> tuple[Entry, ...]:
    return _entries(zlib.decompress(piece.entries))
