"""What every benchmark gives: figures, what they were to reach, what was stubbed, and what it ran on."""

from typing import Any

import msgspec
from msgspec import Struct, field

from fairway.lab.bench.measuring.facts import versions


class Goal(Struct, frozen=True, omit_defaults=True):
    """What a figure is to reach: at `least`, or at `most`."""

    least: float | None = None
    most: float | None = None

    def met(self, figure: float) -> bool:
        return (self.least is None or figure >= self.least) and (self.most is None or figure <= self.most)

    def share(self, figure: float) -> float:
        """How much of the goal is reached: 1 where it is just met, and more where it is bettered."""
        if self.least is not None:
            return figure / self.least
        return (self.most or 0.0) / figure if figure else float("inf")

    def __str__(self) -> str:
        return f">= {self.least:,g}" if self.least is not None else f"<= {self.most:,g}"


class BenchOutcome(Struct, kw_only=True):
    """`figures` have their unit in their name; `counts` are right or wrong, not good or bad. By process:
    `cpu_seconds_per_job`, and `rss_peak_mib`. `reference`: what the ratios among the figures are taken against.
    `details` is whatever else explains the figures. `wrong` says what must not be, whatever the figures: a benchmark
    that lost something has failed. Who runs it sets `name`, the options of the `run`, and the `machine`, which was read
    before anything began."""

    name: str = ""
    figures: dict[str, float]
    machine: dict[str, Any] = {}
    goals: dict[str, Goal] = {}
    counts: dict[str, int] = {}
    cpu_seconds_per_job: dict[str, float] = {}
    rss_peak_mib: dict[str, float] = {}
    stubbed: str = "nothing"
    reference: str = ""
    run: dict[str, Any] = {}
    details: dict[str, Any] = {}
    wrong: str = ""
    versions: dict[str, str] = field(default_factory=versions)

    def take(self, part: "BenchOutcome", suffix: str) -> None:
        """What came of a part of the run, under names that end with it."""
        for kind in ("figures", "goals", "counts", "cpu_seconds_per_job", "rss_peak_mib", "details"):
            more = {f"{name}_{suffix}": value for name, value in getattr(part, kind).items()}
            getattr(self, kind).update(more)
        self.wrong = "; ".join(filter(None, (self.wrong, part.wrong)))

    @property
    def missed(self) -> list[str]:
        """The goals that were not reached."""
        return [name for name, goal in self.goals.items() if not goal.met(self.figures[name])]

    def json(self) -> str:
        said = {**msgspec.to_builtins(self), "met": not self.missed, "missed": self.missed}
        return msgspec.json.format(msgspec.json.encode(said)).decode()

    def text(self) -> str:
        """For a person: the figures with their goals, what was counted, and what each process took."""
        lines = [f"{self.name} (stubbed: {self.stubbed})"]
        lines += [f"  {name:34} {figure:>14,.6g}{self._verdict(name)}" for name, figure in self.figures.items()]
        lines += [f"  {name:34} {count:>14,}" for name, count in self.counts.items()]
        if self.reference:
            lines.append(f"ratios are taken against {self.reference}, in this run")
        if self.rss_peak_mib:
            lines.append(f"  {'process':44} {'CPU us a job':>14} {'most MiB':>10}")
        for name, most in self.rss_peak_mib.items():
            lines.append(f"  {name:44} {self.cpu_seconds_per_job.get(name, 0.0) * 1e6:>14,.0f} {most:>10,.0f}")
        return "\n".join(lines)

    def _verdict(self, name: str) -> str:
        if name not in self.goals:
            return ""
        goal = self.goals[name]
        return f"   goal {goal}: {'met' if goal.met(self.figures[name]) else 'missed'}"
