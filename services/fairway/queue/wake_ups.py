"""From what changed to those whom it may wake: one table, and one function that goes over it. Pure."""

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from itertools import islice, takewhile
from math import ceil

from msgspec import Struct

from fairway.domain.batch_resources import has_batch
from fairway.queue.fair_turn import by_share, one_by_one, ordered
from fairway.queue.metrics.counted_line import Place
from fairway.queue.order import QueueOrder, Tried
from fairway.queue.view import SWEEP, SWEEP_EVERY_MS
from fairway.queue.waiting.freed_room import names
from fairway.queue.waiting.waiting_job import BATCH_ROOM, NOTHING_YET, QUOTA, ROOM, WaitingJob, retry_at
from fairway.queue.waiting.waiting_jobs import WaitingJobs
from fairway.wire.fleet import Freed

# One piece of freed room wakes at most so many jobs, the first of as many shapes.
WAKE_BUDGET = 256
# How many jobs of one shape are asked whether their quota lets them have the room.
SHAPE_TRIES = 32
# So many jobs follow a change of their policy in one step of the queue; the next ones in the next.
FOLLOWERS = 256
# So many jobs are asked in one sweep whether they still stand as the record says, and so many say so.
LOOKED_AT = 2_000
TOLD = 256


class Free(Enum):
    QUOTA = "quota at these nodes (None: at any); before a place: for those that stand there"
    ROOM = "room in a cluster as it says now, or what is known to be left in all"
    UNKNOWN_ROOM = (
        "room in clusters of which nobody knows what they have now; that of a cluster that is gone, elsewhere"
    )
    JOB = "the way of a job: it has come, or nothing is left of its last attempt"
    TURN = "the turn in a blocking queue"
    LINES = "whatever those lack that nobody has looked at yet"
    TERMS = "what a policy allows (empty: any policy or namespace)"
    NOTHING = "nothing: others may have shut a gate, or opened one of several, since a job was looked at"


class QueueChange(Struct, frozen=True):
    """What may be free now. `by` is the word of the record for it (`Dequeued.woken_by`)."""

    free: Free
    by: str
    leaf: tuple[str, ...] | None = None
    before: Place | None = None
    news: Freed | None = None
    entry: WaitingJob | None = None
    queue: str = ""
    policy: str = ""


Changes = tuple[QueueChange, ...]


class Group(Struct):
    """Jobs to try in order, to the freed `room` of a cluster if they need that: until one is `until`, or `most` had
    their turn. `told`: who is passed over says why."""

    entries: Iterable[WaitingJob]
    room: str | None = ""
    until: Tried = None
    most: int = 0
    told: bool = False


def turn_of(turn: QueueOrder, queue: str, by: str) -> Changes:
    """The turn of a blocking queue is for the next one; in another queue nobody stands by for it."""
    return (QueueChange(Free.TURN, by, queue=queue),) if turn.blocking(queue) else ()


def wake(turn: QueueOrder, change: QueueChange) -> None:
    """Tries everybody who may wait for this, in order."""
    for group in _MAY_WAIT[change.free](turn, change):
        had_turn = 0
        for entry in group.entries:
            tried = turn.attempt(entry, change.by, group.room, group.told)
            had_turn += tried is not None
            if tried is group.until is not None or had_turn == group.most > 0:
                break


def _blocked_at(turn: QueueOrder, change: QueueChange) -> Iterator[Group]:
    """They go as far as the quota reaches: one that stays keeps back those that ask the same. Nobody keeps back those
    whose kept room is free."""
    queued = turn.view.queued
    nodes = (None,) if change.leaf is None else change.leaf
    heads = sorted((one for node in nodes for one in queued.heads(QUOTA, node)), key=lambda entry: entry.place)
    if change.before is not None:
        yield from _ahead_of(turn, change, change.before, heads)
        return
    yield Group(with_room(turn), "")
    if by_share(turn):
        for entry in one_by_one(turn, [queued.group(head) for head in heads]):
            yield from _and_next(turn, change, Group((entry,)), entry.job.queue)
    else:
        for head in heads:
            yield from _and_next(turn, change, Group(queued.group(head), until=False), head.job.queue)
    if turn.back is None or has_batch(turn.back.charge):
        for head in queued.heads(BATCH_ROOM):
            yield Group(queued.group(head), turn.rooms.where(head), True, SHAPE_TRIES)


def _ahead_of(turn: QueueOrder, change: QueueChange, place: Place, heads: Iterable[WaitingJob]) -> Iterator[Group]:
    for head in takewhile(lambda head: head.place < place, heads):
        entries = takewhile(lambda entry: entry.place < place, turn.view.queued.group(head))
        yield from _and_next(turn, change, Group(entries, until=False), head.job.queue)


def _and_next(turn: QueueOrder, change: QueueChange, group: Group, queue: str) -> Iterator[Group]:
    """Then whose turn it is in a blocking queue."""
    yield group
    for then in turn_of(turn, queue, change.by):
        yield from _itself(turn, then)


def with_room(turn: QueueOrder) -> list[WaitingJob]:
    """Those for whose claims room is kept that is free."""
    entries = turn.view.queued.entries
    return [entries[name] for name in turn.active.ready if name in entries] if turn.view.claiming else []


def _of_every_shape(turn: QueueOrder, change: QueueChange) -> Iterator[Group]:
    """Of every shape that could find enough, the first that quota and queue let go. Room that one is woken for is not
    offered to the next; when the one has found its place, or none, the next is served (`wire.Reserved`, `wire.Queue`).
    """
    known = change.free is Free.ROOM
    if change.news is not None and known:
        turn.rooms.of({change.news.cluster: change.news})
    most = len(turn.gone) + WAKE_BUDGET
    queued = turn.view.queued
    heads = sorted((*queued.heads(ROOM), *queued.heads(BATCH_ROOM)), key=lambda entry: entry.place)
    if not known and change.news is not None:
        heads = [one for one in heads if names(one, change.news.cluster)]
    fair = by_share(turn)
    if fair:
        able = (one for one in heads if not known or turn.rooms.where(one) is not None)
        heads = ordered(turn, islice(able, WAKE_BUDGET))
    for head in heads:
        where = "" if not known else turn.rooms.where(head) if len(turn.gone) < most else None
        if where is not None:
            group = queued.group(head)
            yield Group(ordered(turn, islice(group, SHAPE_TRIES)) if fair else group, where, True, SHAPE_TRIES)


def _itself(turn: QueueOrder, change: QueueChange) -> Iterator[Group]:
    """A job, or the head of a blocking queue. One that lacks room may find some now: it was freed, a cluster is no
    longer avoided, or other terms hold; the sweep cannot tell forgotten room from room that does not fit. What is kept
    for its claim is told of apart from what is free for all."""
    entry = change.entry or turn.head(change.queue)
    if entry is None or (entry.lacks == ROOM and change.by == SWEEP):
        return
    if entry.batch is not None and entry.lacks in (QUOTA, ROOM):
        yield Group((entry.batch,), turn.rooms.where(entry.batch))
    asks = entry.lacks != ROOM or 0 < retry_at(entry.job) <= turn.now or turn.terms(entry) is not None
    asks = asks or turn.has_its_room(entry.job)
    yield Group((entry,), "" if asks else turn.rooms.where(entry), told=change.entry is not None)


def _of_every_line(turn: QueueOrder, change: QueueChange) -> Iterator[Group]:
    lines = turn.view.queued.lines
    # Those of the highest priority first.
    for queue in sorted(lines, key=lambda queue: (lines[queue].places[0][0], queue)):
        if turn.blocking(queue):
            yield from _itself(turn, QueueChange(Free.TURN, change.by, queue=queue))
        else:
            yield Group(entry for entry in turn.view.queued.line(queue) if entry.lacks == NOTHING_YET)


def _under_policy(turn: QueueOrder, change: QueueChange) -> Iterator[Group]:
    queued = turn.view.queued
    named = queued.under.get(change.policy, ()) if change.policy else queued.entries
    changed = [entry for name in named if turn.terms(entry := queued.entries[name]) is not None]
    turn.more = len(changed) > FOLLOWERS
    yield Group(sorted(changed, key=lambda entry: entry.place)[:FOLLOWERS], told=True)


def _as_they_stand(turn: QueueOrder, change: QueueChange) -> Iterator[Group]:
    """Nobody goes. Of more jobs than are looked at in one sweep the next ones are in the next, until it was everybody's
    turn."""
    queued = turn.view.queued
    sweeps = max(1, ceil(len(queued.entries) / LOOKED_AT))
    first = turn.now // SWEEP_EVERY_MS % sweeps * LOOKED_AT
    most = len(turn.steps) + TOLD
    yield Group(takewhile(lambda entry: len(turn.steps) < most, _some(queued, first)), None, told=True)


def _some(queued: WaitingJobs, first: int) -> Iterator[WaitingJob]:
    """Of all lines in one order, from this one on."""
    most = LOOKED_AT
    for queue in sorted(queued.lines):
        places = queued.lines[queue].places
        found = [*places.islice(first, first + most)]
        yield from (queued.entries[place[-1]] for place in found)
        first = max(0, first - len(places))
        most -= len(found)


# Who may wait for what may be free.
_MAY_WAIT: dict[Free, Callable[[QueueOrder, QueueChange], Iterator[Group]]] = {
    Free.QUOTA: _blocked_at,
    Free.ROOM: _of_every_shape,
    Free.UNKNOWN_ROOM: _of_every_shape,
    Free.JOB: _itself,
    Free.TURN: _itself,
    Free.LINES: _of_every_line,
    Free.TERMS: _under_policy,
    Free.NOTHING: _as_they_stand,
}
