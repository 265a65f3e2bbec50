"""What `fairway replay decisions` does: every decision of the scheduler is decided again on what it was made on, and
compared with what the record has of it."""

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import msgspec
import typer
import uvloop
from msgspec import Struct

from fairway.client.terminal import json_text
from fairway.domain.decision import Decision
from fairway.domain.events import message_id
from fairway.domain.text.decoding import decoder
from fairway.global_scheduler.decide import SERVICE, decide
from fairway.operate import servers
from fairway.replay.decide_again import Event, Redecider, Result, differences
from fairway.runtime.ports import Bus, Delivery
from fairway.runtime.views.recorder import WHOLE_MS
from fairway.wire import flow, subjects, views
from fairway.wire import jobs as wire
from fairway.wire.reasons import Code, Reason

_decode = decoder(wire.Message)
# Events are stored soon after they were decided: so far the record is read ahead of the views. Later ones, of a process
# that crashed in between, are compared at the end.
_AHEAD_MS = 10_000
# Nobody's views are stored later than this.
_LATE_MS = 600_000


class DecisionFilter(Struct, frozen=True):
    """Decisions from `since` to `until` (milliseconds since 1970; 0: no bound) of jobs whose ids begin with `job`."""

    since: int = 0
    until: int = 0
    job: str = ""

    def covers(self, job: str, at: int) -> bool:
        return self.since <= at and (not self.until or at <= self.until) and job.startswith(self.job)


class Difference(Struct, frozen=True):
    """A decision that would be another one now; by field, what is recorded and what would be said."""

    job: str
    at: int
    fields: dict[str, tuple[Any, Any]]


class Unknown(Struct, frozen=True):
    """A decision that cannot be decided again, and why."""

    job: str
    at: int
    verb: str
    why: Reason


class DecisionReport(Struct):
    """`unsaid` decisions came to nothing: the store had refused them, so that the record does not have them."""

    identical: int = 0
    unsaid: int = 0
    different: list[Difference] = []
    unknown: list[Unknown] = []


class _Record:
    """The scheduler's events, read as far as they are needed; those left were not asked for."""

    def __init__(self, deliveries: AsyncIterator[Delivery]) -> None:
        self._deliveries = deliveries
        self._at = 0
        self.left: dict[tuple[str, int], Event] = {}
        self._taken: set[str] = set()

    async def read(self, at: int = 0) -> None:
        """Up to that time and somewhat beyond; 0: all."""
        while not at or self._at < at + _AHEAD_MS:
            delivery = await anext(self._deliveries, None)
            if delivery is None:
                return
            try:
                event = _decode(delivery.data)
            except msgspec.DecodeError:
                continue  # its consumer has put it among the dead letters
            self._at = max(self._at, event.at)
            ours = f"{message_id(SERVICE, event.cause, event.job, event.rev)}-{event.epoch}" == delivery.id
            if delivery.id in self._taken:
                continue  # said once more, later than the bus knows it again
            if isinstance(event, wire.Placed) or (isinstance(event, wire.Queue) and ours):
                self.left[delivery.id, event.at] = event

    def take(self, name: str, at: int) -> Event | None:
        event = self.left.pop((name, at), None)
        if event is not None:
            self._taken.add(name)
        return event


class _Replay:
    def __init__(self, asked: DecisionFilter, record: _Record, again: Callable[..., Decision]) -> None:
        self._asked = asked
        self._record = record
        self._again = again
        self._processes: dict[str, Redecider] = {}
        self._unsaid: dict[tuple[str, int], Result] = {}
        self._first = 0
        self.report = DecisionReport()

    async def take(self, piece: views.Piece) -> None:
        await self._record.read(piece.at)
        self._first = self._first or piece.at
        process = self._processes.get(piece.instance)
        if process is None:
            process = Redecider(self._record.take, self._asked.covers, self._again)
            self._processes[piece.instance] = process
        for result in process.take(piece):
            if self._asked.covers(result.job, result.at):
                self._judge(result)

    def _judge(self, result: Result) -> None:
        if result.name and result.said is None:
            self._unsaid[result.name, result.at] = result
        elif fields := differences(result.said, result.again):
            self.report.different.append(Difference(result.job, result.at, fields))
        else:
            self.report.identical += 1

    async def end(self) -> DecisionReport:
        await self._record.read()
        for key, event in self._record.left.items():
            late = self._unsaid.pop(key, None)
            if late is not None:
                self._judge(msgspec.structs.replace(late, said=event))
            elif self._asked.covers(event.job, event.at):
                self.report.unknown.append(Unknown(event.job, event.at, event.verb, self._why(event.at)))
        self.report.unsaid = len(self._unsaid)
        return self.report

    def _why(self, at: int) -> Reason:
        gaps = chain.from_iterable(one.gaps for one in self._processes.values())
        gap = next((one for one in gaps if one.since <= at <= one.until), None)
        if gap is not None:
            return gap.why
        if not self._first or at <= self._first:
            begin = f"they begin at {moment(self._first)}" if self._first else "there are none"
            return Reason(
                Code.VIEW_NOT_KEPT,
                f"what the scheduler saw then is not kept: {begin}",
                remedy="see FAIRWAY_VIEWS_DAYS and FAIRWAY_VIEWS_MIB",
            )
        return Reason(Code.VIEW_NOT_STORED, "its process ended before it had stored what it saw, or does not store it")


async def replay(bus: Bus, asked: DecisionFilter, again: Callable[..., Decision] = decide) -> DecisionReport:
    """Unreachable when the bus goes away."""
    start, after = await _start(bus, asked)
    said = bus.history(subjects.JOBS, flow.filters(wire.Placed, wire.Queue), start=after)
    replaying = _Replay(asked, _Record(said), again)
    async for delivery in bus.history(subjects.VIEWS, start=start):
        try:
            piece = views.decode(delivery.data)
        except msgspec.DecodeError:
            continue  # a number is missing, as if it had been lost
        if asked.until and piece.at > asked.until + _LATE_MS:
            break
        await replaying.take(piece)
    return await replaying.end()


async def _start(bus: Bus, asked: DecisionFilter) -> tuple[int, int]:
    """Where to begin to read views, and the record: the view of each process that decides after `since` was told whole
    shortly before. 1: from the beginning, so that what is missing is seen."""
    starts: dict[str, tuple[int, int]] = {}
    async for delivery in bus.history(subjects.VIEWS, (subjects.view("whole", SERVICE),)):
        piece = views.decode(delivery.data)
        if asked.since - WHOLE_MS - _LATE_MS < piece.at < asked.since:
            starts[piece.instance] = delivery.sequence, piece.after
    if not starts:
        return 1, 1
    return min(views for views, _ in starts.values()), max(1, min(after for _, after in starts.values()))


def carry_out(asked: DecisionFilter, output: str) -> bool:
    """The command itself. Whether all that could be decided again is the same, and not everything is lost."""
    report = uvloop.run(_replayed(asked))
    if output == "json":
        typer.echo(json_text(report))
    else:
        for line in lines(report):
            typer.echo(line)
    return not report.different and (report.identical > 0 or not report.unknown)


async def _replayed(asked: DecisionFilter) -> DecisionReport:
    async with servers.bus(servers.settings()) as bus:
        return await replay(bus, asked)


def moment(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")


def lines(report: DecisionReport) -> Iterator[str]:
    """For a person."""
    for one in report.different:
        yield f"{one.job}, decided at {moment(one.at)}, would be decided otherwise:"
        for name, (before, now) in one.fields.items():
            yield f"  {name}: recorded {_short(before)}, now {_short(now)}"
    for missing in report.unknown:
        yield f"{missing.job}, {missing.verb} at {moment(missing.at)}, cannot be decided again: {missing.why.text}"
    total = report.identical + len(report.different)
    state = "all identical" if not report.different else f"{len(report.different)} different"
    rest = f"; {len(report.unknown)} cannot be" if report.unknown else ""
    unsaid = f" ({report.unsaid} more came to nothing)" if report.unsaid else ""
    yield f"{total} decisions decided again{unsaid}: {state if total else 'there are none'}{rest}"


def _short(value: Any) -> str:
    return "nothing" if value is None else msgspec.json.encode(value).decode()
