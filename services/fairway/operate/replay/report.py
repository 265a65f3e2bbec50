"""What a replay of decisions found, stage by stage, and how a person reads it."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct, field

from fairway.replay.replayed_memory import RowDiffers
from fairway.wire.reasons import Reason


class Difference(Struct, frozen=True):
    """A decision that would be another one now; by field, what is recorded and what would come of it."""

    job: str
    at: int
    fields: dict[str, tuple[Any, Any]]


class Unknown(Struct, frozen=True):
    """A decision that cannot be made again, and why."""

    job: str
    at: int
    verb: str
    why: Reason


class LeftOut(Struct):
    """What was not recorded by choice: of all its processes for how long together, with how many decisions, and how
    many `events` are known that came of them."""

    seconds: float = 0.0
    decisions: int = 0
    events: int = 0

    def add(self, other: "LeftOut") -> None:
        self.seconds = round(self.seconds + other.seconds, 3)
        self.decisions += other.decisions
        self.events += other.events


class StageReport(Struct):
    """Of one service. What was lost is `unknown`, what was not recorded by choice is `left_out`. `unsaid` decisions
    came to nothing: the store had refused them, so that the record does not have them. Of `rows` another revision was
    found than the record makes."""

    identical: int = 0
    unsaid: int = 0
    different: list[Difference] = []
    unknown: list[Unknown] = []
    rows: list[RowDiffers] = []
    left_out: LeftOut = field(default_factory=LeftOut)

    @property
    def total(self) -> int:
        return self.identical + len(self.different)


class DecisionReport(Struct):
    stages: dict[str, StageReport]

    @property
    def identical(self) -> int:
        return sum(one.identical for one in self.stages.values())

    @property
    def unsaid(self) -> int:
        return sum(one.unsaid for one in self.stages.values())

    @property
    def different(self) -> list[Difference]:
        return [each for one in self.stages.values() for each in one.different]

    @property
    def unknown(self) -> list[Unknown]:
        return [each for one in self.stages.values() for each in one.unknown]

    @property
    def rows(self) -> list[RowDiffers]:
        return [each for one in self.stages.values() for each in one.rows]

    @property
    def left_out(self) -> LeftOut:
        found = LeftOut()
        for one in self.stages.values():
            found.add(one.left_out)
        return found

    @property
    def complete(self) -> bool:
        """Whether all could be decided again, and is the same."""
        return self.identical > 0 and self.good and not self.unknown and not self.left_out.seconds

    @property
    def good(self) -> bool:
        """Whether all that could be decided again is the same, and not everything is lost."""
        return not self.different and not self.rows and (self.identical > 0 or not self.unknown)


def moment(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")


def lines(report: DecisionReport) -> Iterator[str]:
    """For a person."""
    for name, stage in report.stages.items():
        for one in stage.different:
            yield f"{one.job or 'a decision'}, decided by {name} at {moment(one.at)}, would be decided otherwise:"
            for what, (before, now) in one.fields.items():
                yield f"  {what}: recorded {_short(before)}, now {_short(now)}"
        for row in stage.rows:
            yield (
                f"{name} read {row.table}/{row.key} at revision {row.rev}, {moment(row.at)}: "
                "the row was not what the record says"
            )
        for missing in stage.unknown:
            yield (
                f"{missing.job}, {missing.verb} by {name} at {moment(missing.at)}, cannot be decided again: "
                f"{missing.why.text}"
            )
    for name, stage in report.stages.items():
        yield f"{name}: {_summary(stage)}"
    if len(report.stages) > 1:
        whole = StageReport(
            report.identical, report.unsaid, report.different, report.unknown, report.rows, report.left_out
        )
        yield f"all: {_summary(whole)}"


def _summary(found: StageReport) -> str:
    state = "all identical" if not found.different else f"{len(found.different)} different"
    codes = Counter(one.why.code for one in found.unknown)
    why = ", ".join(f"{code} {count}" for code, count in sorted(codes.items()))
    rest = f"; {len(found.unknown)} cannot be ({why})" if found.unknown else ""
    rows = f"; {len(found.rows)} rows were not what the record says" if found.rows else ""
    unsaid = f" ({found.unsaid} more came to nothing)" if found.unsaid else ""
    out = found.left_out
    chosen = f"; {out.decisions} in {out.seconds:.1f} s were not recorded (FAIRWAY_VIEWS_SHARE)" if out.seconds else ""
    made = state if found.total else "there are none"
    return f"{found.total} decisions decided again{unsaid}: {made}{rest}{rows}{chosen}"


def _short(value: Any) -> str:
    return "nothing" if value is None else msgspec.json.encode(value).decode()
