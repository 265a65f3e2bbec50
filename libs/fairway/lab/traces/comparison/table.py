"""A comparison as a table for people."""

from collections.abc import Sequence

from fairway.lab.traces.comparison.figures import Comparison, PolicyFigures
from fairway.lab.traces.comparison.shortage import Shortage
from fairway.lab.traces.report import span

_HEAD = (
    ("", "wait", "", "", "completion", "", "", "GPUs", "rho of tenants", "", "never"),
    ("policy", "mean", "p50", "p95", "mean", "p50", "p95", "in use", "worst", "median", "ran"),
)


def table(found: Comparison) -> list[str]:
    """A line for each policy, under two of headings. GPUs in use: on average, until the last submission."""
    rows = [*_HEAD, *(_row(name, one) for name, one in found.policies.items())]
    widths = [max(len(row[at]) for row in rows) for at in range(len(_HEAD[1]))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def below_min(found: Shortage) -> str:
    whole = f"{found.whole_jobs:,.0f} since no whole job fits into what is left of it"
    late = f"{found.reclaiming:,.0f} within the reclaim time, {found.beyond:,.0f} beyond"
    return f"GPU-hours that tenants had less than their min: {whole}, {late}"


def _row(name: str, one: PolicyFigures) -> Sequence[str]:
    times = [span(times[which]) for times in (one.wait_seconds, one.completion_seconds) for which in times]
    fair = one.finish_time_fairness
    rho = [f"{fair.rho[tenant]:,.2f} {tenant}" if tenant else "-" for tenant in (fair.worst, fair.median)]
    return (name, *times, f"{one.gpu_utilisation_while_arriving:.1%}", *rho, f"{one.never:,}")
