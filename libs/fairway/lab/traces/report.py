"""What a replay brought, in trace time: counted from the record while it is followed, never from the services."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from fairway.audit.attempts import Spoken
from fairway.audit.auditor import Findings
from fairway.domain.job import ends
from fairway.lab.fleet.decided_again import summaries
from fairway.lab.traces.trace import TraceJob
from fairway.operate.replay.report import DecisionReport
from fairway.wire import jobs as wire


class Course(Struct):
    """One job's times, in milliseconds of the wall clock. `queued` is the time it waited for room or quota and had
    been told so; `evicted` are its runs, from when to when, that were ended for others: what remains of its wait is the
    pipeline's own. It has been `running` since the last of its starts."""

    trace: TraceJob
    submitted: int
    running: int = 0
    ended: int = 0
    end: str = ""
    queued: int = 0
    evicted: list[tuple[int, int]] = field(default_factory=list)
    attempts: int = 1
    _since: int = 0
    _told: bool = False

    def started(self, speedup: float) -> int:
        """When it began to run; a run too short to be seen began its length before its end."""
        return self.running or self.ended - round(self.trace.seconds * 1000 / speedup)

    @property
    def lost(self) -> int:
        """How long it ran for nothing."""
        return sum(until - since for since, until in self.evicted)

    def take(self, message: wire.JobMessage) -> None:
        match message:
            case wire.Queue():
                self._since = message.at
                self._told = message.why is not None
            case wire.Blocked():
                self._told = True
            case wire.Dequeued() if self._told:
                self.queued += message.at - self._since
            case wire.Running() if not self.running:
                self.running = message.at
            case wire.Evicted() if self.running:
                self.evicted.append((self.running, message.at))
                self.running = 0
        self.attempts = max(self.attempts, message.attempt)
        if ends(message) and not self.end:
            self.ended = message.at
            self.end = "failed" if isinstance(message, wire.Lost) else message.verb


class Tally:
    """Follows the record. `done` jobs have an end."""

    def __init__(self) -> None:
        self.courses: dict[str, Course] = {}
        self._of_job: dict[str, Course] = {}
        self.done = 0
        self.accepted = 0
        self.running = 0

    def submit(self, name: str, trace: TraceJob, at: int) -> None:
        self.courses[name] = Course(trace, at)

    def hear(self, spoken: Spoken) -> None:
        message = spoken.message
        if isinstance(message, wire.Admitted | wire.Rejected) and message.cause in self.courses:
            self._of_job[message.job] = self.courses[message.cause]
            self.accepted += isinstance(message, wire.Admitted)
        course = self._of_job.get(message.job)
        if course is None:
            return
        before = (bool(course.end), bool(course.running))
        course.take(message)
        self.done += bool(course.end) - before[0]
        self.running += (bool(course.running) and not course.end) - (before[1] and not before[0])


class Figures(Struct, frozen=True, kw_only=True):
    """Times in seconds of trace time unless the name says otherwise. `pipeline_ms` is real time: submitted to running
    without waiting for room or quota; `pipeline_share` is its part of all waiting."""

    trace: str
    jobs: dict[str, int]
    violations: int
    wait_seconds: dict[str, float]
    mean_completion_seconds: float
    mean_run_seconds: float
    gpu_utilisation: float
    rescheduled: int
    lost_gpu_hours: float
    queued_seconds: dict[str, float]
    pipeline_ms: dict[str, float]
    pipeline_share: float
    speedup: float
    wall_seconds: float
    trace_seconds: float
    messages: int
    reordered: int
    unfinished: int
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.violations and not self.unfinished


class ReplayReport(Struct, frozen=True):
    """`decided`: what came of all decisions when they were decided again, if they were."""

    figures: Figures
    findings: Findings
    decided: DecisionReport | None = None

    @property
    def ok(self) -> bool:
        return self.figures.ok and (self.decided is None or self.decided.good)


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """By nearest rank; zeros when there is nothing to rank."""
    ranked = sorted(values)
    if not ranked:
        return {"p50": 0.0, "p95": 0.0, "p99": 0.0}
    return {f"p{q}": round(ranked[-(-q * len(ranked) // 100) - 1], 3) for q in (50, 95, 99)}


def figures(name: str, tally: Tally, findings: Findings, speedup: float, gpus: int) -> Figures:
    """`gpus` is the fleet's capacity; utilisation is the work of the jobs that ended well over that and the span."""
    courses = list(tally.courses.values())
    good = [one for one in courses if one.end == "succeeded"]
    waits = [one.started(speedup) - one.submitted for one in good]
    own = [max(0, wait - one.queued - one.lost) for wait, one in zip(waits, good, strict=True)]
    span = max((one.ended for one in good), default=0) - min((one.submitted for one in courses), default=0)
    used = sum(one.trace.gpus * one.trace.seconds for one in good)
    in_trace = speedup / 1000
    ends = {name: findings.ends.get(name, 0) for name in ("succeeded", "failed", "cancelled", "rejected")}
    return Figures(
        trace=name,
        jobs={"submitted": len(courses), "accepted": findings.accepted, **ends},
        violations=len(findings.violations),
        wait_seconds=percentiles([wait * in_trace for wait in waits]),
        mean_completion_seconds=round(_mean([one.ended - one.submitted for one in good]) * in_trace, 3),
        mean_run_seconds=round(_mean([one.trace.seconds for one in good]), 3),
        gpu_utilisation=round(used / (gpus * span * in_trace), 4) if span > 0 and gpus else 0.0,
        rescheduled=sum(one.attempts - 1 for one in courses),
        lost_gpu_hours=lost_gpu_hours(courses, in_trace),
        queued_seconds=percentiles([one.queued * in_trace for one in good]),
        pipeline_ms=percentiles(own),
        pipeline_share=round(sum(own) / max(1, sum(waits)), 4),
        speedup=speedup,
        wall_seconds=round(span / 1000, 3),
        trace_seconds=round(span * in_trace, 1),
        messages=findings.messages,
        reordered=findings.early,
        unfinished=len(findings.unfinished),
    )


def lost_gpu_hours(courses: Sequence[Course], in_trace: float) -> float:
    """What was run of attempts that had to make room; `in_trace` are the seconds of the trace in a millisecond."""
    return round(sum(one.lost * one.trace.gpus for one in courses) * in_trace / 3_600, 3)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def lines(report: ReplayReport) -> list[tuple[str, str]]:
    """The report as name and text, for a person."""
    found = report.figures
    jobs = ", ".join(
        f"{count} {name.replace('_', ' ')}" for name, count in found.jobs.items() if count or name == "succeeded"
    )
    own = {name: ms * found.speedup / 1000 for name, ms in found.pipeline_ms.items()}
    return [
        ("jobs", jobs),
        ("clock", f"{found.speedup:,.0f} times faster: {span(found.trace_seconds)} in {found.wall_seconds:.1f} s"),
        ("wait", _three(found.wait_seconds)),
        ("  for room or quota", _three(found.queued_seconds)),
        ("  pipeline x speedup", f"{_three(own)} ({found.pipeline_share:.0%} of all waiting)"),
        ("  pipeline, real time", "  ".join(f"{name} {ms:,.0f} ms" for name, ms in found.pipeline_ms.items())),
        ("completion", f"mean {span(found.mean_completion_seconds)}, {span(found.mean_run_seconds)} of it at work"),
        ("GPU utilisation", f"{found.gpu_utilisation:.1%}"),
        ("reschedules", f"{found.rescheduled}, {found.lost_gpu_hours:,.1f} GPU-hours of work lost to evictions"),
        ("record", f"{found.messages:,} messages, {found.reordered} stored before an older one of their job"),
        ("without an end", str(found.unfinished)),
        ("violations", str(found.violations)),
        *(("decided again", line) for line in (summaries(report.decided) if report.decided else ())),
        *(("note", note) for note in found.notes),
    ]


def _three(values: dict[str, float]) -> str:
    return "  ".join(f"{name} {span(value)}" for name, value in values.items())


def span(seconds: float) -> str:
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def as_json(report: ReplayReport) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(report.figures)
    decided = report.decided
    stages = {
        name: {
            "identical": one.identical,
            "different": msgspec.to_builtins(one.different[:20]),
            "unknown": len(one.unknown),
            "rows": msgspec.to_builtins(one.rows[:20]),
        }
        for name, one in (decided.stages.items() if decided is not None else ())
    }
    return {**found, "breaches": msgspec.to_builtins(report.findings.violations[:20]), "decided_again": stages}
