"""Who was active, and what was used of the quota, at each place of the record and in the time about it.

Who decides has heard of what happened a moment ago, or has not; so that each rule holds if it holds for anything that
may have been known then.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from operator import attrgetter, itemgetter

from msgspec import Struct

from fairway.domain.preemption.levels import ActiveJob
from fairway.domain.quota.tree import QuotaNode
from fairway.domain.resources import Resources

Active = Mapping[str, ActiveJob]


class Moment(Struct, frozen=True):
    """A place of the record, and the time at which it was said (ms)."""

    place: int
    at: int


class Span(Struct):
    """What a job has `asks` of at the nodes of `path`, from `begun` until it was over. `heard_at` is when everybody had
    heard that it began (ms), who did not say so."""

    job: str
    path: tuple[str, ...]
    asks: Resources
    begun: Moment
    over: Moment | None = None
    heard_at: int = 0

    def holds(self, now: Moment) -> bool:
        """Whether it is so, and nobody can know otherwise."""
        if self.begun.place >= now.place or self.heard_at > now.at:
            return False
        return self.over is None or (self.over.place > now.place and self.over.at > now.at)


class Spans:
    """Of each job one at a time is open. When all is known, it is asked for moments in the order of their places."""

    def __init__(self) -> None:
        self._all: list[Span] = []
        self._open: dict[str, Span] = {}
        self._later: list[Span] = []
        self._present: list[Span] = []

    def begin(self, span: Span) -> None:
        if span.job not in self._open:
            self._open[span.job] = span
            self._all.append(span)

    def over(self, job: str, now: Moment) -> None:
        span = self._open.pop(job, None)
        if span is not None:
            span.over = now

    def asked(self) -> None:
        """From here on it is asked."""
        self._later = sorted(self._all, key=lambda one: one.begun.place, reverse=True)
        self._present = []

    def at(self, now: Moment) -> list[Span]:
        """What is so at the moment, and nobody can know otherwise."""
        while self._later and self._later[-1].begun.place < now.place:
            self._present.append(self._later.pop())
        self._present = [one for one in self._present if one.over is None or one.over.place > now.place]
        return [one for one in self._present if one.holds(now)]


class _Change(Struct, frozen=True):
    place: int
    at: int
    job: str
    before: ActiveJob | None
    after: ActiveJob | None
    queued: bool


class ActiveHistory:
    """Changes of who is active; `known_ms` is how long news may be on its way. Who was `queued` and of whom nothing was
    said after that may not be known to the queue, whatever it has heard since: each message may come late by itself."""

    def __init__(self, known_ms: int) -> None:
        self._known_ms = known_ms
        self._changes: list[_Change] = []
        self._newest: dict[str, _Change] = {}
        self._now: dict[str, ActiveJob] = {}
        self._queued: dict[str, int] = {}
        self._upto = 0

    def put(self, job: str, now: Moment, active: ActiveJob | None, queued: bool = False) -> None:
        """What waited for an earlier event of its job is no earlier than that."""
        last = self._newest.get(job)
        before = last.after if last is not None else None
        if before != active or (last is not None and last.queued != queued):
            place = max(now.place, last.place) if last is not None else now.place
            self._newest[job] = _Change(place, now.at, job, before, active, queued)
            self._changes.append(self._newest[job])

    def arrivals_and_ends(self) -> list[int]:
        """When anybody became active, or no longer was, or asked for something else (ms)."""
        return [one.at for one in self._changes if one.before is None or one.after is None]

    def begin(self) -> None:
        """From here on it is asked for moments in the order of their places."""
        self._changes.sort(key=attrgetter("place"))
        self._now = {}
        self._queued = {}
        self._upto = 0

    def about(self, now: Moment) -> Iterator[Active]:
        """First as it was there, with and without those of whom the queue may not know, then as it was at any place in
        the time about it."""
        changes = self._changes
        while self._upto < len(changes) and changes[self._upto].place <= now.place:
            self._pass(changes[self._upto])
            self._upto += 1
        yield self._now
        unknown = {job for job, at in self._queued.items() if at >= now.at - self._known_ms}
        if unknown:
            yield {job: one for job, one in self._now.items() if job not in unknown}
        there = dict(self._now)
        at = self._upto
        while at and changes[at - 1].at >= now.at - self._known_ms:
            at -= 1
            _take(there, changes[at].job, changes[at].before)
        yield there
        while at < len(changes) and changes[at].at <= now.at + self._known_ms:
            _take(there, changes[at].job, changes[at].after)
            at += 1
            yield there

    def _pass(self, change: _Change) -> None:
        _take(self._now, change.job, change.after)
        self._queued.pop(change.job, None)
        if change.queued:
            self._queued[change.job] = change.at


def _take(there: dict[str, ActiveJob], job: str, active: ActiveJob | None) -> None:
    if active is None:
        there.pop(job, None)
    else:
        there[job] = active


class UsageHistory:
    """What is charged at each node of each resource, in the order of the record."""

    def __init__(self, known_ms: int) -> None:
        self._known_ms = known_ms
        self._moves: list[tuple[int, int, tuple[str, ...], Resources, int]] = []
        self._totals: dict[tuple[str, str], list[tuple[int, int, int]]] = {}

    def add(self, now: Moment, path: tuple[str, ...], amounts: Resources, sign: int) -> None:
        self._moves.append((now.place, now.at, path, amounts, sign))

    def begin(self) -> None:
        self._totals = {}
        for place, at, path, amounts, sign in sorted(self._moves, key=itemgetter(0)):
            for node in path:
                for name, amount in amounts.items():
                    totals = self._totals.setdefault((node, name), [(0, 0, 0)])
                    totals.append((place, at, totals[-1][2] + sign * amount))

    def used(self, node: str, name: str, place: int) -> int:
        totals = self._totals.get((node, name), [(0, 0, 0)])
        return totals[bisect_right(totals, place, key=itemgetter(0)) - 1][2]

    def about(self, node: str, name: str, now: Moment) -> Iterator[int]:
        """As it was there, and at any place in the time about it."""
        totals = self._totals.get((node, name), [(0, 0, 0)])
        here = bisect_right(totals, now.place, key=itemgetter(0)) - 1
        for place in range(here, -1, -1):
            yield totals[place][2]
            if totals[place][1] < now.at - self._known_ms:
                break
        for _, at, total in totals[here + 1 :]:
            if at > now.at + self._known_ms:
                break
            yield total


class TreeHistory:
    """The quota trees that were in force, by when; which it was before `unknown_until` (ms), nobody knows."""

    def __init__(self, tree: QuotaNode | None, known_ms: int) -> None:
        self._known_ms = known_ms
        self._trees: list[tuple[int, QuotaNode | None]] = [(0, tree)]
        self.unknown_until = 0

    def begin(self, tree: QuotaNode | None, at: int) -> None:
        """This one is in force, and of the time before `at` nobody knows."""
        self._trees = [(0, tree)]
        self.unknown_until = at

    def changed(self, tree: QuotaNode | None, at: int) -> None:
        self._trees.append((at, tree))

    @property
    def newest(self) -> QuotaNode | None:
        return self._trees[-1][1]

    def times(self) -> list[int]:
        """When another one came (ms)."""
        return [since for since, _ in self._trees if since]

    def about(self, at: int) -> list[QuotaNode | None]:
        """Those that may have been known at the time, the newest first; none when nobody can say."""
        if at < self.unknown_until:
            return []
        found = []
        for since, tree in reversed(self._trees):
            if since <= at + self._known_ms:
                found.append(tree)
                if since <= at - self._known_ms:
                    break
        return found
