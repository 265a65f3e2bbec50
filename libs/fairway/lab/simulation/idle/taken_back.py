"""What the record has to say of jobs that were taken back because their batch resources became less."""

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from fairway.domain.batch_resources import has_batch
from fairway.domain.text.decoding import decoder
from fairway.domain.working_sets import WorkingSets
from fairway.runtime.ports import Delivery
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code

_message = decoder(wire.Message)
# For so long (ms) a job that was taken back goes elsewhere; and so often that costs it nothing.
AVOIDED_MS = 600_000
FREE = 10
_OUT_OF = re.compile(r"\(attempt (\d+) of \d+; no attempts left\)")
# Ends of attempts that are none of the job's doing, beside those for want of batch resources.
_UNSPENT = (
    Code.RESERVATION_EXPIRED,
    Code.ROOM_TAKEN,
    Code.WEBHOOK_FAILED,
    Code.NAMESPACE_TERMINATING,
    Code.SUSPENDED,
)


class _Told(Struct):
    """What the record says of one job so far: since when it waits and in which queue, where it may not go until when,
    which attempts were queued, which ended, by what their end costs, and whether the job did. `lost_in` is where the
    last one was taken back; `on_batch` whether it was let go with batch resources last."""

    enqueued_at: int = 0
    queue: str = ""
    avoid: dict[str, int] = {}
    shrunk: set[int] = set()
    spent: set[int] = set()
    queued: set[int] = set()
    lost_in: str = ""
    on_batch: bool = True
    over: bool = False


class BatchRecord:
    """What followed when jobs were taken back for want of batch resources. `moved` counts how often it was another
    cluster."""

    def __init__(self, record: Iterable[Delivery]) -> None:
        self.moved = 0
        self._told: dict[str, _Told] = {}
        self._wrong: list[tuple[str, str]] = []
        for message in _that_counts(record):
            one = self._told.setdefault(message.job, _Told())
            self._wrong += [(message.job, text) for text in self._read(one, message)]

    def wrong(self) -> Iterator[tuple[str, str]]:
        """Of each job, in a sentence."""
        yield from self._wrong
        for job, one in self._told.items():
            for attempt in sorted(one.shrunk):
                if attempt + 1 not in one.queued and not one.over:
                    yield job, f"attempt {attempt} was taken back, and none was queued after it"

    def _read(self, told: _Told, message: wire.JobMessage) -> Iterable[str]:
        match message:
            case wire.Queue():
                return _queued(told, message)
            case wire.Dequeued():
                told.on_batch = has_batch(message.charge)
            case wire.Placed():
                if message.attempt - 1 in told.shrunk:
                    self.moved += message.cluster != told.lost_in
                return _placed(told, message)
            case wire.Lost() | wire.Failed():
                return _over(told, message)
            case wire.Cancelled() | wire.Succeeded():
                told.over = True
        return ()


def _that_counts(record: Iterable[Delivery]) -> list[wire.JobMessage]:
    """In the order of each job's revisions, without what came too late for its working set."""
    sets = WorkingSets()
    heard = [(one.sequence, _message(one.data)) for one in record]
    for sequence, message in heard:
        if isinstance(message, wire.Rebuild):
            sets.hear(message, sequence)
    counts = [message for sequence, message in heard if message.rev and not sets.late(message, sequence)]
    return sorted(counts, key=lambda message: (message.job, message.rev))


def _queued(told: _Told, message: wire.Queue) -> Iterable[str]:
    """Who was taken back comes back to where it was: same queue, same time, next attempt."""
    if message.attempt - 1 in told.shrunk and message.attempt not in told.queued:
        if message.enqueued_at != told.enqueued_at:
            yield f"attempt {message.attempt} is queued as of {message.enqueued_at}, and not {told.enqueued_at}"
        if message.queue != told.queue:
            yield f"attempt {message.attempt} is queued in {message.queue}, and not in {told.queue}"
    told.queued.add(message.attempt)
    told.enqueued_at = told.enqueued_at or message.enqueued_at
    told.queue = message.queue


def _placed(told: _Told, message: wire.Placed) -> Iterable[str]:
    if told.on_batch and message.at < told.avoid.get(message.cluster, 0):
        left = (told.avoid[message.cluster] - message.at) / 1000
        yield f"attempt {message.attempt} is to go to {message.cluster}, which it is to avoid for {left:.0f} s"
    if message.attempt - 1 in told.shrunk and message.attempt not in told.queued:
        yield f"attempt {message.attempt} was never queued"


def _over(told: _Told, message: wire.Lost | wire.Failed) -> Iterable[str]:
    told.over = message.final
    if message.why.code is Code.BATCH_SHRUNK:
        told.shrunk.add(message.attempt)
        told.avoid[message.cluster] = message.at + AVOIDED_MS
        told.lost_in = message.cluster
        if message.final and len(told.shrunk) <= FREE:
            yield f"it was given up when it was taken back for the {len(told.shrunk)}. time, and {FREE} cost nothing"
    elif message.why.code not in _UNSPENT:
        told.spent.add(message.attempt)
    most = len(told.spent) + max(0, len(told.shrunk) - FREE)
    said = _OUT_OF.search(message.why.text)
    if message.final and said and int(said[1]) > most:
        yield f"{said[1]} attempts are said to be spent, and {most} are"
