"""What `fairway replay decisions` does: every decision of every stage is decided again on what it was made on, and
compared with what the record has of it."""

from collections.abc import Mapping
from itertools import chain

import msgspec
import typer
import uvloop
from msgspec import Struct, structs

from fairway.client.terminal import json_text
from fairway.gateway.callers.caller import GROUP, RECORD
from fairway.operate import servers
from fairway.operate.audit.noted import noted
from fairway.operate.replay.report import DecisionReport, Difference, LeftOut, StageReport, Unknown, lines, moment
from fairway.replay.decide_again import Fields, Redecided, Redecider
from fairway.replay.differences import differences
from fairway.replay.record import RecordReader, Said
from fairway.replay.stages import STAGES, Decide, ReplayedStage
from fairway.runtime.ports import Bus
from fairway.runtime.views.recorder import WHOLE_MS
from fairway.wire import subjects, views
from fairway.wire.reasons import Code, Reason

# Nobody's views are stored later than this.
_LATE_MS = 600_000
_AS_IT_IS: Mapping[str, Decide] = {}


class DecisionFilter(Struct, frozen=True):
    """Decisions from `since` to `until` (milliseconds since 1970; 0: no bound) of jobs whose ids begin with `job`, by
    these `services` (none: by all)."""

    since: int = 0
    until: int = 0
    job: str = ""
    services: tuple[str, ...] = ()

    def covers(self, job: str, at: int) -> bool:
        return self.since <= at and (not self.until or at <= self.until) and job.startswith(self.job)

    def meets(self, gap: views.Missing) -> bool:
        return self.since <= gap.until and (not self.until or gap.since <= self.until)

    def stages(self) -> dict[str, ReplayedStage]:
        return {name: one for name, one in STAGES.items() if not self.services or one.service in self.services}


class _Replay:
    def __init__(self, asked: DecisionFilter, stages: Mapping[str, ReplayedStage], record: RecordReader) -> None:
        self._asked = asked
        self._stages = stages
        self._record = record
        self._processes: dict[tuple[str, str], Redecider] = {}
        self._unsaid: list[tuple[str, Redecided]] = []
        self._first: dict[str, int] = {}
        self.report = DecisionReport({one.service: StageReport() for one in stages.values()})

    async def take(self, service: str, piece: views.Piece) -> None:
        stage = self._stages[service]
        await self._record.read(piece.at)
        self._first.setdefault(stage.service, piece.at)
        key = (service, piece.instance)
        if key not in self._processes:
            self._processes[key] = Redecider(stage, self._record)
        for made in await self._processes[key].take(piece):
            if self._asked.covers(made.job, made.at):
                self._judge(stage.service, made)

    def _judge(self, service: str, made: Redecided) -> None:
        found = self.report.stages[service]
        if made.fields:
            found.different.append(Difference(made.job, made.at, made.fields))
        elif made.refused:
            found.unsaid += 1
        elif made.unsaid:
            self._unsaid.append((service, made))
        else:
            found.identical += 1

    async def end(self) -> DecisionReport:
        await self._record.read()
        for service, made in self._unsaid:
            self._judge_late(service, made)
        left_over = set().union(*(one.left_over for one in self._processes.values()))
        for key, said in self._record.left.items():
            self._not_found(said, key in left_over)
        for (service, _), process in self._processes.items():
            found = self.report.stages[self._stages[service].service]
            found.rows += process.rows
            for gap in process.gaps:
                if gap.why.code is Code.VIEW_LEFT_OUT and self._asked.meets(gap):
                    found.left_out.add(LeftOut((gap.until - gap.since) / 1000, gap.decisions))
        return self.report

    def _judge_late(self, service: str, made: Redecided) -> None:
        """What a process that crashed had not said yet was said by the next one."""
        fields: Fields = {}
        late = 0
        for one in made.unsaid:
            said = self._record.take(one.name, made.at)
            late += said is not None
            fields |= differences(said, one.event) if said is not None else {}
        if late or made.said:
            self._judge(service, structs.replace(made, fields=fields, unsaid=()))
        else:
            self.report.stages[service].unsaid += 1

    def _not_found(self, said: Said, decided: bool) -> None:
        """An event that none of the decisions has said again, and whether the one on its message was `decided`."""
        event = said.event
        service = next((name for name in self.report.stages if said.is_of(name)), "")
        if service and decided and self._asked.covers(event.job, event.at):
            fields = differences(said.whole, None)
            self.report.stages[service].different.append(Difference(event.job, event.at, fields))
        elif service and self._asked.covers(event.job, event.at):
            why = self._why(service, event.at)
            if why.code is Code.VIEW_LEFT_OUT:
                self.report.stages[service].left_out.events += 1
                return
            self.report.stages[service].unknown.append(Unknown(event.job, event.at, event.verb, why))

    def _why(self, service: str, at: int) -> Reason:
        mine = (one for (name, _), one in self._processes.items() if self._stages[name].service == service)
        gaps = chain.from_iterable(one.gaps for one in mine)
        gap = next((one for one in gaps if one.since <= at <= one.until), None)
        if gap is not None:
            return gap.why
        first = self._first.get(service, 0)
        if not first or at <= first:
            begin = f"they begin at {moment(first)}" if first else "there are none"
            return Reason(
                Code.VIEW_NOT_KEPT,
                f"what {service} knew then is not kept: {begin}",
                remedy="see FAIRWAY_VIEWS_DAYS and FAIRWAY_VIEWS_MIB",
            )
        return Reason(Code.VIEW_NOT_STORED, "its process ended before it had stored what it knew, or does not store it")


async def replay(bus: Bus, asked: DecisionFilter, again: Mapping[str, Decide] = _AS_IT_IS) -> DecisionReport:
    """Unreachable when the bus goes away. Tests decide by other functions `again` than the services' own."""
    stages = asked.stages()
    for name in stages.keys() & again.keys():
        stages[name] = structs.replace(stages[name], decide=again[name])
    by_subject = {subjects.view(part, name): name for name in stages for part in ("whole", "more")}
    start, after = await _start(bus, asked, stages)
    replaying = _Replay(asked, stages, RecordReader(bus, after))
    async for delivery in bus.history(subjects.VIEWS, tuple(by_subject), start=start):
        try:
            piece = views.decode(delivery.data)
        except msgspec.DecodeError:
            continue  # a number is missing, as if it had been lost
        if asked.until and piece.at > asked.until + _LATE_MS:
            break
        await replaying.take(by_subject[delivery.subject], piece)
    return await replaying.end()


async def _start(bus: Bus, asked: DecisionFilter, stages: Mapping[str, ReplayedStage]) -> tuple[int, int]:
    """Where to begin to read views, and the record: each process that decides after `since` told all that it knew
    shortly before. 1: from the beginning, so that what is missing is seen."""
    starts: dict[str, tuple[int, int]] = {}
    async for delivery in bus.history(subjects.VIEWS, tuple(subjects.view("whole", name) for name in stages)):
        piece = views.decode(delivery.data)
        if asked.since - WHOLE_MS - _LATE_MS < piece.at < asked.since:
            starts[piece.instance] = delivery.sequence, piece.after
    if not starts:
        return 1, 1
    return min(views for views, _ in starts.values()), max(1, min(after for _, after in starts.values()))


def carry_out(asked: DecisionFilter, output: str) -> bool:
    """The command itself. Whether everything is as the record has it."""
    report = uvloop.run(_replayed(asked))
    for line in [json_text(report)] if output == "json" else lines(report):
        typer.echo(line)
    return report.good


async def _replayed(asked: DecisionFilter) -> DecisionReport:
    async with servers.bus(servers.settings()) as bus:
        await noted(bus, "get", f"{RECORD}.{GROUP}")
        return await replay(bus, asked)
